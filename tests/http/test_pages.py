"""The pages for people: what they show, to whom, and how they say what is wrong."""

import time
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.identity import Tenant
from app.core.reasons import Reason
from app.ports import BackendError
from tests.http.conftest import Start

ALICE = {"X-OpenViking-Account": "acme", "X-OpenViking-User": "alice"}
BOB = {"X-OpenViking-Account": "acme", "X-OpenViking-User": "bob"}
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
QUESTION = "which <b>tea</b> do I like?"
FACT = "I prefer green tea, with honey."


def remember(client: TestClient, headers: dict[str, str] = ALICE) -> None:
    said = {"sessionId": "past", "messages": [{"role": "user", "content": FACT}], "wait": True}
    assert client.post("/after-turn", json=said, headers=headers).json()["delivery"] == "delivered"


def ask(client: TestClient, headers: dict[str, str] = ALICE) -> str:
    """Ask as a host does, which hands the turn in afterwards; the trace id."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": QUESTION}]
    asked = client.post("/assemble", json={"sessionId": "s1", "messages": messages}, headers=headers).json()
    assert asked["status"] == "assembled", asked
    turn = {"sessionId": "s1", "messages": [*messages, {"role": "assistant", "content": "Green."}], "wait": True}
    assert client.post("/after-turn", json=turn, headers=headers).is_success
    trace_id: str = asked["recall"]["traceId"]
    return trace_id


def test_a_recall_shows_its_query_and_what_the_memories_say_now(client: TestClient) -> None:
    remember(client)
    trace_id = ask(client)
    listed = client.get("/ui/recalls", headers=ALICE).text
    assert "which &lt;b&gt;tea&lt;/b&gt; do I like?" in listed
    shown = client.get(f"/ui/recalls/{trace_id}", headers=ALICE).text
    assert "which &lt;b&gt;tea&lt;/b&gt; do I like?" in shown
    assert FACT in shown


def test_no_text_is_kept_for_the_pages(start: Start) -> None:
    client = start()
    remember(client)
    trace_id = ask(client)
    assert FACT in client.get(f"/ui/recalls/{trace_id}", headers=ALICE).text
    data = client.app.state.services.settings.data_dir  # type: ignore[attr-defined]
    kept = b"".join(path.read_bytes() for path in data.glob("traces.db*"))
    assert trace_id.encode() in kept
    assert b"honey" not in kept and b"which <b>tea" not in kept


@pytest.mark.parametrize("committed", [False, True], ids=["in the store", "in an archive"])
def test_after_a_restart_the_query_is_found_among_the_turns(start: Start, committed: bool) -> None:
    first = start()
    remember(first)
    trace_id = ask(first)
    if committed:
        done = first.post("/compact", json={"sessionId": "s1", "keepRecentCount": 0}, headers=ALICE).json()
        assert done["reason"] == "commit_completed"
        stored = first.portal.call(  # type: ignore[union-attr]
            first.app.state.services.store.turns_since,  # type: ignore[attr-defined]
            Tenant("acme", "alice"),
            "s1",
            time.time() - 3600,
        )
        assert [turn.messages for turn in stored] == [()]
    assert first.get("/recalls", headers=ALICE).is_success  # what was recorded is written down before anything is read
    second = start()
    assert "which &lt;b&gt;tea&lt;/b&gt; do I like?" in second.get(f"/ui/recalls/{trace_id}", headers=ALICE).text


def test_a_query_that_nobody_keeps_is_not_replaced_by_another(start: Start) -> None:
    first = start()
    asked = {"sessionId": "s1", "messages": [{"role": "user", "content": QUESTION}]}
    trace_id = first.post("/assemble", json=asked, headers=ALICE).json()["recall"]["traceId"]
    other = {"sessionId": "s1", "messages": [{"role": "user", "content": "and which bread?"}], "wait": True}
    assert first.post("/after-turn", json=other, headers=ALICE).is_success
    assert first.get("/recalls", headers=ALICE).is_success
    shown = start().get(f"/ui/recalls/{trace_id}", headers=ALICE).text
    assert f"{len(QUESTION)} characters" in shown and "bread" not in shown


def test_the_texts_are_the_tenants_own(client: TestClient) -> None:
    remember(client)
    trace_id = ask(client)
    for path in ("/ui/recalls", f"/ui/recalls/{trace_id}"):
        shown = client.get(path, headers={**BOB, **BROWSER})
        assert "tea" not in shown.text and "honey" not in shown.text


def test_a_backend_that_is_away_leaves_the_page_without_texts(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(client)
    trace_id = ask(client)

    async def refuse(*_: object) -> dict[str, str]:
        raise BackendError(Reason.OPENVIKING_UNAVAILABLE, "away", retryable=True)

    monkeypatch.setattr(client.app.state.services.backend, "read", refuse)  # type: ignore[attr-defined]
    shown = client.get(f"/ui/recalls/{trace_id}", headers=ALICE)
    assert shown.status_code == 200 and FACT not in shown.text
    assert "could not be read just now" in shown.text and "openviking unavailable" in shown.text


@pytest.mark.parametrize("query", [{"since": "soon"}, {"limit": "x"}, {"cursor": "a b"}])
def test_a_browser_is_told_in_words_what_is_wrong(client: TestClient, query: dict[str, str]) -> None:
    answer = client.get("/ui/recalls", params=query, headers=BROWSER)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert f"{next(iter(query))}</code>:" in answer.text and answer.headers["x-request-id"] in answer.text
    plain = client.get("/ui/recalls", params=query)
    assert plain.headers["content-type"] == "application/problem+json"


def test_errors_of_pages_are_pages(start: Start) -> None:
    client = start(auth={"tokens": "secret"})
    refused = client.get("/ui/recalls", headers=BROWSER)
    assert refused.status_code == 401 and "<h1>" in refused.text
    assert refused.headers["www-authenticate"].startswith("Basic ")
    missing = client.get("/ui/recalls/r0", headers=BROWSER, auth=("me", "secret"))
    assert missing.status_code == 404 and "no such recall" in missing.text
    assert client.get("/ui/nothing", headers=BROWSER).headers["content-type"].startswith("text/html")
    assert client.get("/nothing", headers=BROWSER).headers["content-type"] == "application/problem+json"


def test_a_foreign_host_name_is_refused_on_a_page_too(client: TestClient) -> None:
    refused = client.get("/ui/recalls", headers={**BROWSER, "Host": "evil.example.org"})
    assert refused.status_code == 400 and "headers.Host" in refused.text and "<h1>" in refused.text


def test_the_first_page_leads_on(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    for path in (
        "/docs",
        "/ui/memories",
        "/ui/resources",
        "/ui/sessions",
        "/ui/recalls",
        "/ui/freshness",
        "/ui/deliveries",
        "/readyz",
        "/metrics",
    ):
        assert f'href="{path}"' in page.text
        assert client.get(path).is_success
    assert "accepted" in page.text and "answers" in page.text


def test_the_first_page_tells_strangers_no_more_than_readyz(start: Start) -> None:
    client = start(backend="openviking", openviking={"url": "http://127.0.0.1:9"}, auth={"tokens": "secret"})
    page = client.get("/").text
    assert "does not answer" in page and "127.0.0.1:9" not in page and "refused" not in page


def test_pages_escape_and_allow_nothing_but_their_own_style(client: TestClient) -> None:
    body = {
        "sessionId": "<script>alert(1)</script>",
        "messages": [{"role": "user", "content": "<script>tea</script>?"}],
    }
    client.post("/assemble", json=body, headers=ALICE)
    for path in ("/", "/ui/recalls?session=%22%3E%3Cscript%3E", "/ui/recalls", "/ui/recalls?since=%3Cscript%3E"):
        answer = client.get(path, headers={**ALICE, **BROWSER})
        assert "<script" not in answer.text
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store"


def test_half_a_character_in_a_query_is_no_error(client: TestClient) -> None:
    content = '{"sessionId": "s1", "messages": [{"role": "user", "content": "half of \\ud83d an emoji?"}]}'
    asked = client.post("/assemble", content=content, headers={**ALICE, "Content-Type": "application/json"})
    assert asked.is_success
    assert client.get("/ui/recalls", headers=ALICE).status_code == 200
    assert client.get(f"/ui/recalls/{asked.json()['recall']['traceId']}", headers=ALICE).status_code == 200
