"""``/ui/memories``: found, read, corrected, pinned and forgotten by people, and by nobody else."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.reasons import Reason
from app.ports import BackendError
from tests.http.browsing import BROWSER, OURS, forms_in, send, shown
from tests.http.conftest import Start
from tests.http.test_memories import CRAFTED
from tests.unit.memory_backend import MemoryBackend


@pytest.fixture
def client(person: TestClient) -> TestClient:
    return person


HOSTILE = "</textarea></pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'>"


def store(client: TestClient, text: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/memories", json={"text": text, **more})
    assert answer.status_code == 201, answer.text
    memory: dict[str, Any] = answer.json()
    return memory


def read(client: TestClient, memory: dict[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = client.get(f"/memories/{memory['id']}").json()
    return record


def test_the_list_leads_to_each_memory(client: TestClient) -> None:
    memories = [store(client, f"Mia likes tea number {number}.") for number in range(3)]
    listed = shown(client, "/ui/memories")
    order = re.findall(r'href="/ui/memories/(m_[a-z0-9]+)"', listed)
    assert order == [memory["id"] for memory in reversed(memories)]
    assert all(memory["text"] in shown(client, f"/ui/memories/{memory['id']}") for memory in memories)


def test_filters_ask_what_the_api_asks(client: TestClient) -> None:
    tea = store(client, "Mia likes green tea.", category="preferences", pinned=True)
    store(client, "Tom has a cat.", category="entities", key="pet")
    dog = store(client, "Tom has a dog.", category="entities", key="pet")
    today = datetime.now(UTC).date()
    tomorrow = today + timedelta(days=1)
    for query, texts in {
        "category=preferences": {tea["text"]},
        "pinned=true": {tea["text"]},
        "pinned=false": {dog["text"]},
        "state=superseded": {"Tom has a cat."},
        "state=any&category=entities": {"Tom has a cat.", dog["text"]},
        "state=live&peer=&pinned=&since=&until=": {tea["text"], dog["text"]},
        f"since={today}&until={today}": {tea["text"], dog["text"]},
        f"since={tomorrow}": set(),
        "peer=nobody": set(),
        "query=green+tea": {tea["text"]},
    }.items():
        listed = shown(client, f"/ui/memories?{query}")
        assert {text for text in (tea["text"], "Tom has a cat.", dog["text"]) if text in listed} == texts, query
    assert "No memory matches this." in shown(client, "/ui/memories?peer=nobody")
    assert "Nothing is remembered yet." not in shown(client, "/ui/memories?peer=nobody")


def test_a_list_goes_on_with_its_filter(client: TestClient) -> None:
    lines = "\n".join(
        f'{{"id": "m_{n:03}", "category": "notes", "text": "Note {n:03}.", "createdAt": "2026-01-01T00:00:00.{n:03}Z",'
        f' "updatedAt": "2026-01-01T00:00:00.000Z"}}'
        for n in range(120)
    )
    client.post("/memories/import", content=lines, headers={"content-type": "application/x-ndjson"})
    store(client, "Mia likes green tea.", category="preferences")
    path, seen = "/ui/memories?category=notes", []
    while path:
        listed = shown(client, path)
        seen += re.findall(r"Note (\d+)", listed)
        following = re.search(r'<a href="([^"]+)">Older memories', listed)
        path = following[1].replace("&amp;", "&") if following else ""
    assert seen == [f"{n:03}" for n in reversed(range(120))]


def test_nothing_remembered_is_said_in_words(client: TestClient) -> None:
    assert "Nothing is remembered yet." in shown(client, "/ui/memories")


@pytest.mark.parametrize(
    "query",
    [
        "since=soon",
        "cursor=x",
        f"cursor={CRAFTED[0]}",
        "state=odd",
        "pinned=maybe",
        f"query={'x' * 4001}",
        "until=2026-13-01",
    ],
)
def test_a_wrong_filter_is_named_with_a_way_back(client: TestClient, query: str) -> None:
    page = shown(client, f"/ui/memories?{query}", 400)
    assert f"{query.partition('=')[0]}</code>" in page and 'href="/ui/memories">Back' in page


def test_where_it_came_from(client: TestClient) -> None:
    said = {"sessionId": "tea time", "messages": [{"role": "user", "content": "Remember that Mia likes green tea."}]}
    turn = client.post("/after-turn", json={**said, "wait": True}).json()["turnId"]
    (memory,) = client.get("/memories").json()["memories"]
    page = shown(client, f"/ui/memories/{memory['id']}")
    assert 'href="/ui/sessions/tea%20time"' in page and f'href="/ui/deliveries/{turn}"' in page


def test_which_recalls_showed_it(client: TestClient) -> None:
    memory, other = store(client, "Mia likes green tea."), store(client, "Tom has a dog.")
    assert "No <a" in shown(client, f"/ui/memories/{memory['id']}")
    asked = {"sessionId": "s2", "messages": [{"role": "user", "content": "Which tea does Mia like?"}]}
    recall = client.post("/assemble", json=asked).json()["recall"]
    assert read(client, memory)["uri"] in [item["uri"] for item in recall["items"]]
    client.portal.call(client.app.state.services.recalls.flush)  # type: ignore[attr-defined, union-attr]
    page = shown(client, f"/ui/memories/{memory['id']}")
    assert f'href="/ui/recalls/{recall["traceId"]}"' in page and 'href="/ui/sessions/s2"' in page
    assert recall["traceId"] not in shown(client, f"/ui/memories/{other['id']}")


def test_a_correction_stays_in_the_history(client: TestClient) -> None:
    memory = store(client, "Mia lives\nin Lisbon.")
    form = forms_in(client.get(f"/ui/memories/{memory['id']}"))[memory["id"]]
    page = send(client, form, text="Mia lives in Porto.\r\nSince May.", sensitivity="high", category="profile")
    assert page.status_code == 200 and "Changed." in page.text and "Mia lives\nin Lisbon." in page.text
    now = read(client, memory)
    assert (now["text"], now["sensitivity"], now["category"]) == ("Mia lives in Porto.\nSince May.", "high", "profile")
    assert [old["text"] for old in now["history"]] == ["Mia lives\nin Lisbon."]


def test_saving_what_is_so_changes_nothing(client: TestClient) -> None:
    memory = store(client, "Mia lives\n\nin Lisbon.")
    page = send(client, forms_in(client.get(f"/ui/memories/{memory['id']}"))[memory["id"]])
    assert "Nothing was different" in page.text
    assert read(client, memory)["version"] == 1


def test_days_and_for_good(client: TestClient) -> None:
    memory = store(client, "The printer is broken.")
    form = forms_in(client.get(f"/ui/memories/{memory['id']}"))[memory["id"]]
    assert send(client, form, ttlDays="1.5").status_code == 200
    assert read(client, memory)["expiresAt"]
    form = forms_in(client.get(f"/ui/memories/{memory['id']}"))[memory["id"]]
    assert send(client, form, forGood="true").status_code == 200
    assert read(client, memory)["expiresAt"] is None


@pytest.mark.parametrize(
    ("typed", "status", "named"),
    [
        ({"text": "  "}, 400, "text"),
        ({"text": "x" * 20_001}, 400, "text"),
        ({"category": "No Such"}, 400, "category"),
        ({"sensitivity": "odd"}, 400, "sensitivity"),
        ({"ttlDays": "soon"}, 400, "ttlDays"),
        ({"ttlDays": "nan"}, 400, "ttlDays"),
        ({"ttlDays": "-1"}, 400, "ttlDays"),
        ({"version": "x"}, 400, "version"),
    ],
)
def test_what_is_typed_wrong_is_named_and_stays_typed(
    client: TestClient, typed: dict[str, str], status: int, named: str
) -> None:
    memory = store(client, "Mia lives in Lisbon.")
    form = forms_in(client.get(f"/ui/memories/{memory['id']}"))[memory["id"]]
    page = send(client, form, **{"text": "Mia lives in Porto.", **typed})
    assert page.status_code == status and f"<code>{named}</code>" in page.text
    left = forms_in(page)[memory["id"]].fields
    assert left["text"] == typed.get("text", "Mia lives in Porto.").strip("\n")
    assert read(client, memory)["version"] == 1


def test_two_who_correct_at_once_lose_nothing(client: TestClient) -> None:
    memory = store(client, "Mia lives in Lisbon.")
    one, other = (forms_in(client.get(f"/ui/memories/{memory['id']}"))[memory["id"]] for _ in range(2))
    assert send(client, one, text="Mia lives in Porto.").status_code == 200
    page = send(client, other, text="Mia lives in Oslo.")
    assert page.status_code == 412 and "Somebody else" in page.text
    assert forms_in(page)[memory["id"]].fields["text"] == "Mia lives in Oslo."
    assert read(client, memory)["text"] == "Mia lives in Porto."


def test_what_was_said_can_be_forgotten_and_not_changed(client: TestClient) -> None:
    said = {"sessionId": "s", "messages": [{"role": "user", "content": "I like my tea green."}], "wait": True}
    assert client.post("/after-turn", json=said).json()["delivery"] == "delivered"
    (turn,) = client.get("/memories?category=events").json()["memories"]
    page = client.get(f"/ui/memories/{turn['id']}")
    assert "can be forgotten, and not changed" in page.text and forms_in(page) == {}
    assert "Forget it for good" in shown(client, f"/ui/memories/{turn['id']}/forget")


def test_pinning_and_unpinning(client: TestClient) -> None:
    memory = store(client, "Mia lives in Lisbon.")
    for pinned in (True, False):
        page = send(client, forms_in(client.get(f"/ui/memories/{memory['id']}"))["pin"])
        assert page.status_code == 200 and read(client, memory)["pinned"] is pinned


def test_forgetting_takes_two_steps_and_shows_its_receipt(client: TestClient) -> None:
    memory = store(client, "Mia lives in Lisbon.")
    asked = client.get(f"/ui/memories/{memory['id']}/forget")
    assert "Nothing is forgotten yet" in asked.text and read(client, memory)["text"] == memory["text"]
    receipt = send(client, forms_in(asked)["forget"])
    assert receipt.status_code == 200 and re.search(r"f_[a-z0-9]{26}", receipt.text)
    assert client.get(f"/memories/{memory['id']}").status_code == 404
    assert "there is no such memory" in shown(client, f"/ui/memories/{memory['id']}", 404)


def test_a_get_changes_nothing(client: TestClient) -> None:
    memory = store(client, "Mia lives in Lisbon.")
    proof = forms_in(client.get(f"/ui/memories/{memory['id']}"))["pin"].fields["proof"]
    for path in ("", "/pin", "/forget"):
        client.get(f"/ui/memories/{memory['id']}{path}?pinned=true&text=Gone&version=1&proof={proof}", headers=OURS)
    now = read(client, memory)
    assert (now["version"], now["pinned"], now["text"]) == (1, False, memory["text"])


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://testserver:9999"},
        {"Origin": "http://testserver.evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[::1"},
    ],
)
def test_a_page_of_another_site_changes_nothing(client: TestClient, headers: dict[str, str]) -> None:
    memory = store(client, "Mia lives in Lisbon.")
    forms = forms_in(client.get(f"/ui/memories/{memory['id']}"))
    forms |= forms_in(client.get(f"/ui/memories/{memory['id']}/forget"))
    for form in forms.values():  # it even knows the proof
        answer = send(client, form, {**BROWSER, **headers}, text="Gone.", pinned="true")
        assert answer.status_code == 403 and "another site" in answer.text
    assert read(client, memory)["version"] == 1


@pytest.mark.parametrize("proof", ["", "0" * 64, "ü", None])
def test_a_form_without_its_proof_changes_nothing(client: TestClient, proof: str | None) -> None:
    memory = store(client, "Mia lives in Lisbon.")
    form = forms_in(client.get(f"/ui/memories/{memory['id']}"))["pin"]
    if proof is None:
        del form.fields["proof"]
    else:
        form.fields["proof"] = proof
    for headers in (OURS, BROWSER):
        assert send(client, form, headers).status_code == 403
    assert read(client, memory)["pinned"] is False


def test_a_proof_is_good_for_one_tenant_and_one_token(start: Start) -> None:
    client = start(
        auth={"tokens": json.dumps({"a": {"account": "x", "user": "alice"}, "b": {"account": "x", "user": "bob"}})}
    )
    alice, bob = ("me", "a"), ("me", "b")
    memory = client.post("/memories", json={"text": "Alice has a cat."}, headers={"Authorization": "Bearer a"}).json()
    form = forms_in(client.get(f"/ui/memories/{memory['id']}", auth=alice))["pin"]
    assert client.get(f"/ui/memories/{memory['id']}", auth=bob).status_code == 404
    for path in ("", "/pin", "/forget"):
        answer = client.post(f"/ui/memories/{memory['id']}{path}", data=form.fields, headers=OURS, auth=bob)
        assert answer.status_code == 403
    assert client.post(form.action, data=form.fields, headers=OURS).status_code == 401
    assert "Alice" not in client.get("/ui/memories?state=any", auth=bob).text
    done = client.post(form.action, data=form.fields, headers=OURS, auth=alice)
    assert done.status_code == 200 and "Pinned." in done.text


def test_another_tenants_memory_is_not_there_even_with_a_proof_of_ones_own(client: TestClient) -> None:
    bob = {"X-OpenViking-User": f"{client.headers['X-OpenViking-User']}-bob"}
    memory = store(client, "Mia lives in Lisbon.")
    answer = client.post("/memories", json={"text": "Bob has a dog."}, headers=bob)
    form = forms_in(client.get(f"/ui/memories/{answer.json()['id']}", headers=bob))["pin"]
    for path in ("", "/pin", "/forget"):
        form.action = f"/ui/memories/{memory['id']}{path}"
        assert send(client, form, {**OURS, **bob}, text="Gone.", version="1").status_code == 404
    assert read(client, memory)["version"] == 1


def test_a_form_still_holds_after_a_restart(start: Start) -> None:
    first = start()
    memory = store(first, "Mia lives in Lisbon.")
    form = forms_in(first.get(f"/ui/memories/{memory['id']}"))["pin"]
    assert send(start(), form).status_code == 200


def test_a_form_is_bounded_and_says_what_it_is(client: TestClient) -> None:
    memory = store(client, "Mia lives in Lisbon.")
    form = forms_in(client.get(f"/ui/memories/{memory['id']}"))[memory["id"]]
    assert send(client, form, text="x" * 600_000).status_code == 413
    many = {**form.fields, **{f"f{n}": "" for n in range(60)}}
    assert client.post(form.action, data=many, headers=OURS).status_code == 400
    assert client.post(form.action, json=form.fields, headers=OURS).status_code == 400
    odd = client.post(form.action, content=b"\xff=\xff&a&&=&proof=%ff", headers={
        **OURS, "content-type": "application/x-www-form-urlencoded"
    })  # fmt: skip
    assert odd.status_code == 403
    assert read(client, memory)["version"] == 1


def test_what_a_memory_says_is_text_and_nothing_else(client: TestClient) -> None:
    memory = store(client, HOSTILE, key=HOSTILE)
    client.patch(f"/memories/{memory['id']}", json={"text": f"{HOSTILE} again"})
    pages = ["/ui/memories", "/ui/memories?query=alert", "/ui/memories?query=%3Cscript%3E&peer=%22%3E%3Cscript%3E"]
    pages += [f"/ui/memories/{memory['id']}", f"/ui/memories/{memory['id']}/forget"]
    for path in pages:
        page = shown(client, path)
        assert "<script" not in page and "<img" not in page
    form = forms_in(client.get(f"/ui/memories/{memory['id']}"))[memory["id"]]
    assert form.fields["text"] == f"{HOSTILE} again"
    refused = send(client, form, category="<script>")
    assert refused.status_code == 400 and "<script" not in refused.text
    assert forms_in(refused)[memory["id"]].fields["category"] == "<script>"


@pytest.mark.parametrize(
    "text", ["מיה אוהבת תה ירוק \u202e abc", "x" * 20_000, "long" * 4_000, "👩‍👩‍👧" * 900, "a\n" * 5_000]
)
def test_any_text_is_shown_and_comes_back_as_it_was(client: TestClient, text: str) -> None:
    memory = store(client, text)
    assert shown(client, "/ui/memories")
    page = send(client, forms_in(client.get(f"/ui/memories/{memory['id']}"))[memory["id"]])
    assert "Nothing was different" in page.text
    assert read(client, memory)["text"] == text.strip()


def test_a_new_rule_hides_what_was_stored_before(start: Start) -> None:
    first = start(policy={"rules": {"email": "allow"}})
    memory = store(first, "Mail Mia at mia@example.org.", key="mail of mia@example.org")
    first.patch(f"/memories/{memory['id']}", json={"text": "Mail Mia at mia@example.com."})
    second = start(policy={"rules": {"email": "mask"}})
    for path in ("/ui/memories", f"/ui/memories/{memory['id']}", f"/ui/memories/{memory['id']}/forget"):
        page = shown(second, path)
        assert "[email removed]" in page and "mia@example" not in page


def test_a_correction_that_the_policy_refuses_or_masks(start: Start) -> None:
    client = start(policy={"rules": {"email": "drop", "phone": "mask"}})
    memory = store(client, "Mia is in Porto.")
    form = forms_in(client.get(f"/ui/memories/{memory['id']}"))[memory["id"]]
    refused = send(client, form, text="Mail Mia at mia@example.org.")
    assert refused.status_code == 422 and "email" in refused.text
    assert read(client, memory)["text"] == "Mia is in Porto."


def test_a_backend_without_memories_says_so_in_a_sentence(start: Start) -> None:
    client = start(MemoryBackend())
    assert "keeps no memories one by one" in shown(client, "/ui/memories")


def test_a_backend_that_is_away_leaves_a_page_with_words(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    store(client, "Mia lives in Lisbon.")
    services = client.app.state.services  # type: ignore[attr-defined]

    async def refuse(*_: object) -> None:
        raise BackendError(Reason.BACKEND_UNAVAILABLE, "disk full", retryable=True)

    monkeypatch.setattr(services.list_memories.memories.store, "newest", refuse)
    page = shown(client, "/ui/memories", 503)
    assert "could not be read just now" in page and "<form" in page
