"""The Python client for other hosts (integrations/python), against a fake transport."""

import json
import sys
from collections import deque
from pathlib import Path

import httpx
import pytest
from pytest_httpx import HTTPXMock, IteratorStream

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "integrations/python"))

from example import chat, hand_over
from sidecar_client import Session, Sidecar, SidecarError

BASE = "http://sidecar.test"
ASK = {"role": "user", "content": "Which seat?"}


@pytest.fixture
def sidecar():
    with Sidecar(BASE + "/", token="t0ken") as connection:
        yield connection


def body_of(httpx_mock: HTTPXMock, index: int = -1) -> dict:
    return json.loads(httpx_mock.get_requests()[index].content)


def problem(httpx_mock: HTTPXMock, status: int, code: str) -> None:
    httpx_mock.add_response(status_code=status, json={"code": code, "detail": "why", "status": status})


def test_assemble_sends_the_scope_and_gives_the_models_messages(sidecar, httpx_mock):
    answer = {"messages": [ASK], "estimatedTokens": 9, "status": "assembled", "reason": "ok", "contextBlock": "<b>"}
    httpx_mock.add_response(url=f"{BASE}/assemble", json=answer)
    assert sidecar.assemble(Session("s", "second", "anna"), [ASK], token_budget=1000) == answer
    assert body_of(httpx_mock) == {
        "sessionId": "s",
        "agentId": "second",
        "senderId": "anna",
        "phase": "full",
        "messages": [ASK],
        "tokenBudget": 1000,
        "deadlineMs": 4500,
    }
    assert httpx_mock.get_requests()[0].headers["Authorization"] == "Bearer t0ken"


@pytest.mark.parametrize("failure", [httpx.ConnectError("refused"), httpx.ReadTimeout("slow")])
def test_a_sidecar_that_is_away_leaves_your_own_messages(sidecar, httpx_mock, failure):
    httpx_mock.add_exception(failure)
    answer = sidecar.assemble(Session("s"), [ASK])
    assert (answer["messages"], answer["status"], answer["reason"]) == ([ASK], "passthrough", "unreachable")


def test_so_does_one_that_fails_or_talks_nonsense(sidecar, httpx_mock):
    problem(httpx_mock, 503, "store_unavailable")
    httpx_mock.add_response(text="<html>")
    httpx_mock.add_response(json=["nonsense"])
    assert sidecar.assemble(Session("s"), [ASK])["reason"] == "store_unavailable"
    assert sidecar.assemble(Session("s"), [ASK])["reason"] == "unreachable"
    assert sidecar.assemble(Session("s"), [ASK])["reason"] == "unreachable"


def test_a_mistake_of_the_caller_is_raised(sidecar, httpx_mock):
    problem(httpx_mock, 401, "unauthorized")
    with pytest.raises(SidecarError, match="unauthorized: why") as caught:
        sidecar.assemble(Session("s"), [ASK])
    assert caught.value.is_final


def test_a_turn_carries_its_key_and_an_error_says_whether_to_try_again(sidecar, httpx_mock):
    httpx_mock.add_response(json={"status": "committed", "reason": "ok", "turnId": "t_1"})
    assert sidecar.after_turn(Session("s"), "s/1", [ASK])["status"] == "committed"
    assert body_of(httpx_mock)["advancementKey"] == "s/1"
    assert body_of(httpx_mock)["prePromptMessageCount"] == 0
    for status, code, is_final in [(503, "outbox_full", False), (422, "idempotency_key_reused", True)]:
        problem(httpx_mock, status, code)
        with pytest.raises(SidecarError) as caught:
            sidecar.after_turn(Session("s"), "s/1", [ASK])
        assert (caught.value.code, caught.value.is_final) == (code, is_final)


def test_compact_waits_longer_and_says_so(sidecar, httpx_mock):
    httpx_mock.add_response(json={"ok": True, "compacted": True, "reason": "commit_completed"})
    assert sidecar.compact(Session("s"), timeout=10)["compacted"]
    assert body_of(httpx_mock)["deadlineMs"] == 9000
    assert httpx_mock.get_requests()[0].extensions["timeout"]["read"] == 10


