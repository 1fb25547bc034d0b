"""Host messages in three styles read alike, and are never changed in place."""

import copy
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.messages.content_blocks import ToolCall, ToolResult
from app.core.messages.host_message import HostMessage, Role, _Once
from app.core.messages.timestamps import moment_from

OPENCLAW_CALL = {
    "role": "assistant",
    "content": [{"type": "toolCall", "id": "c1", "name": "ls", "arguments": {"p": "."}}],
}
OPENAI_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"p": "."}'}}],
}
ANTHROPIC_CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {"p": "."}}]}


@pytest.mark.parametrize("message", [OPENCLAW_CALL, OPENAI_CALL, ANTHROPIC_CALL])
def test_tool_calls_of_three_styles(message: dict) -> None:
    assert HostMessage(message).calls == (ToolCall("c1", "ls", {"p": "."}),)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (
            {"role": "toolResult", "toolCallId": "c1", "toolName": "ls", "content": [{"type": "text", "text": "a\nb"}]},
            "ls",
        ),
        ({"role": "tool", "tool_call_id": "c1", "content": "a\nb"}, ""),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a\nb"}]}, ""),
    ],
)
def test_tool_results_of_three_styles(message: dict, name: str) -> None:
    assert HostMessage(message).role is Role.TOOL
    assert HostMessage(message).results == (ToolResult("c1", name, "a\nb", False),)


def test_a_user_message_with_a_result_and_words_is_the_users() -> None:
    content = [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}, {"type": "text", "text": "and now?"}]
    message = HostMessage({"role": "user", "content": content})
    assert message.role is Role.USER
    assert message.text == "and now?"
    assert len(message.results) == 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1795293134722, datetime(2026, 11, 21, 20, 32, 14, 722000, UTC)),
        (1795293134, datetime(2026, 11, 21, 20, 32, 14, tzinfo=UTC)),
        ("1795293134722", datetime(2026, 11, 21, 20, 32, 14, 722000, UTC)),
        ("2026-11-21T20:32:14Z", datetime(2026, 11, 21, 20, 32, 14, tzinfo=UTC)),
        ("2026-11-21T22:32:14+02:00", datetime(2026, 11, 21, 20, 32, 14, tzinfo=UTC)),
        ("2026-11-21", datetime(2026, 11, 21, tzinfo=UTC)),
        ("yesterday", None),
        (True, None),
        (None, None),
        (10**40, None),
        (float("nan"), None),
        ("nan", None),
        ([], None),
    ],
)
def test_time(value: object, expected: datetime | None) -> None:
    assert moment_from(value) == expected
    assert HostMessage({"role": "user", "timestamp": value}).time == expected


READ = [name for name, value in vars(HostMessage).items() if isinstance(value, _Once)]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
keys = st.sampled_from(["role", "content", "timestamp", "tool_calls", "summary", "toolCallId", "type", "text", "x"])
messages = st.dictionaries(keys, json_values, max_size=6)


@given(messages)
def test_any_object_can_be_read_and_stays_as_it_is(message: dict) -> None:
    before = copy.deepcopy(message)
    read = HostMessage(message)
    for name in READ:
        assert getattr(read, name) is getattr(read, name), "it is read once"
    read.with_text_before("x")
    assert repr(message) == repr(before)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("hi", "B hi"),
        (None, "B "),
        ([{"type": "image", "data": "…"}, {"type": "text", "text": "hi", "k": 1}], None),
        ([{"type": "image", "data": "…"}], None),
    ],
)
def test_text_goes_in_front_of_the_users_own(content: object, expected: str | None) -> None:
    changed = HostMessage({"role": "user", "content": content, "id": 7}).with_text_before("B ")
    assert changed.raw["id"] == 7
    assert changed.text.startswith("B ")
    if expected is not None:
        assert changed.raw["content"] == expected
