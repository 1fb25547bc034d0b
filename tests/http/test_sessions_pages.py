"""``/ui/sessions`` and ``/ui/deliveries``: what was said, what was archived, what waits, and what was set aside."""

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.reasons import Reason
from app.ports import BackendError
from tests.http.browsing import BROWSER, OURS, forms_in, send
from tests.http.conftest import Start
from tests.unit.memory_backend import MemoryBackend, rejected

HOSTILE = "<script>alert(1)</script>\"'><img src=x>"


@pytest.fixture
def client(person: TestClient) -> TestClient:
    return person


def say(client: TestClient, *texts: str, wait: bool = True, **scope: Any) -> str:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    answer = client.post("/after-turn", json={"sessionId": "s1", "messages": messages, "wait": wait, **scope})
    assert answer.status_code == 200, answer.text
    turn_id: str = answer.json()["turnId"]
    return turn_id


def shown(client: TestClient, path: str, status: int = 200) -> str:
    answer = client.get(path, headers=BROWSER)
    assert answer.status_code == status, answer.text
    assert "<script" not in answer.text and "<img" not in answer.text
    return answer.text


def refusing(start: Start) -> tuple[TestClient, str]:
    """A sidecar whose backend has refused a turn for good, and the turn."""
    backend = MemoryBackend()
    backend.faults = [("before", rejected())]
    client = start(backend)
    turn_id = say(client, "Which tea?", "Green.")
    assert client.get(f"/turns/{turn_id}").json()["state"] == "dead"
    return client, turn_id


def test_from_the_list_to_turns_archives_and_the_rest(client: TestClient) -> None:
    key = {"sessionKey": "agent:main:tea"}
    turn = say(client, "Which tea do I like?", "Green tea.", **key)
    assert client.post("/compact", json={"sessionId": "s1", **key}).json()["reason"] == "commit_completed"
    say(client, "And bread?", "Rye.", **key)
    path = re.search(r'href="(/ui/sessions/[0-9a-f]+)">agent:main:tea', shown(client, "/ui/sessions?query=MAIN:TEA"))
    assert path
    page = shown(client, path[1])
    assert "And bread?" in page and f'href="/ui/deliveries/{turn}"' in page and "completed" in page
    name = path[1].rpartition("/")[2]
    for link in ("/ui/recalls?session=", "/ui/deliveries?state=all&amp;session=", "/ui/memories?session="):
        assert f'href="{link}{name}"' in page
        assert shown(client, f"{link}{name}".replace("&amp;", "&"))
    archive = re.search(rf'href="({re.escape(path[1])}/archives/[^"]+)"', page)
    assert archive and "Which tea do I like?" in shown(client, archive[1])
    assert "no more messages" in shown(client, f"{archive[1]}?offset=99")
    assert "no such archive" in shown(client, f"{path[1]}/archives/nothing", 404)


def test_an_unknown_or_foreign_session_is_not_there(client: TestClient) -> None:
    turn = say(client, "Which tea?", wait=False)
    bob = {**BROWSER, "X-OpenViking-User": f"{client.headers['X-OpenViking-User']}-bob"}
    for path in ("/ui/sessions/s1", "/ui/sessions/s1/archives/archive_001", f"/ui/deliveries/{turn}"):
        assert client.get(path, headers=bob).status_code == 404
    assert "s1" not in client.get("/ui/sessions", headers=bob).text
    assert shown(client, "/ui/sessions/nothing", 404) and shown(client, "/ui/deliveries/t_nothing", 404)


def test_empty_lists_say_so(client: TestClient) -> None:
    assert "No session yet." in shown(client, "/ui/sessions")
    assert "Nothing waits, and nothing was set aside." in shown(client, "/ui/deliveries")
    say(client, "Which tea?")
    assert "No session is called that." in shown(client, "/ui/sessions?query=bread")
    assert "No turn matches this." in shown(client, "/ui/deliveries?state=dead")
    assert "delivered" in shown(client, "/ui/deliveries?state=delivered&session=s1")