def test_the_example_loop_keeps_its_own_history(sidecar, httpx_mock):
    seen = []

    def sidecar_answers(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        if request.url.path == "/assemble":
            recalled = {
                "role": "user",
                "content": f"<openviking-context>window</openviking-context>\n\n{ASK['content']}",
            }
            return httpx.Response(200, json={"messages": [*body["messages"][:-1], recalled], "status": "assembled"})
        return httpx.Response(200, json={"status": "committed", "ok": True})

    httpx_mock.add_callback(sidecar_answers, is_reusable=True)

    def model(messages, _system):
        seen.append(messages[-1]["content"])
        return "A window seat."

    assert list(chat(sidecar, Session("s"), model, ["Which seat?", "Really?"])) == ["A window seat."] * 2
    assert all("openviking-context" in text for text in seen)
    asked = [json.loads(r.content)["messages"] for r in httpx_mock.get_requests() if r.url.path == "/assemble"]
    assert [message["content"] for message in asked[1]] == ["Which seat?", "A window seat.", "Really?"]
    assert [request.url.path for request in httpx_mock.get_requests()] == [
        "/assemble", "/after-turn", "/assemble", "/after-turn", "/sessions/end",
    ]  # fmt: skip
    keys = [json.loads(r.content)["advancementKey"] for r in httpx_mock.get_requests() if r.url.path == "/after-turn"]
    assert len(set(keys)) == 2


def test_the_example_loop_goes_on_without_a_sidecar_and_sends_what_it_kept(sidecar, httpx_mock):
    away = True
    told = []

    def sidecar_answers(request: httpx.Request) -> httpx.Response:
        if away:
            raise httpx.ConnectError("refused")
        body = json.loads(request.content)
        told.append((request.url.path, [message["content"] for message in body.get("messages", [])]))
        return httpx.Response(200, json={"messages": body.get("messages"), "status": "committed", "ok": True})

    def questions():
        nonlocal away
        yield from ("one", "two")
        away = False
        yield "three"

    httpx_mock.add_callback(sidecar_answers, is_reusable=True)
    assert list(chat(sidecar, Session("s"), lambda messages, _: messages[-1]["content"], questions())) == [
        "one", "two", "three",
    ]  # fmt: skip
    assert [said for path, said in told if path == "/after-turn"] == [["one"] * 2, ["two"] * 2, ["three"] * 2]
    assert told[-1][0] == "/sessions/end"


def test_the_example_loop_ends_quietly_where_nothing_was_said_or_the_sidecar_goes_away(sidecar, httpx_mock):
    assert list(chat(sidecar, Session("s"), lambda *_: "", [])) == []
    assert httpx_mock.get_requests() == []
    answer = {"messages": [{"role": "user", "content": "one"}], "status": "committed"}
    for path in ("/assemble", "/after-turn"):
        httpx_mock.add_response(url=f"{BASE}{path}", json=answer)
    httpx_mock.add_exception(httpx.ConnectError("refused"), url=f"{BASE}/sessions/end", is_reusable=True)
    assert list(chat(sidecar, Session("s"), lambda *_: "yes", ["one"])) == ["yes"]


def test_who_asks_and_for_whom(httpx_mock):
    httpx_mock.add_response(json={"tools": []})
    with Sidecar(BASE, "t0ken", account="acme", user="anna") as connection:
        assert connection.tools() == []
    headers = httpx_mock.get_requests()[0].headers
    assert (headers["X-OpenViking-Account"], headers["X-OpenViking-User"]) == ("acme", "anna")


def test_an_error_tells_all_that_the_sidecar_told(sidecar, httpx_mock):
    candidates = [{"id": "m_1", "uri": "viking://a", "category": "notes"}]
    httpx_mock.add_response(status_code=409, json={"code": "ambiguous", "detail": "two", "candidates": candidates})
    with pytest.raises(SidecarError) as caught:
        sidecar.memories.forget_selected({"query": "tea"}, dry_run=False)
    assert caught.value.problem["candidates"] == candidates and caught.value.is_final
    httpx_mock.add_response(status_code=503, json={"code": "outbox_full", "detail": "x"}, headers={"Retry-After": "30"})
    with pytest.raises(SidecarError) as caught:
        sidecar.memories.store("Mia likes tea.")
    assert caught.value.retry_after == 30 and not caught.value.is_final


def test_what_is_left_out_is_not_sent(sidecar, httpx_mock):
    httpx_mock.add_response(json={"memories": [], "nextCursor": None}, is_reusable=True)
    sidecar.memories.page(query="tea & bread", pinned=False)
    assert httpx_mock.get_requests()[0].url.query == b"query=tea+%26+bread&pinned=false&limit=50"
    assert list(sidecar.memories.every()) == []


def test_half_an_emoji_is_sent_as_an_escape(sidecar, httpx_mock):
    httpx_mock.add_response(json={"status": "committed"})
    said = {"role": "user", "content": "half an emoji \ud83d 中文"}
    assert sidecar.after_turn(Session("s"), "s/1", [said])["status"] == "committed"
    assert body_of(httpx_mock)["messages"] == [said]


UNWRITABLE = {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "f", "arguments": {}}]}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}])
def test_what_no_json_can_say_is_a_final_error_of_its_own(sidecar, httpx_mock, value):
    turn = [{**UNWRITABLE, "arguments": {"v": value}}]
    for call in (lambda: sidecar.assemble(Session("s"), turn), lambda: sidecar.after_turn(Session("s"), "k", turn)):
        with pytest.raises(SidecarError) as caught:
            call()
        assert (caught.value.code, caught.value.is_final) == ("unencodable", True)
    assert httpx_mock.get_requests() == []


