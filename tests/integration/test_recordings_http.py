"""The recorded turns of a real OpenClaw go through all endpoints without an error, and every answer keeps the rules."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.factory import create_app
from app.settings import Settings
from tests.integration.conftest import RIG_DIR
from tests.rules import check_rules

RECORDING = RIG_DIR / "openclaw" / "recordings" / "turns.jsonl"

pytestmark = [
    pytest.mark.rig,
    pytest.mark.skipif(not RECORDING.exists(), reason=f"no recorded turns at {RECORDING}; set RIG_DIR"),
]

SCOPE = ("sessionId", "sessionKey", "agentId", "runtimeContext", "tokenBudget")


def recorded() -> list[tuple[str, dict[str, Any]]]:
    turns = [json.loads(line) for line in RECORDING.read_text(encoding="utf-8").splitlines()]
    return [(turn["id"], call) for turn in turns for call in turn["calls"]]


def test_every_recorded_call_is_answered_within_the_rules(tmp_path: Path) -> None:
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path / "data",
        log_level="error",
        experience={"enabled": True},
        capture={
            "remember_interval_seconds": 1e12
        },  # no commit in the background: it adds memories between two answers
    )
    counted = dict.fromkeys(("assemble", "before_prompt_build", "commitTurn", "compact"), 0)
    with TestClient(create_app(settings)) as client:

        def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
            answer = client.post(path, json=body)
            assert answer.status_code == 200, (turn, path, answer.text)
            decoded: dict[str, Any] = answer.json()
            return decoded

        def assemble(body: dict[str, Any]) -> dict[str, Any]:
            return post("/assemble", body)

        for turn, call in recorded():
            name, params = call["call"], call.get("params") or {}
            scope = {key: params[key] for key in SCOPE if params.get(key) is not None}
            match name:
                case "assemble":
                    more = {key: params[key] for key in ("messages", "prompt", "availableTools") if key in params}
                    answer = check_rules(assemble, {**scope, **more})
                    assert answer["recall"] is None
                    check_rules(assemble, {**scope, "messages": params["messages"], "phase": "transform"})
                case "before_prompt_build":
                    context = {
                        key: call["ctx"][key] for key in ("sessionId", "sessionKey", "agentId") if key in call["ctx"]
                    }
                    prompt = {"role": "user", "content": call["event"]["prompt"]}
                    for inject in ("message", "block", "tool_call", "system"):
                        body = {**context, "messages": [*call["event"]["messages"], prompt], "inject": inject}
                        check_rules(assemble, {**body, "phase": "transform"})
                case "commitTurn":
                    keys = ("messages", "advancementKey", "isHeartbeat")
                    body = {**scope, **{key: params[key] for key in keys if key in params}, "wait": True}
                    answer = post("/after-turn", {**body, "prePromptMessageCount": 0})
                    expected = "skipped" if params.get("isHeartbeat") else "committed"
                    assert answer["status"] in {expected, "duplicate"}, (turn, answer)
                case "compact":
                    keys = ("currentTokenCount", "compactionTarget", "force", "customInstructions")
                    answer = post(
                        "/compact", {**scope, **{key: params[key] for key in keys if params.get(key) is not None}}
                    )
                    assert answer["reason"] in {"commit_completed", "commit_no_archive", "session_not_found"}, answer
                case _:
                    continue
            counted[name] += 1
    assert min(counted.values()) > 0, counted
