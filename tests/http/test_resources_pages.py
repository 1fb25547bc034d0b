"""``/ui/resources``: documents and skills uploaded, imported, found, read and removed by people."""

import re
from html import unescape
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.reasons import Reason
from app.ports import BackendError
from tests.http.browsing import BROWSER, OURS, Form, forms_in, send, send_file, shown
from tests.http.conftest import Start
from tests.http.test_resources import GUIDE, OTHER, SKILL, upload, zipped

HOSTILE = "</textarea></pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'>"


@pytest.fixture
def client(person: TestClient) -> TestClient:
    return person


def form_of(client: TestClient, name: str, path: str = "/ui/resources") -> Form:
    return forms_in(client.get(path))[name]


def listed(client: TestClient, path: str = "/resources") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(path).json()[path.strip("/")]
    return found


def links(page: str, what: str) -> list[str]:
    return [unescape(one) for one in re.findall(rf'href="(/ui/resources/{what}\?[^"]+)"', page)]


def test_a_file_is_uploaded_found_read_and_removed(client: TestClient) -> None:
    assert "No document was imported yet." in shown(client, "/ui/resources")
    done = send_file(client, form_of(client, "upload"), "guide.md", GUIDE)
    assert done.status_code == 200 and "can be found now" in done.text
    found = shown(client, "/ui/resources?query=how+do+I+go+back+to+the+release+before")
    assert "guide.md &gt; Atlas guide &gt; Rollback" in found and "score" in found
    [address] = set(links(found, "one"))
    page = shown(client, address)
    assert "atlas rewind" in page and "viking://~/resources/guide.md" in page
    [removal] = links(page, "remove")
    asked = client.get(removal, headers=BROWSER)
    assert "Nothing is removed yet" in asked.text and len(listed(client)) == 1
    gone = send(client, forms_in(asked)["remove"])
    assert gone.status_code == 200 and "Removed." in gone.text and listed(client) == []
    assert "no such document" in shown(client, address, 404)
    assert send(client, forms_in(asked)["remove"]).status_code == 404


def test_a_folder_leads_to_its_documents(client: TestClient) -> None:
    send_file(client, form_of(client, "upload"), "b.zip", zipped({"guide.md": GUIDE, "canteen.md": OTHER}), to="book")
    page = shown(client, "/ui/resources/one?uri=viking://~/resources/book")
    assert [address.rpartition("%2F")[2] for address in links(page, "one")] == ["canteen.md", "guide.md"]
    inner = shown(client, links(page, "one")[0])
    assert "half past eleven" in inner and "Remove" not in inner and "book</a>" in inner


def test_skills_have_a_list_of_their_own(client: TestClient) -> None:
    done = send_file(client, form_of(client, "upload", "/ui/resources?kind=skill"), "SKILL.md", SKILL)
    assert "deploy-check</a> can be found now" in done.text and listed(client) == []
    assert "Check a deployment before release" in shown(client, "/ui/resources?kind=skill&query=deployment")
    assert "No document" in shown(client, "/ui/resources")
    [address] = set(links(shown(client, "/ui/resources?kind=skill"), "one"))
    assert "Run the smoke tests." in shown(client, address)
    send(client, form_of(client, "remove", links(shown(client, address), "remove")[0]))
    assert listed(client, "/skills") == []


def test_a_text_is_written_and_the_same_again_changes_nothing(client: TestClient) -> None:
    form = form_of(client, "import")
    for said in ("can be found now", "All of it was there already"):
        done = send(client, form, text="The gate code of the yard\r\nis on the blue card.", title="Yard notes")
        assert done.status_code == 200 and said in done.text
    assert [one["title"] for one in listed(client)] == ["Yard notes"]


@pytest.mark.parametrize(
    ("typed", "status", "said"),
    [
        ({}, 400, "<code>url</code>: give a URL or a text"),
        ({"url": "https://example.org", "text": "x"}, 400, "give a URL or a text"),
        ({"url": "http://127.0.0.1/x", "to": "<here>"}, 400, "<code>to</code>"),
        ({"url": "http://127.0.0.1/x"}, 400, "Nothing was imported: "),
        ({"url": "ftp://example.org/x"}, 400, "Nothing was imported: "),
        ({"url": "https://example.org/x.git"}, 400, "Nothing was imported: "),
        ({"text": "no front matter", "kind": "skill"}, 422, "SKILL.md"),
        ({"text": "x", "title": "t" * 201}, 400, "<code>title</code>"),
        ({"text": "x", "kind": "odd"}, 400, "<code>kind</code>"),
    ],
)
def test_what_is_refused_is_said_and_stays_typed(
    client: TestClient, typed: dict[str, str], status: int, said: str
) -> None:
    page = send(client, form_of(client, "import"), **typed)
    assert page.status_code == status and said in page.text
    if typed.get("kind") != "odd":
        left = forms_in(page)["import"].fields
        assert {name: left[name] for name in typed} == typed
    assert listed(client) == []


@pytest.mark.parametrize(
    ("name", "content", "status", "said"),
    [
        ("logo.png", b"\x89PNG", 415, "Nothing was imported: "),
        ("book.zip", b"PK\x03\x04broken", 422, "Nothing was imported: "),
        ("", b"", 400, "file</code>"),
    ],
)
def test_a_file_that_can_not_be_imported(client: TestClient, name: str, content: bytes, status: int, said: str) -> None:
    page = send_file(client, form_of(client, "upload"), name, content)
    assert page.status_code == status and said in page.text and listed(client) == []


