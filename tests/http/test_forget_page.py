"""``/ui/forget``: a session, a person, a time or everything, after a look at what that is."""

import re

import pytest
from starlette.testclient import TestClient

from tests.http.browsing import BROWSER, OURS, forms_in, send
from tests.http.conftest import Start
from tests.unit.memory_backend import MemoryBackend


@pytest.fixture
def client(person: TestClient) -> TestClient:
    return person


def say(client: TestClient, session: str, text: str, sender: str = "mia") -> None:
    body = {"sessionId": session, "senderId": sender, "messages": [{"role": "user", "content": text}], "wait": True}
    assert client.post("/after-turn", json=body).json()["delivery"] == "delivered"


def said(client: TestClient) -> set[str]:
    return {one["text"] for one in client.get("/memories?category=events").json()["memories"]}


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("session=tea", {"I had bread."}),
        ("person=mia", {"I had bread."}),
        ("lastDays=1.5", set()),
        ("since=2020-01-01", set()),
        ("since=2020-01-01&until=2020-12-31", {"I had tea.", "I had bread."}),
        ("everything=true", set()),
    ],
)
def test_what_is_selected_is_looked_at_and_then_forgotten(client: TestClient, query: str, left: set[str]) -> None:
    say(client, "tea", "I had tea.")
    say(client, "bread", "I had bread.", sender="tom")
    looked = client.get(f"/ui/forget?{query}", headers=BROWSER)
    assert looked.status_code == 200 and "Nothing is forgotten yet" in looked.text
    assert said(client) == {"I had tea.", "I had bread."}
    receipt = send(client, forms_in(looked)["forget"])
    assert receipt.status_code == 200 and re.search(r"f_[a-z0-9]{26}", receipt.text)
    assert said(client) == left


def test_the_first_step_offers_what_there_is_and_a_session_leads_to_it(client: TestClient) -> None:
    assert client.get("/ui/forget").text.count("<form") == 5
    say(client, "week plan", "I had tea.")
    session = client.get("/ui/sessions/week%20plan").text
    assert 'href="/ui/forget?session=week%20plan"' in session
    assert "<b>1</b>turns" in client.get("/ui/forget?session=week%20plan").text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("session=a&person=b", "person"),
        ("lastDays=soon", "lastDays"),
        ("lastDays=nan", "lastDays"),
        ("since=soon", "since"),
        ("until=2026-01-01", "body"),
        ("everything=yes", "everything"),
    ],
)
def test_a_wrong_selection_is_named_and_forgets_nothing(client: TestClient, query: str, field: str) -> None:
    say(client, "tea", "I had tea.")
    refused = client.get(f"/ui/forget?{query}", headers=BROWSER)
    assert refused.status_code == 400 and f"<code>{field}</code>" in refused.text
    form = forms_in(client.get("/ui/forget?session=tea"))["forget"]
    form.fields = {"proof": form.fields["proof"], **dict(part.split("=") for part in query.split("&"))}
    assert send(client, form).status_code == 400
    assert said(client) == {"I had tea."}


def test_another_site_and_another_tenant_forget_nothing(client: TestClient) -> None:
    say(client, "tea", "I had tea.")
    form = forms_in(client.get("/ui/forget?everything=true"))["forget"]
    assert send(client, form, {**BROWSER, "Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert send(client, form, proof="").status_code == 403
    other = {**OURS, "X-OpenViking-User": f"{client.headers['X-OpenViking-User']}-other"}
    assert send(client, form, other).status_code == 403
    theirs = forms_in(client.get("/ui/forget?everything=true", headers=other))["forget"]
    assert send(client, theirs, other).status_code == 200
    assert said(client) == {"I had tea."}


def test_what_matches_nothing_and_what_is_no_markup(client: TestClient) -> None:
    page = client.get("/ui/forget", params={"session": "<script>alert(1)</script>\"'>"}).text
    assert "Nothing matches this." in page and "<script" not in page


def test_a_backend_without_memories_says_so(start: Start) -> None:
    assert "keeps no memories one by one" in start(MemoryBackend()).get("/ui/forget?everything=true").text
