"""Lines of the contract about `/assemble` that only show when past and recall, or odd messages, come together."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.messages.host_message import HostMessage
from app.core.messages.tokens import estimate_tokens
from tests.http.test_lifecycle import FACT, post, said, turn, user

TOLD = [*FACT, user("Tell me of the garden.", 20), said("It grows. " * 150, 21)]
"""Long enough for a summary to be worth it."""
QUESTION = "Which tea do I prefer, and with what honey?"


@pytest.fixture
def archived(client: TestClient) -> TestClient:
    """A sidecar whose session ``s1`` is archived as a whole, so that its prompt begins with a summary."""
    turn(client, TOLD, prePromptMessageCount=0)
    post(client, "/compact", {"sessionId": "s1"})
    return client


def assemble(client: TestClient, **body: Any) -> dict[str, Any]:
    return post(client, "/assemble", {"sessionId": "s1", **body})


@pytest.mark.parametrize("inject", ["message", "block", "tool_call", "system"])
def test_the_summary_is_no_question(archived: TestClient, inject: str) -> None:
    """It is a `user` message that starts with its heading; nothing goes in front of it, and nobody asks by it."""
    alone = assemble(archived, phase="full", messages=TOLD, inject=inject)
    assert alone["messages"][0]["content"].startswith("[Session History Summary]")
    assert len(alone["messages"]) == 1
    assert (alone["status"], alone["reason"], alone["recall"]["query"]) == ("assembled", "ok", "")
    again = assemble(archived, phase="transform", messages=alone["messages"], inject=inject)
    assert (again["reason"], again["messages"]) == ("non_user_tail", alone["messages"])


def test_a_prompt_behind_the_summary_is_searched_for(archived: TestClient) -> None:
    asked = assemble(archived, phase="full", messages=TOLD, prompt=QUESTION)
    assert asked["recall"]["query"] == QUESTION
    assert "Kyoto" in asked["contextBlock"]
    assert [message["role"] for message in asked["messages"]] == ["user", "assistant"]


def test_what_full_assembled_is_ok_even_if_nothing_was_recalled(archived: TestClient) -> None:
    """`query_too_short` and its like are reasons of a passthrough, and this is none."""
    greeted = assemble(archived, phase="full", messages=[*TOLD, user("hello", 50)])
    assert greeted["messages"][0]["content"].startswith("[Session History Summary]")
    assert (greeted["status"], greeted["reason"]) == ("assembled", "ok")


@pytest.mark.parametrize("inject", ["message", "block", "tool_call", "system"])
@pytest.mark.parametrize("phase", ["preflight", "transform", "full"])
def test_the_tokens_are_those_of_all_that_goes_into_the_prompt(archived: TestClient, phase: str, inject: str) -> None:
    answer = assemble(archived, phase=phase, inject=inject, messages=[*TOLD, user(QUESTION, 50)])
    added = estimate_tokens(answer.get("systemPromptAddition", ""))
    tokens = sum(HostMessage(message).tokens for message in answer["messages"])
    assert answer["estimatedTokens"] == pytest.approx(tokens + added, abs=3)  # parts are rounded up one by one


def test_what_recall_came_to_is_counted_in_full_too(archived: TestClient) -> None:
    assemble(archived, phase="full", messages=[*TOLD, user("hello", 50)])
    metrics = archived.get("/metrics").text
    assert 'sidecar_recall_total{reason="query_too_short"} 1.0' in metrics
    assert 'sidecar_reasons_total{endpoint="/assemble",phase="full",reason="ok"} 1.0' in metrics


def test_a_simulated_call_never_parts_a_call_from_its_result(archived: TestClient) -> None:
    """In Anthropic's style results and question may share a message, which must follow the call directly."""
    messages = [
        {"role": "user", "content": "Look at the shelf."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "a tin"},
                {"type": "text", "text": QUESTION},
            ],
        },
    ]
    answer = assemble(archived, messages=messages, inject="tool_call")
    assert answer["reason"] == "ok"
    *before, last = answer["messages"]
    assert [call.id for call in HostMessage(before[-1]).calls] == ["t1"]
    assert [result.call_id for result in HostMessage(last).results] == ["t1"]
    assert before == messages[:-1]
    assert answer["contextBlock"] in last["content"][1]["text"]
    again = assemble(archived, messages=answer["messages"], inject="tool_call")
    assert (again["reason"], again["messages"]) == ("already_injected", answer["messages"])
