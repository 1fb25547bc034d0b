"""Scheduled runs and sub-agents teach experiences, and nothing of them becomes personal memory (embedded engine)."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start

TASK = "Deploy the harbour service to the staging cluster."
ERROR = "Error: the staging cluster refused the harbour image: tag missing"


def ran(client: TestClient, session_key: str) -> None:
    """A run of the task that fails, is tried again with a tag, and works; what it says of its user is private."""
    calls = [
        ("c1", {"command": "deploy harbour staging"}, ERROR, True),
        ("c2", {"command": "deploy harbour staging --tag v7"}, "deployed", False),
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"I live in Turin. {TASK}"}]
    for name, arguments, output, failed in calls:
        call = {"type": "toolCall", "id": name, "name": "exec", "arguments": arguments}
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "toolResult", "toolCallId": name, "content": output, "isError": failed})
    messages.append({"role": "assistant", "content": "Deployed, because the tag was missing before."})
    body = {"sessionKey": session_key, "messages": messages, "wait": True}
    assert client.post("/after-turn", json=body).json()["delivery"] == "delivered"
    client.post("/compact", json={"sessionKey": session_key, "deadlineMs": 60_000})


def recalled(client: TestClient, text: str) -> str:
    body = {"sessionId": "asks", "agentId": "main", "inject": "block", "messages": [{"role": "user", "content": text}]}
    return str(client.post("/assemble", json=body).json().get("contextBlock"))


@pytest.mark.parametrize("key", ["agent:main:cron:nightly:run:1", "agent:main:subagent:1"])
def test_they_teach_experiences_and_nothing_else(start: Start, key: str) -> None:
    client = start(experience={"enabled": True}, limits={"assemble_ms": 60_000})
    ran(client, key)
    assert "--tag v7" in recalled(client, TASK)
    assert [one["text"] for one in client.get("/memories").json()["memories"] if "Turin" in one["text"]] == []
    assert "Turin" not in recalled(client, "Where do I live?")
    started = client.post("/sessions/start", json={"sessionId": "next", "agentId": "main"}).json()
    assert "Turin" not in str(started.get("systemPromptAddition"))


@pytest.mark.parametrize(
    "off",
    [
        {"capture": {"automation_experiences": False}, "experience": {"enabled": True}},
        {"experience": {"enabled": False}},
    ],
)
def test_without_the_setting_they_teach_nothing(start: Start, off: dict[str, Any]) -> None:
    ran(start(**off, limits={"assemble_ms": 60_000}), "agent:main:cron:nightly:run:1")
    assert "--tag" not in recalled(start(experience={"enabled": True}, limits={"assemble_ms": 60_000}), TASK)


def test_what_they_do_in_a_chat_is_remembered_as_before(start: Start) -> None:
    client = start(experience={"enabled": True}, limits={"assemble_ms": 60_000})
    ran(client, "agent:main:chat")
    assert "--tag v7" in recalled(client, TASK)
    assert any("Turin" in one["text"] for one in client.get("/memories").json()["memories"])
