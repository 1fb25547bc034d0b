"""Flush: told once before each compaction, on disk before it is told, and only where it is switched on."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from app.settings import GuardSettings
from tests.http.conftest import Start
from tests.http.test_lifecycle import post

ON = GuardSettings(flush=True)
BUDGET = 2_000
LONG = [
    {"role": role, "content": f"Line {number} of a long talk about the harbour and its cranes. " * 12}
    for number in range(5)
    for role in ("user", "assistant")
]


def assembled(client: TestClient, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    body = {"sessionId": "s", "phase": "preflight", "messages": messages, "tokenBudget": BUDGET, **more}
    return post(client, "/assemble", body)


def told(client: TestClient, text: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
    body = {"sessionId": "s", "messages": messages, "tokenBudget": BUDGET, "prePromptMessageCount": 0, **more}
    return post(client, "/after-turn", body)


def test_preflight_tells_it_once_until_the_next_compaction_and_across_a_restart(start: Start) -> None:
    client = start(guards=ON)
    first = assembled(client, LONG)
    assert first["flush"]["due"] is True
    assert "memory_store" in first["flush"]["prompt"] and "compaction" in first["flush"]["systemPrompt"]
    assert "flush" not in assembled(client, LONG)
    assert "flush" not in told(client, "More of the same. " * 200)
    again = start(guards=ON)
    assert "flush" not in assembled(again, LONG)
    post(again, "/compact", {"sessionId": "s", "tokenBudget": BUDGET})
    assert "flush" not in assembled(again, LONG[-2:])
    assert "flush" in assembled(again, LONG)


def test_a_turn_tells_it_when_what_came_since_the_last_prompt_fills_the_window(start: Start) -> None:
    client = start(guards=ON)
    told(client, "Hello there.", advancementKey="k0")
    shown = assembled(client, LONG[:4])
    assert "flush" not in shown and shown["estimatedTokens"] < BUDGET // 2
    assert "flush" not in told(client, "A few words.", advancementKey="k1")
    assert told(client, "The crane lifts the crate. " * 300, advancementKey="k2")["flush"]["due"] is True
    assert "flush" not in told(client, "The crane lifts the crate. " * 300, advancementKey="k3")
    post(client, "/sessions/reset", {"sessionId": "s"})
    assert "flush" not in told(client, "Good morning.", advancementKey="k4")
    assert "flush" in told(client, "The crane lifts the crate. " * 300, advancementKey="k5")


def test_what_the_host_measured_counts_more_than_what_we_estimate(start: Start) -> None:
    client = start(guards=ON)
    assert "flush" not in told(client, "Hello.", advancementKey="a", usage={"inputTokens": 1_200, "outputTokens": 40})
    assert "flush" in told(
        client, "Hello again.", advancementKey="b", usage={"input_tokens": 1_700, "output_tokens": 9}
    )


def test_it_is_off_unless_switched_on(start: Start) -> None:
    client = start()
    assert "flush" not in assembled(client, LONG)
    assert "flush" not in told(client, "More. " * 3_000)


def test_a_heartbeat_tells_nothing(start: Start) -> None:
    client = start(guards=ON)
    assert "flush" not in told(client, "The crane lifts the crate. " * 300, isHeartbeat=True)


@pytest.mark.parametrize("usage", [7, "many", [1]])
def test_usage_that_is_no_object_is_refused_by_name(start: Start, usage: Any) -> None:
    answer = start().post("/after-turn", json={"sessionId": "s", "messages": [], "usage": usage})
    assert answer.status_code == 400
    assert [problem["field"] for problem in answer.json()["errors"]] == ["usage"]


def test_a_host_that_measures_more_gets_shorter_prompts_and_says_the_same_bytes(start: Start) -> None:
    """Replies carry what their requests used: a third more than the estimates say."""
    client = start()
    plain = assembled(client, LONG, sessionId="measured")
    output = "The crane lifts crate after crate. " * 150
    for number in range(8):
        grown = 5_000 + 1_700 * number
        messages = [
            {"role": "user", "content": f"Go on with {number}."},
            {"role": "assistant", "content": "Yes.", "usage": {"input": grown, "output": 4}},
            {"role": "user", "content": output},
            {"role": "assistant", "content": "Done.", "usage": {"input": grown + 1_600, "output": 4}},
        ]
        body = {
            "sessionId": "measured",
            "messages": messages,
            "prePromptMessageCount": 0,
            "advancementKey": f"k{number}",
        }
        post(client, "/after-turn", body)
    later = [assembled(client, LONG, sessionId="measured", tokenBudget=100_000) for _ in range(2)]
    assert later[0]["estimatedTokens"] > plain["estimatedTokens"] * 1.1
    assert later[0]["messages"] == later[1]["messages"]