def test_a_turn_that_can_not_be_sent_does_not_stop_those_behind_it(sidecar, httpx_mock):
    httpx_mock.add_response(json={"status": "committed"})
    unsent = deque([("k1", [{**UNWRITABLE, "arguments": {"v": float("nan")}}]), ("k2", [ASK])])
    hand_over(sidecar, Session("s"), unsent)
    assert not unsent and body_of(httpx_mock)["advancementKey"] == "k2"


def test_a_token_that_no_header_can_carry_is_no_outage(httpx_mock):
    with Sidecar(BASE, "tökén") as connection, pytest.raises(SidecarError) as caught:
        connection.tools()
    assert (caught.value.code, caught.value.is_final) == ("unencodable", True)


def test_an_export_ends_its_lines_at_a_line_feed_alone(sidecar, httpx_mock):
    texts = ["one\u2028two\u0085three", "four\u2029\x0b five"]
    whole = "\n".join(json.dumps({"text": text}, ensure_ascii=False) for text in texts).encode()
    httpx_mock.add_response(stream=IteratorStream([whole[at : at + 3] for at in range(0, len(whole), 3)]))
    assert [json.loads(line)["text"] for line in sidecar.memories.export()] == texts


def test_the_sidecar_is_told_to_answer_before_the_client_gives_up(httpx_mock):
    httpx_mock.add_response(json={"content": []}, is_reusable=True)
    with Sidecar(BASE, timeout=2) as connection:
        memories, session = connection.memories, Session("s")
        calls = (
            (1800, lambda: connection.assemble(session, [ASK])),
            (1800, lambda: connection.after_turn(session, "k", [ASK])),
            (1800, lambda: connection.start(session)),
            (1800, lambda: connection.reset(session)),
            (1800, lambda: connection.end(session)),
            (1800, lambda: connection.call_tool("memory_recall", {"query": "tea"})),
            (1800, lambda: memories.store("Mia likes tea.")),
            (90, lambda: connection.assemble(session, [ASK], deadlineMs=90)),
            (27_000, lambda: memories.forget_selected({"query": "tea"}, timeout=30)),
            (27_000, lambda: memories.check_freshness(timeout=30)),
        )
        for deadline, call in calls:
            call()
            assert body_of(httpx_mock)["deadlineMs"] == deadline
        memories.take_in([])
        memories.forget("m_1")
        waits = [request.extensions["timeout"]["read"] for request in httpx_mock.get_requests()[-2:]]
        assert waits == [180, 60]


def test_without_a_time_limit_the_sidecar_keeps_its_own(httpx_mock):
    httpx_mock.add_response(json={"messages": []})
    with Sidecar(BASE, http=httpx.Client(timeout=None)) as connection:
        connection.assemble(Session("s"), [ASK])
    assert "deadlineMs" not in body_of(httpx_mock)


def test_it_needs_nothing_of_the_service():
    for module in ("client", "connection", "memories", "answers"):
        source = Path(sys.modules[f"sidecar_client.{module}"].__file__).read_text()
        assert "import app" not in source and "from app" not in source
