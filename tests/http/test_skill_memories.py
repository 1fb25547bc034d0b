"""Skill memories over HTTP and on both backends: learnt from turns, shown behind the file's own text, never stored."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start
from tests.http.test_session_start import begun, preflight, shown
from tests.scan import places_of

HOW_TO = "---\nname: slides\n---\n# Slides\n\n\tBuild them with `make slides`.\n\n"
PATH = "/workspace/skills/slides/SKILL.md"
AT = 1_795_298_000_000


def called(number: int, name: str, output: str, *, failed: bool = False, **arguments: Any) -> list[dict[str, Any]]:
    call = {"type": "toolCall", "id": f"c{number}", "name": name, "arguments": arguments}
    result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": name, "content": output, "isError": failed}
    return [{"role": "assistant", "content": [call]}, result]


def used(client: TestClient, session: str, task: str, *calls: list[dict[str, Any]], shows: str = HOW_TO) -> None:
    """A turn in which the skill is read and then these calls are made."""
    messages = [{"role": "user", "content": task}, *called(0, "read", shows, path=PATH)]
    messages += [message for one in calls for message in one]
    messages = [{**message, "timestamp": AT + place} for place, message in enumerate(messages)]
    body = {"sessionId": session, "messages": messages, "wait": True}
    assert client.post("/after-turn", json=body).json()["status"] == "committed"


FAILED = called(1, "exec", "Error: image over 10 MB", failed=True, command="make slides", image="big.png")
MENDED = called(2, "exec", "ok", command="make slides", image="small.png")


def loaded(client: TestClient, **fields: Any) -> dict[str, Any]:
    """The answer for the file as the last message."""
    body = {"sessionId": "reader", "agentId": "main", "triggerHint": "skill_load"}
    messages = called(9, "read", HOW_TO, path=PATH)
    answer = client.post("/assemble", json={**body, "messages": messages, **fields})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_reading_a_skill_shows_what_was_learnt_behind_its_own_text(sidecar: Callable[..., TestClient]) -> None:
    client = sidecar()
    assert "contextBlock" not in loaded(client)
    used(client, "s1", "Make the Q3 slides. Remember: always end with a summary slide.", FAILED, MENDED)
    used(client, "s2", "Make the Q4 slides.", FAILED)
    for answer in (loaded(client), loaded(client, toolCall={"name": "read", "arguments": {"path": PATH}})):
        assert answer["reason"] == "ok" and answer["status"] == "assembled"
        assert answer["contextBlock"] == (
            "<openviking-context>\n## Skill Memory: slides\n- Used 2 times, 50% success\n### Examples\n"
            "- 2026-11-21: Make the Q3 slides. Remember: always end with a summary slide.\n"
            "### Tips\n- always end with a summary slide.\n"
            "### Known Issues\n- exec: Error: image over # MB (2 times); mended by image=small.png\n"
            "</openviking-context>"
        )
        result = answer["messages"][-1]["content"]
        assert result == f"{HOW_TO}\n\n{answer['contextBlock']}"
        [item] = answer["recall"]["items"]
        assert (item["uri"], item["section"]) == ("skill://slides", "skills")
    told = loaded(client, messages=[], toolCall={"name": "exec", "arguments": {"command": f"cat {PATH}"}})
    assert "Used 2 times" in told["contextBlock"] and told["messages"] == []
    for other in ({"agentId": "another"}, {"toolCall": {"name": "read", "arguments": {"path": "/skills/x/SKILL.md"}}}):
        assert "contextBlock" not in loaded(client, **other)
    assert "Q3" not in loaded(client, chatType="group")["contextBlock"], "what users said stays in private chats"
    assert "Used 2 times" in loaded(sidecar(recall={"enabled": False}))["contextBlock"]


def test_what_is_shown_of_a_skill_is_not_stored(sidecar: Callable[..., TestClient], tmp_path: Path) -> None:
    client = sidecar()
    used(client, "s1", "Make the Q3 slides.", MENDED)
    used(client, "s2", "Make the Q4 slides.", MENDED, shows=loaded(client)["messages"][-1]["content"])
    assert "Used 2 times, 100% success" in loaded(client)["contextBlock"]
    assert places_of(tmp_path / "data", "Build them with") != []
    assert places_of(tmp_path / "data", "Skill Memory", "openviking-context") == []


def test_what_is_forgotten_is_not_told_of_a_skill(sidecar: Callable[..., TestClient]) -> None:
    client = sidecar()
    used(client, "s1", "Make the Q3 slides.", MENDED)
    used(client, "s2", "Make the Q4 slides.", MENDED)
    client.post("/memories/forget", json={"session": "s1", "dryRun": False})
    text = loaded(client)["contextBlock"]
    assert "Used once" in text and "Q4" in text and "Q3" not in text


def test_a_rule_masks_what_was_learnt_before_it(start: Start) -> None:
    used(start(), "s1", "Mail the slides to mia@example.com.", MENDED)
    told = loaded(start(policy={"rules": {"email": "mask"}}))["contextBlock"]
    assert "mia@example.com" not in told and "[email removed]" in told


def test_switched_off_nothing_is_shown(start: Start) -> None:
    client = start(recall={"skills": False})
    used(client, "s1", "Make the Q3 slides.", MENDED)
    answer = loaded(client)
    assert "contextBlock" not in answer and answer["messages"] == called(9, "read", HOW_TO, path=PATH)


def test_only_counts_are_told_where_persons_are_kept_apart(start: Start) -> None:
    client = start(routing={"peer_role": "person"})
    messages = [{"role": "user", "content": "Make the Q3 slides."}, *called(0, "read", HOW_TO, path=PATH), *MENDED]
    client.post("/after-turn", json={"sessionId": "s1", "senderId": "mia", "messages": messages})
    told = loaded(client, senderId="tom")["contextBlock"]
    assert "Used once, 100% success" in told and "Q3" not in told and "small" not in told


def test_a_large_request_is_told_the_same(start: Start) -> None:
    client = start()
    used(client, "s1", "Make the Q3 slides.", MENDED)
    much = [{"role": "user", "content": "x" * 700_000}, *called(9, "read", HOW_TO, path=PATH)]
    told = loaded(client, messages=much, toolCall={"name": "read", "arguments": {"path": PATH}}, deadlineMs=60_000)
    assert "Used once" in told["contextBlock"] and told["messages"][-1]["content"].startswith(HOW_TO)


def test_the_start_of_a_session_is_as_before(start: Start) -> None:
    client = start(start={"profile": False})
    used(client, "s1", "Make the Q3 slides.", MENDED)
    assert shown(begun(client, "next")) == "" and shown(preflight(client, "next")) == ""


@pytest.mark.parametrize("name", ["\ud800", "a\x00b", "%00"])
def test_any_name_of_a_skill_is_answered(service: TestClient, name: str) -> None:
    call = {"name": "read", "arguments": {"path": f"skills/{name}/SKILL.md"}}
    body = {"sessionId": "s", "triggerHint": "skill_load", "toolCall": call}
    answer = service.post("/assemble", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code == 200, answer.text


def test_white_space_in_a_skills_name_does_not_matter(sidecar: Callable[..., TestClient]) -> None:
    client, path = sidecar(), "skills/my  slides/SKILL.md"
    messages = [{"role": "user", "content": "Slides, please."}, *called(0, "read", HOW_TO, path=path), *MENDED]
    client.post("/after-turn", json={"sessionId": "one", "agentId": "main", "messages": messages, "wait": True})
    assert "Used once" in loaded(client, toolCall={"name": "read", "arguments": {"path": path}})["contextBlock"]
