"""`style` of `/assemble`: messages that a provider takes, from a host that sends what it has."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.test_lifecycle import post, turn

THINKING = {"type": "thinking", "thinking": "The person wants the list. " * 40, "signature": "c2ln"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "exec", "input": {"command": "ls"}}


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def assembled(client: TestClient, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    body = {"sessionId": "styled", "phase": "preflight", "messages": messages, **more}
    return dict(post(client, "/assemble", body))


BROKEN = [
    said("user", "list the files"),
    said("assistant", [THINKING, CALL]),
    said("user", "and be quick"),
    said("user", [{"type": "text", "text": "please"}]),
    said("assistant", [{"type": "text", "text": "sorry, that broke off"}]),
    said("assistant", [{"type": "text", "text": " "}]),
    said("user", "again?"),
]


def test_without_a_style_and_for_openclaw_nothing_is_mended(client: TestClient) -> None:
    for more in ({}, {"style": "openclaw"}):
        answer = assembled(client, BROKEN, **more)
        assert answer["messages"] == BROKEN and answer["status"] == "passthrough"


def test_anthropic_gets_answered_calls_and_sides_in_turn(client: TestClient) -> None:
    plain = assembled(client, BROKEN)
    answer = assembled(client, BROKEN, style="anthropic")
    messages = answer["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert messages[1]["content"] == [CALL]
    results, *rest = messages[2]["content"]
    assert (results["type"], results["tool_use_id"], results["is_error"]) == ("tool_result", "toolu_1", True)
    assert [block["text"] for block in rest] == ["and be quick", "please"]
    assert (answer["status"], answer["reason"]) == ("assembled", "ok")
    assert answer["estimatedTokens"] < plain["estimatedTokens"] - 150
    again = assembled(client, messages, style="anthropic")
    assert again["messages"] == messages and again["status"] == "passthrough"


@pytest.mark.parametrize("style", ["openai", "anthropic", "gemini"])
def test_the_history_and_recall_are_mended_too(client: TestClient, style: str) -> None:
    spoken = [said("user", "We ship Atlas on Friday."), said("assistant", "Friday it is. " * 60)]
    turn(client, spoken, prePromptMessageCount=0, sessionId="styled")
    post(client, "/compact", {"sessionId": "styled"})
    answer = assembled(
        client, [*spoken, said("user", "When?"), said("user", "Atlas, I mean.")], style=style, phase="full"
    )
    roles = [message["role"] for message in answer["messages"]]
    asked = ["user", "user"] if style == "openai" else ["user"]
    assert roles == ["user", "assistant", *asked]
    assert answer["messages"][0]["content"].startswith("[Session History Summary]")
    assert "When?" in str(answer["messages"][2:]) and "Atlas, I mean." in str(answer["messages"][-1])


def test_a_style_that_is_not_known_is_named(client: TestClient) -> None:
    answer = client.post("/assemble", json={"sessionId": "styled", "messages": [], "style": "claude"})
    assert answer.status_code == 400
    assert [problem["field"] for problem in answer.json()["errors"]] == ["style"]