def test_an_import_on_its_way_can_be_followed_and_given_up(client: TestClient) -> None:
    done = send_file(client, form_of(client, "upload"), "guide.md", GUIDE, wait="false")
    assert done.status_code == 200
    task = str(done.url.params["task"])
    while "is being imported" in (page := shown(client, f"/ui/resources?task={task}")):
        assert f"task={task}" in page and "Look again" in page
    assert "can be found now" in page
    assert shown(client, "/ui/resources?task=i_nobody")
    asked = client.get("/ui/resources/remove?uri=viking://~/resources/nowhere")
    assert asked.status_code == 200 and send(client, forms_in(asked)["remove"]).status_code == 404


def test_a_list_goes_on_on_the_next_page(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.api.resources_pages.ON_A_PAGE", 2)
    for number in range(3):
        upload(client, f"n{number}.md", f"Note {number}.")
    page = shown(client, "/ui/resources")
    following = re.search(r'<a href="([^"]+)">More documents', page)
    assert following and "n1.md" in page and "n2.md" not in page
    last = shown(client, unescape(following[1]))
    assert "n2.md" in last and "More documents" not in last


def test_another_sites_page_and_a_form_without_its_proof_change_nothing(client: TestClient) -> None:
    upload(client, "guide.md", GUIDE)
    forms = forms_in(client.get("/ui/resources"))
    forms |= forms_in(client.get("/ui/resources/remove?uri=viking://~/resources/guide.md"))
    for form in forms.values():
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
            answer = client.post(form.action, headers={**BROWSER, **headers}, **_sent(form))
            assert answer.status_code == 403, form.action
        for proof in ("", "0" * 64, "ü"):
            form.fields["proof"] = proof
            assert client.post(form.action, headers=OURS, **_sent(form)).status_code == 403, form.action
    assert [one["uri"] for one in listed(client)] == ["viking://~/resources/guide.md"]
    as_json = client.post("/ui/resources/upload", json={"text": "x", "title": "x"}, headers=OURS)
    assert as_json.status_code == 400


def _sent(form: Form) -> dict[str, Any]:
    fields = {**form.fields, "text": "Planted.", "title": "planted"}
    if form.action.endswith("/upload"):
        return {"data": {name: fields[name] for name in ("proof", "kind")}, "files": {"file": ("planted.md", "x")}}
    return {"data": fields}


def test_another_tenant_sees_and_removes_nothing(client: TestClient) -> None:
    upload(client, "guide.md", GUIDE)
    bob = {"X-OpenViking-User": f"{client.headers['X-OpenViking-User']}-bob"}
    assert "guide" not in client.get("/ui/resources", headers=bob).text
    assert client.get("/ui/resources/one?uri=viking://~/resources/guide.md", headers=bob).status_code == 404
    form = forms_in(client.get("/ui/resources/remove?uri=viking://~/resources/guide.md", headers=bob))["remove"]
    assert send(client, form, {**OURS, **bob}).status_code == 404 and len(listed(client)) == 1


def test_what_a_document_says_is_text_and_nothing_else(client: TestClient) -> None:
    client.post("/resources", json={"text": f"# {HOSTILE}\n\n{HOSTILE}", "title": HOSTILE, "wait": True})
    [one] = listed(client)
    for path in ("/ui/resources", "/ui/resources?query=alert", "/ui/resources?query=%3Cscript%3E&done=%3Cscript%3E"):
        assert "<script" not in (page := shown(client, path)) and "<img" not in page
    for what in ("one", "remove"):
        page = client.get(f"/ui/resources/{what}", params={"uri": one["uri"]}, headers=BROWSER).text
        assert "<script" not in page and "<img" not in page
    refused = send(client, form_of(client, "import"), url=HOSTILE)
    assert refused.status_code == 400 and "<script" not in refused.text
    assert forms_in(refused)["import"].fields["url"] == HOSTILE


@pytest.mark.parametrize(
    "query", ["cursor=x", "kind=odd", f"query={'x' * 4001}", "one?uri=viking://~/memories/x", "remove?uri=nothing"]
)
def test_a_wrong_address_is_named_with_a_way_back(client: TestClient, query: str) -> None:
    path = f"/ui/resources/{query}" if "?" in query else f"/ui/resources?{query}"
    name = query.partition("=")[0].rpartition("?")[2]
    page = shown(client, path, 400)
    assert f"{name}</code>" in page and 'href="/ui/resources">Back' in page


def test_a_rule_that_is_new_hides_what_was_stored_before(start: Start) -> None:
    first = start(policy={"rules": {"email": "allow"}})
    text = "# Mail of mia@example.org\n\nMail Mia at mia@example.org.\n"
    assert upload(first, "mail.md", text).status_code == 201
    second = start(policy={"rules": {"email": "mask"}})
    one = "/ui/resources/one?uri=viking://~/resources/mail.md"
    for path in ("/ui/resources", "/ui/resources?query=mail", one, one.replace("/one?", "/remove?")):
        page = shown(second, path)
        assert "[email removed]" in page and "mia@example" not in page
    for parameters in ({}, {"query": "mail"}, {"uri": "viking://~/resources/mail.md"}):
        assert "mia@example" not in second.get("/resources", params=parameters).text


def test_a_backend_that_is_away_leaves_a_page_with_words(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    services = client.app.state.services  # type: ignore[attr-defined]

    async def refuse(*_: object) -> None:
        raise BackendError(Reason.BACKEND_UNAVAILABLE, "disk full", retryable=True)

    monkeypatch.setattr(
        services.browse_resources, "_store", type("Away", (), dict.fromkeys(("listed", "search"), refuse))
    )
    for path in ("/ui/resources", "/ui/resources?query=tea"):
        page = shown(client, path, 503)
        assert "could not be read just now" in page and "<form" in page