def test_what_is_said_and_what_sessions_are_called_is_text(client: TestClient) -> None:
    say(client, HOSTILE, "x" * 50_000, sessionId=HOSTILE, sessionKey=f"agent:{HOSTILE}:מיה\u202e")
    listed = shown(client, "/ui/sessions")
    path = re.search(r'href="(/ui/sessions/[^"]+)"', listed)
    assert path and "46,000 more characters" in shown(client, path[1])
    say(client, "hi", sessionId="week plan.v2 漢字 & more")
    assert 'href="/ui/sessions/week%20plan.v2%20%E6%BC%A2%E5%AD%97%20%26%20more"' in shown(client, "/ui/sessions")
    assert "hi" in shown(client, "/ui/sessions/week%20plan.v2%20%E6%BC%A2%E5%AD%97%20%26%20more")
    for query in (HOSTILE, "%", "\0", "\\", "_" * 1000):
        assert client.get("/ui/sessions", params={"query": query}, headers=BROWSER).status_code == 200


def test_a_tool_call_is_shown_with_its_name(client: TestClient) -> None:
    call = {"type": "toolCall", "id": "c1", "name": "look_up", "arguments": {"word": "tea"}}
    messages = [
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": [call]},
        {"role": "toolResult", "toolCallId": "c1", "toolName": "look_up", "content": "tea: a drink"},
    ]
    client.post("/after-turn", json={"sessionId": "s1", "messages": messages, "wait": True}).raise_for_status()
    page = shown(client, "/ui/sessions/s1")
    assert "look up" in page and "tea: a drink" in page


def test_a_new_rule_hides_what_was_said_before(start: Start) -> None:
    first = start(policy={"rules": {"email": "allow"}})
    say(first, "Mail me at mia@example.org.", sessionKey="mia@example.org")
    second = start(policy={"rules": {"email": "mask"}})
    listed = shown(second, "/ui/sessions")
    path = re.search(r'href="(/ui/sessions/[^"]+)"', listed)
    assert path and "[email removed]" in shown(second, path[1])
    assert "mia@example" not in listed + shown(second, path[1])


def test_a_backend_that_is_away_leaves_the_turns(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    say(client, "Which tea?", "Green.")

    async def refuse(*_: object) -> None:
        raise BackendError(Reason.BACKEND_UNAVAILABLE, "disk full", retryable=True)

    monkeypatch.setattr(client.app.state.services.backend, "archives", refuse)  # type: ignore[attr-defined]
    page = shown(client, "/ui/sessions/s1")
    assert "could not be read just now: backend unavailable" in page and "Which tea?" in page


def test_what_was_set_aside_is_named_and_sent_again(start: Start) -> None:
    client, turn = refusing(start)
    listed = shown(client, "/ui/deliveries")
    assert "set aside" in listed and f'href="/ui/deliveries/{turn}"' in listed
    page = client.get(f"/ui/deliveries/{turn}")
    assert "refused it for good" in page.text
    assert "1 set aside" in shown(client, "/ui/sessions")
    sent = send(client, forms_in(page)["retry"])
    assert sent.status_code == 200 and "sent again" in sent.text
    assert client.get(f"/turns/{turn}").json()["state"] in {"pending", "sending", "delivered"}


def test_giving_up_takes_two_steps(start: Start) -> None:
    client, turn = refusing(start)
    asked = client.get(f"/ui/deliveries/{turn}/discard")
    assert "Nothing is deleted yet" in asked.text
    assert client.get(f"/turns/{turn}").json()["state"] == "dead"
    form = forms_in(asked)["discard"]
    for headers, changed in (({"Origin": "http://evil.example"}, {}), (OURS, {"proof": "x"})):
        assert send(client, form, {**BROWSER, **headers}, **changed).status_code == 403
    assert client.get(f"/ui/deliveries/{turn}/retry", headers=OURS).status_code == 405
    given_up = send(client, form)
    assert "text was deleted" in given_up.text and forms_in(given_up) == {}
    assert client.get(f"/turns/{turn}").json()["state"] == "discarded"
    again = send(client, form)
    assert again.status_code == 409 and "this turn is discarded" in again.text


@pytest.mark.parametrize("query", ["cursor=x", "state=odd", "cursor=1e400x"])
def test_a_wrong_filter_is_named(client: TestClient, query: str) -> None:
    assert f"{query.partition('=')[0]}</code>" in shown(client, f"/ui/deliveries?{query}", 400)
