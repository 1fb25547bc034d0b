"""What a message was read to be is kept for its JSON, within bounds, and is what reading it anew would give."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.json.encoding import encode
from app.core.messages import reading_cache as module
from app.core.messages.reading_cache import Conversation, Readings
from app.core.messages.tokens import message_tokens
from app.recall.shown import said_before

HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "Please run the import, 请运行导入", "timestamp": 1_760_000_000_000},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "Running."}, {"type": "toolCall", "id": "c", "name": "exec"}],
    },
    {"role": "toolResult", "toolCallId": "c", "content": [{"type": "text", "text": "done in 3 s"}]},
    {"role": "user", "content": "half an emoji \ud83d"},
    {"role": "user", "content": "Which import was it?"},
]

texts = st.text(alphabet=st.characters(), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every message that is read anew from now on."""
    read: list[Any] = []
    monkeypatch.setattr(module, "message_tokens", lambda message: (read.append(message), message_tokens(message))[1])
    return read


def test_a_history_that_comes_again_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = Readings()
    readings.read(HISTORY)
    read = counted(monkeypatch)
    again = json.loads(json.dumps(HISTORY))
    new = {"role": "user", "content": "And when?"}
    conversation = readings.read([*again, new])
    assert conversation.tokens([*again, new]) == sum(map(message_tokens, [*HISTORY, new]))
    assert read == [new]


def test_a_reading_is_what_the_message_says() -> None:
    readings = Readings()
    for _ in range(2):
        conversation = readings.read(HISTORY)
        assert conversation.tokens(HISTORY) == sum(map(message_tokens, HISTORY))
        assert json.loads(conversation.json(HISTORY)) == HISTORY
        assert said_before(HISTORY, conversation.said) == said_before(HISTORY)


def test_any_change_of_a_message_is_another_reading() -> None:
    readings = Readings()
    readings.read(HISTORY)
    changed = [{**HISTORY[0], "timestamp": 1_760_000_000_001}, {**HISTORY[1], "content": []}]
    conversation = readings.read(changed)
    assert json.loads(conversation.json(changed)) == changed
    assert conversation.tokens(changed) == sum(map(message_tokens, changed))


def test_a_message_that_was_put_in_is_read_when_it_is_met() -> None:
    conversation = Readings().read(HISTORY)
    injected = {"role": "user", "content": "<context/> Which import was it?"}
    assert json.loads(conversation.json([*HISTORY[:-1], injected])) == [*HISTORY[:-1], injected]
    assert Conversation(HISTORY).tokens([injected]) == message_tokens(injected)


def test_the_least_recently_used_go_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = Readings(max_bytes=20_000)
    for number in range(200):
        readings.read([HISTORY[0], {"role": "user", "content": f"message {number}"}])
    assert readings.bytes <= 20_000
    read = counted(monkeypatch)
    readings.read([HISTORY[0], {"role": "user", "content": "message 199"}])
    assert not read
    readings.read([{"role": "user", "content": "message 0"}])
    assert len(read) == 1


def test_one_message_larger_than_all_room_is_read_and_not_kept() -> None:
    readings = Readings(max_bytes=1_000)
    large = [{"role": "user", "content": "x" * 5_000}]
    assert readings.read(large).tokens(large) == message_tokens(large[0])
    assert readings.bytes == 0


@given(values)
def test_whatever_json_is_written_reads_back_the_same(value: Any) -> None:
    assert json.loads(encode(value)) == value


def test_nesting_deeper_than_the_fast_encoder_goes_is_written_all_the_same() -> None:
    deep: Any = "end"
    for _ in range(400):
        deep = [deep]
    assert json.loads(encode(deep)) == deep


def test_what_takes_long_to_read_is_left_unread_and_known_to_be() -> None:
    small, huge = {"role": "user", "content": "hi"}, {"role": "user", "content": "x" * module.AT_ONCE_BYTES}
    assert not Readings().read([small] * module.AT_ONCE_MESSAGES).has_unread
    assert Readings().read([small] * (module.AT_ONCE_MESSAGES + 1)).has_unread
    readings = Readings()
    conversation = readings.read([small, huge])
    assert conversation.has_unread
    assert readings.bytes < module.AT_ONCE_BYTES
    assert conversation.tokens([small, huge]) == message_tokens(small) + message_tokens(huge)
