"""In `full` the whole answer fits the budget: the history, what the session began with, and what is recalled."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.core.messages.host_message import tokens_of
from app.core.messages.tokens import estimate_tokens
from tests.http.test_lifecycle import post
from tests.messages import typed

FACTS = (
    "I drink oolong tea in the morning.",
    "My tea comes from Kyoto, and the shop is called Ippodo.",
    "我早上喝乌龙茶，茶叶来自京都的一家老店。",
    "The teapot that I like best is a green one of cast iron, and my grandmother gave it to me when I was twelve.",
)
QUESTION = "Which tea do I drink in the morning, and where does my tea come from? 我早上喝什么茶？"
BEGUN, PLAIN = "begun", "plain"

SAID = st.tuples(st.sampled_from(["word ", "茶叶", "x", "Why so? "]), st.integers(1, 400))
HISTORIES = st.lists(st.tuples(SAID, SAID), max_size=12)


@pytest.fixture(scope="module")
def told(service: TestClient) -> TestClient:
    """The shared sidecar, with facts about the user and a session that began with them."""
    for fact in FACTS:
        assert service.post("/memories", json={"text": fact}).status_code == 201
    assert post(service, "/sessions/start", {"sessionId": BEGUN, "tokenBudget": 100_000})["systemPromptAddition"]
    return service


def asked(history: list[Any], inject: str, session: str, budget: int) -> dict[str, Any]:
    said = [
        {"role": role, "content": text * times}
        for pair in history
        for role, (text, times) in zip(("user", "assistant"), pair, strict=True)
    ]
    messages = [*said, {"role": "user", "content": QUESTION}]
    return {"sessionId": session, "phase": "full", "inject": inject, "tokenBudget": budget, "messages": messages}


def tokens_in(answer: dict[str, Any], inject: str) -> int:
    """What of the prompt is in the answer; a block that no message holds is put there by the host."""
    beside = answer.get("contextBlock", "") if inject == "block" else ""
    addition = answer.get("systemPromptAddition", "")
    return tokens_of(typed(answer["messages"])) + estimate_tokens(addition) + estimate_tokens(beside)


@settings(suppress_health_check=list(HealthCheck))
@given(
    HISTORIES,
    st.sampled_from(["message", "block", "tool_call", "system"]),
    st.sampled_from([BEGUN, PLAIN]),
    st.integers(60, 600) | st.integers(600, 4_000),
)
def test_the_whole_answer_fits(told: TestClient, history: list[Any], inject: str, session: str, budget: int) -> None:
    answer = post(told, "/assemble", asked(history, inject, session, budget))
    assert answer["messages"][-1]["content"].endswith(QUESTION)
    assert tokens_in(answer, inject) <= budget and answer["estimatedTokens"] <= budget


@pytest.mark.parametrize("inject", ["message", "block", "tool_call", "system"])
def test_a_full_history_leaves_room_for_the_block(told: TestClient, inject: str) -> None:
    history = [(("word ", 60), ("Why so? ", 30))] * 40
    answer = post(told, "/assemble", asked(history, inject, PLAIN, 2_000))
    assert "oolong" in answer["contextBlock"] and answer["recall"]["items"]
    assert tokens_in(answer, inject) <= 2_000


def test_where_there_is_room_for_some_the_best_are_shown(told: TestClient) -> None:
    whole = post(told, "/assemble", asked([], "message", PLAIN, 4_000))
    tight = post(told, "/assemble", asked([], "message", PLAIN, tokens_of(typed(whole["messages"])) - 1))
    best, *others = [item["uri"] for item in whole["recall"]["items"]]
    shown = [item["uri"] for item in tight["recall"]["items"]]
    assert 0 < len(shown) <= len(others) and best in shown
    trace = told.get(f"/recalls/{tight['recall']['traceId']}").json()
    verdicts = {candidate["uri"]: candidate["verdict"] for candidate in trace["candidates"]}
    assert {uri for uri, verdict in verdicts.items() if verdict == "kept"} == set(shown)
    assert "over_budget" in verdicts.values()
