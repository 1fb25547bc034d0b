"""What the embedded engine's session files say beside messages: whose child, what kind of chat, what it used."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.settings import GuardSettings
from tests.http.conftest import Start
from tests.http.test_lifecycle import post

PARENT = "0b5c3a0e-7a0e-4a53-9a53-3f1f6a1f9d10"


def told(client: TestClient, number: int, **more: Any) -> dict[str, Any]:
    reply = {"role": "assistant", "content": f"Crate {number} is on the quay.", **more.pop("reply", {})}
    messages = [{"role": "user", "content": f"Where is crate {number}?"}, reply]
    body = {"sessionId": "child", "messages": messages, "prePromptMessageCount": 0, "advancementKey": f"k{number}"}
    return post(client, "/after-turn", {**body, "wait": True, "tokenBudget": 2_000, **more})


def entries(tmp_path: Path) -> list[dict[str, Any]]:
    (path,) = (tmp_path / "data").rglob("child.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def glance(tmp_path: Path) -> dict[str, Any]:
    (path,) = (tmp_path / "data").rglob("child.meta.json")
    return dict(json.loads(path.read_text()))


def test_they_say_parent_chat_type_usage_and_flush(start: Start, tmp_path: Path) -> None:
    client = start(guards=GuardSettings(flush=True))
    used = {"input": 900, "cacheRead": 100, "output": 30, "totalTokens": 1_030}
    told(client, 1, parentSession=PARENT, chatType="group", reply={"usage": used})
    header, *messages = entries(tmp_path)
    assert (header["type"], header["parentSession"], header["chatType"]) == ("session", PARENT, "group")
    assert [message.get("usage") for message in messages] == [None, {"inputTokens": 1_000, "outputTokens": 30}]

    due = told(client, 2, usage={"prompt_tokens": 1_700, "completion_tokens": 20})
    assert due["flush"]["due"]
    told(client, 3)
    noted = [entry for entry in entries(tmp_path) if entry["type"] == "session_info"]
    assert [entry["memoryFlushCompactionCount"] for entry in noted] == [0]
    assert noted[0]["memoryFlushAt"].startswith("20")

    post(client, "/compact", {"sessionId": "child", "tokenBudget": 2_000})
    seen = glance(tmp_path)
    assert (seen["parentSession"], seen["chatType"], seen["compactionCount"]) == (PARENT, "group", 1)
    assert (seen["inputTokens"], seen["outputTokens"], seen["contextTokens"]) == (2_700, 50, 1_720)
    assert (seen["memoryFlushAt"], seen["memoryFlushCompactionCount"]) == (noted[0]["memoryFlushAt"], 0)


def test_what_is_told_later_is_noted_once_and_never_taken_back(start: Start, tmp_path: Path) -> None:
    client = start()
    told(client, 1)
    told(client, 2, runtimeContext={"parentSession": PARENT, "chatType": "private"})
    told(client, 3)
    told(client, 4, runtimeContext={"parentSession": PARENT})
    read = entries(tmp_path)
    assert "parentSession" not in read[0] and "chatType" not in read[0]
    noted = [entry for entry in read if entry["type"] == "session_info"]
    assert [(entry["parentSession"], entry["chatType"]) for entry in noted] == [(PARENT, "private")]
    post(client, "/compact", {"sessionId": "child"})
    seen = glance(tmp_path)
    assert (seen["parentSession"], seen["chatType"], seen["memoryFlushAt"]) == (PARENT, "private", None)
    assert seen["inputTokens"] == seen["outputTokens"] == 0


@pytest.mark.parametrize("field", ["parentSession", "chatType"])
def test_what_is_no_text_is_refused_by_name(start: Start, field: str) -> None:
    answer = start().post("/after-turn", json={"sessionId": "s", "messages": [], field: 7})
    assert answer.status_code == 400
    assert [problem["field"] for problem in answer.json()["errors"]] == [field]
