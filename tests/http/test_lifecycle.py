"""A host's life with the sidecar, over HTTP, on the embedded backend."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start

T0 = 1_795_298_000_000


def user(text: Any, at: int = 0, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": T0 + at * 1000, **more}


def said(text: str, at: int = 1, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "timestamp": T0 + at * 1000, **more}


def call(name: str, arguments: Any, at: int, call_id: str = "call_1") -> dict[str, Any]:
    block = {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
    return {"role": "assistant", "content": [block], "timestamp": T0 + at * 1000}


def result(text: str, at: int, call_id: str = "call_1") -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": "x",
        "content": [{"type": "text", "text": text}],
        "isError": False,
        "timestamp": T0 + at * 1000,
    }


def post(client: TestClient, path: str, body: dict[str, Any], **headers: str) -> dict[str, Any]:
    answer = client.post(path, json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    decoded: dict[str, Any] = answer.json()
    return decoded


def turn(client: TestClient, messages: list[dict[str, Any]], session: str = "s1", **more: Any) -> dict[str, Any]:
    return post(client, "/after-turn", {"sessionId": session, "messages": messages, "wait": True, **more})


FACT = [user("I prefer my tea green, with honey from Kyoto."), said("Green tea with Kyoto honey, noted.")]


class TestAfterTurn:
    def test_committed_then_delivered(self, client: TestClient) -> None:
        answer = turn(client, FACT, advancementKey="k1", prePromptMessageCount=0)
        assert answer["status"] == "committed"
        assert answer["reason"] == "ok"
        assert answer["captured"] == 2
        assert answer["delivery"] == "delivered"
        assert answer["pendingTokens"] > 0
        assert answer["compaction"] == {"state": "idle", "uploadId": None, "messageRange": None, "clear": None}
        looked_up = client.get(f"/turns/{answer['turnId']}").json()
        assert looked_up["state"] == "delivered"
        assert looked_up["turnId"] == answer["turnId"]

    def test_the_same_key_is_a_duplicate_and_another_turn_is_refused(self, client: TestClient) -> None:
        first = turn(client, FACT, advancementKey="k1", prePromptMessageCount=0)
        again = turn(client, FACT, advancementKey="k1", prePromptMessageCount=0)
        assert (again["status"], again["turnId"]) == ("duplicate", first["turnId"])
        by_header = post(
            client,
            "/after-turn",
            {"sessionId": "s1", "messages": FACT, "prePromptMessageCount": 0},
            **{"Idempotency-Key": "k1"},
        )
        assert by_header["status"] == "duplicate"
        other = {"sessionId": "s1", "messages": [user("something else", 9)], "advancementKey": "k1"}
        refused = client.post("/after-turn", json=other)
        assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")
        elsewhere = turn(client, [user("something else", 9)], session="s2", advancementKey="k1")
        assert elsewhere["status"] == "committed"

    def test_a_repeat_without_key_is_recognised(self, client: TestClient) -> None:
        assert turn(client, FACT)["status"] == "committed"
        again = turn(client, FACT)
        assert again["status"] in {"duplicate", "skipped"}
        longer = turn(client, [*FACT, user("And coffee black.", 5), said("Black coffee.", 6)])
        assert (longer["status"], longer["captured"]) == ("committed", 2)

    def test_equal_words_in_another_turn_are_kept(self, client: TestClient) -> None:
        turn(client, [user("ok", 1), said("ok", 2)], prePromptMessageCount=0)
        again = turn(client, [user("ok", 3), said("ok", 4)], prePromptMessageCount=0)
        assert (again["status"], again["captured"]) == ("committed", 2)

    @pytest.mark.parametrize(
        ("more", "reason"),
        [({"isHeartbeat": True}, "heartbeat"), ({"messages": []}, "no_new_messages")],
    )
    def test_skipped(self, client: TestClient, more: dict[str, Any], reason: str) -> None:
        answer = post(client, "/after-turn", {"sessionId": "s1", "messages": FACT, **more})
        assert (answer["status"], answer["reason"], answer["captured"]) == ("skipped", reason, 0)

    def test_capture_can_be_off_and_sessions_bypassed(self, start: Start) -> None:
        client = start(capture={"enabled": False}, routing={"bypass_sessions": ["probe:*"]})
        assert turn(client, FACT)["reason"] == "capture_disabled"
        body = {"sessionId": "s", "sessionKey": "probe:1", "messages": FACT}
        assert post(client, "/after-turn", body)["reason"] == "session_bypassed"
        assert post(client, "/assemble", {**body, "messages": FACT[:1]})["reason"] == "session_bypassed"
        assert post(client, "/compact", body)["reason"] == "session_bypassed"


class TestRecall:
    def test_a_fact_of_one_session_reaches_the_next(self, client: TestClient) -> None:
        turn(client, FACT)
        post(client, "/compact", {"sessionId": "s1"})
        question = user("Which tea do I prefer, and with what honey?", 100)
        answer = post(client, "/assemble", {"sessionId": "s2", "messages": [question]})
        assert (answer["status"], answer["reason"]) == ("assembled", "ok")
        assert "Kyoto" in answer["contextBlock"]
        [message] = answer["messages"]
        assert message["content"] == f"{answer['contextBlock']}\n\n{question['content']}"
        assert {**message, "content": question["content"]} == question
        assert answer["recall"]["items"]
        assert client.get(f"/recalls/{answer['recall']['traceId']}").status_code == 200

    def test_chinese(self, client: TestClient) -> None:
        turn(client, [user("我喜欢喝龙井茶,不喜欢咖啡。"), said("记下了。")])
        post(client, "/compact", {"sessionId": "s1"})
        answer = post(client, "/assemble", {"sessionId": "s2", "messages": [user("我喜欢喝什么茶?", 100)]})
        assert "龙井" in answer["contextBlock"]

    def test_injected_text_is_never_captured(self, client: TestClient) -> None:
        turn(client, FACT)
        post(client, "/compact", {"sessionId": "s1"})
        asked = post(client, "/assemble", {"sessionId": "s2", "messages": [user("Which tea do I prefer?", 100)]})
        assert "contextBlock" in asked
        turn(client, [*asked["messages"], said("Green.", 101)], session="s2")
        post(client, "/compact", {"sessionId": "s2"})
        rebuilt = post(client, "/assemble", {"sessionId": "s2", "phase": "preflight", "messages": []})
        assert "openviking-auto-recall" not in json.dumps(rebuilt)
        assert "Which tea do I prefer?" in json.dumps(rebuilt)

    @pytest.mark.parametrize("inject", ["message", "block", "tool_call", "system"])
    def test_running_it_again_changes_nothing(self, client: TestClient, inject: str) -> None:
        turn(client, FACT)
        post(client, "/compact", {"sessionId": "s1"})
        body = {"sessionId": "s2", "inject": inject, "messages": [user("Which tea do I prefer?", 100)]}
        once = post(client, "/assemble", body)
        same = post(client, "/assemble", body)
        assert (once["messages"], once["contextBlock"]) == (same["messages"], same["contextBlock"])
        again = post(client, "/assemble", {**body, "messages": once["messages"]})
        assert again["messages"] == once["messages"]
        if inject in {"message", "tool_call"}:
            assert again["reason"] == "already_injected"

    def test_tenants_and_agents_do_not_see_each_other(self, client: TestClient) -> None:
        turn(client, FACT)
        post(client, "/compact", {"sessionId": "s1"})
        body = {"sessionId": "s2", "messages": [user("Which tea do I prefer?", 100)]}
        other = post(client, "/assemble", body, **{"X-OpenViking-User": "bob"})
        assert (other["status"], other["reason"]) == ("passthrough", "no_recall_hits")
        assert post(client, "/assemble", body)["status"] == "assembled"


class TestHistory:
    def history(self) -> list[dict[str, Any]]:
        return [
            user("Please list the files.", 0),
            call("ls", {"path": "."}, 1),
            result("a.py\nb.py", 2),
            said("Two files: a.py and b.py.", 3),
            user("We decided to ship Atlas on Friday.", 4),
            said("Friday it is. " + "The crew knows, and so does the harbour. " * 20, 5),
        ]

    def test_summary_then_live_messages(self, client: TestClient) -> None:
        history = self.history()
        turn(client, history, prePromptMessageCount=0)
        compacted = post(client, "/compact", {"sessionId": "s1"})
        assert (compacted["ok"], compacted["compacted"], compacted["reason"]) == (True, True, "commit_completed")
        assert compacted["result"]["summary"]
        assert compacted["result"]["tokensBefore"] > 0
        assert compacted["result"]["details"]["extracted"] is True
        live = [user("And then?", 10), call("ls", {}, 11, "call_2"), result("c.py", 12, "call_2")]
        answer = post(client, "/assemble", {"sessionId": "s1", "phase": "preflight", "messages": [*history, *live]})
        assert (answer["status"], answer["reason"], answer["recall"]) == ("assembled", "ok", None)
        summary, acknowledgement, *rest = answer["messages"]
        assert summary["role"] == "user"
        assert summary["content"].startswith("[Session History Summary]")
        assert "Atlas" in summary["content"]
        assert acknowledgement["role"] == "assistant"
        assert rest == live
        assert answer["systemPromptAddition"]
        again = post(client, "/assemble", {"sessionId": "s1", "phase": "preflight", "messages": answer["messages"]})
        assert again["messages"] == answer["messages"]

    def test_without_history_from_the_host_it_is_rebuilt(self, client: TestClient) -> None:
        turn(client, self.history(), prePromptMessageCount=0)
        answer = post(client, "/assemble", {"sessionId": "s1", "phase": "preflight", "messages": []})
        roles = [message["role"] for message in answer["messages"]]
        assert roles == ["user", "assistant", "toolResult", "assistant", "user", "assistant"]
        assert "a.py\nb.py" in json.dumps(answer["messages"][2]).replace("\\n", "\n")

    def test_an_unknown_session_is_a_passthrough(self, client: TestClient) -> None:
        live = [user("hello there", 1)]
        answer = post(client, "/assemble", {"sessionId": "new", "phase": "preflight", "messages": live})
        assert (answer["status"], answer["messages"]) == ("passthrough", live)
        assert answer["reason"] in {"session_not_found", "no_session_data"}

    def test_after_a_reset_nothing_old_is_shown_but_memories_are(self, client: TestClient) -> None:
        turn(client, FACT, prePromptMessageCount=0)
        post(client, "/compact", {"sessionId": "s1"})
        turn(client, [user("I also like my room cold.", 20), said("Cold room.", 21)], prePromptMessageCount=0)
        ended = post(client, "/sessions/reset", {"sessionId": "s1"})
        assert ended["ok"] is True
        answer = post(client, "/assemble", {"sessionId": "s1", "phase": "preflight", "messages": []})
        assert answer["messages"] == []
        recalled = post(client, "/assemble", {"sessionId": "s1", "messages": [user("Which tea do I prefer?", 100)]})
        assert "Kyoto" in recalled["contextBlock"]

    def test_full_does_both(self, client: TestClient) -> None:
        history = self.history()
        turn(client, [*FACT, *history], prePromptMessageCount=0)
        post(client, "/compact", {"sessionId": "s1"})
        question = user("Which tea do I prefer?", 100)
        answer = post(
            client, "/assemble", {"sessionId": "s1", "phase": "full", "messages": [*FACT, *history, question]}
        )
        assert answer["messages"][0]["content"].startswith("[Session History Summary]")
        assert "<openviking-context>" in answer["messages"][-1]["content"]

    def test_compact_of_an_unknown_session(self, client: TestClient) -> None:
        answer = post(client, "/compact", {"sessionId": "never-seen"})
        assert (answer["ok"], answer["compacted"], answer["reason"]) == (True, False, "session_not_found")


class TestDeliveries:
    def test_they_are_listed_by_page(self, client: TestClient) -> None:
        for number in range(3):
            turn(client, [user(f"turn {number}", number)], prePromptMessageCount=0)
        page = client.get("/deliveries", params={"state": "delivered", "limit": 2}).json()
        assert len(page["deliveries"]) == 2
        rest = client.get("/deliveries", params={"state": "delivered", "limit": 2, "cursor": page["nextCursor"]}).json()
        assert len(rest["deliveries"]) == 1
        assert rest["nextCursor"] is None
        bob = client.get("/deliveries", headers={"X-OpenViking-User": "bob"}).json()
        assert bob["deliveries"] == []

    def test_what_is_delivered_can_not_be_retried_or_discarded(self, client: TestClient) -> None:
        delivered = turn(client, FACT)["turnId"]
        for action in ("retry", "discard"):
            refused = client.post(f"/deliveries/{delivered}/{action}")
            assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
            assert client.post(f"/deliveries/t_unknown/{action}").status_code == 404
