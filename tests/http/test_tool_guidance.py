"""Guidance for a tool call, over HTTP: what was learnt from calls like it, for this call and for no other."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.identity import Tenant
from app.embedded.storage.layout import user_dir
from tests.http.conftest import Start
from tests.http.test_memories import store

LESSON = """# Plugin write guard

## Situation
- Writing the after turn file of the OpenClaw plugin.

## Approach
- Strip the injected block before the turn file is written.

## Reflect
- A block that is written back is stored again.
"""
CALL = {
    "name": "write_file",
    "arguments": {"path": "plugin/after_turn.ts", "content": "export function afterTurn() {}"},
}
READ = {
    "role": "assistant",
    "content": [{"type": "toolCall", "id": "c1", "name": "write_file", "arguments": CALL["arguments"]}],
}
RESULT = {"role": "toolResult", "toolCallId": "c1", "content": "Written: the after turn file of the plugin."}


@pytest.fixture
def client(start: Start, tmp_path: Path) -> TestClient:
    # Before the start: a file that a person puts there later is noticed later, too.
    lessons = user_dir(tmp_path / "data", Tenant()) / "memories" / "experiences"
    lessons.mkdir(parents=True)
    (lessons / "plugin-write-guard.md").write_text(LESSON)
    client = start(experience={"enabled": True}, limits={"assemble_ms": 60_000})
    store(client, "I prefer to write the after turn file of the plugin in TypeScript.")
    return client


def asked(client: TestClient, **fields: Any) -> dict[str, Any]:
    answer = client.post("/assemble", json={"sessionId": "s", "triggerHint": "write_preflight", **fields})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_a_sub_agent_that_begins_is_told_what_its_parent_knows(client: TestClient) -> None:
    store(
        client,
        "The plugin of the after turn file is called Nimbus.",
        sessionId="p",
        agentId="planner",
        **{"for": "peer"},
    )
    body = {
        "sessionKey": "agent:worker:subagent:1",
        "parentSession": "agent:planner:main",
        "messages": [
            {"role": "user", "content": "Write the after turn file of the plugin. What is the plugin called?"}
        ],
    }

    def block(**fields: Any) -> str:
        return str(client.post("/assemble", json={**body, **fields}).json().get("contextBlock"))

    told = block(triggerHint="subagent_start")
    assert "Nimbus" in told and "Strip the injected block" in told
    assert "Nimbus" not in block(), "from its second prompt on it is an agent of its own"
    assert "Nimbus" not in block(triggerHint="subagent_start", parentSession="agent:third:main")


def test_the_turn_that_sent_a_sub_agent_does_not_outdo_what_helps_it(start: Start) -> None:
    client = start(limits={"assemble_ms": 60_000})
    store(client, "The harbour log file of the day is written into the blue folder.")
    task = "Write the harbour log file of the day.\nSay when it is done."
    call = {"type": "toolCall", "id": "c1", "name": "sessions_spawn", "arguments": {"task": task}}
    sent = [{"role": "user", "content": f"Send a kid: {task}"}, {"role": "assistant", "content": [call]}]
    client.post("/after-turn", json={"sessionId": "parent", "agentId": "main", "messages": sent, "wait": True})
    body = {"sessionKey": "agent:main:subagent:1", "triggerHint": "subagent_start", "inject": "block"}
    told = client.post("/assemble", json={**body, "messages": [{"role": "user", "content": task}]}).json()
    assert "blue folder" in told["contextBlock"] and "Send a kid" not in told["contextBlock"]


def test_a_call_gets_what_was_learnt_from_calls_like_it(client: TestClient) -> None:
    for more in ({}, {"availableTools": ["write_file"]}, {"messages": [{"role": "user", "content": "Go on."}]}):
        answer = asked(client, toolCall=CALL, inject="block", **more)
        assert answer["contextBlock"].startswith("<openviking-context>\n## Agent Experiences\n")
        assert "Strip the injected block" in answer["contextBlock"] and "TypeScript" not in answer["contextBlock"]
        assert (
            answer["messages"] == more.get("messages", []) and answer["recall"]["gate"]["trigger"] == "write_preflight"
        )


def test_behind_a_result_the_block_follows_its_text(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = asked(client, messages=[READ, RESULT])
    assert answer["messages"] == [READ, {**RESULT, "content": f"{RESULT['content']}\n\n{answer['contextBlock']}"}]
    again = asked(client, messages=answer["messages"])
    assert again["messages"] == answer["messages"]
    turn = {"sessionId": "s", "messages": answer["messages"], "wait": True}
    assert client.post("/after-turn", json=turn).json()["status"] == "committed"
    [stored] = (tmp_path / "data").glob("accounts/*/*/sessions/*.jsonl")
    assert RESULT["content"] in stored.read_text() and "Strip the injected" not in stored.read_text()


def test_a_call_that_nothing_was_learnt_from_gets_nothing(client: TestClient) -> None:
    answer = asked(client, toolCall={"name": "create_note", "arguments": {"path": "recipes/soup.md"}})
    assert "contextBlock" not in answer and answer["messages"] == []
    bad = client.post("/assemble", json={"sessionId": "s", "toolCall": {"name": 7}})
    assert bad.status_code == 400 and bad.json()["errors"][0]["field"] == "toolCall.name"
