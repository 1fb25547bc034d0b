"""Messages that come again are those that were read before, within bounds, and what is large is left unread."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.json.encoding import encode
from app.core.messages import reading_cache as module
from app.core.messages.host_message import HostMessage, Role, encode_messages
from app.core.messages.reading_cache import Readings, are_large, memory_of

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


def tokens(messages: Iterable[HostMessage]) -> int:
    return sum(message.tokens for message in messages)


def test_a_history_that_comes_again_is_the_same_messages() -> None:
    readings = Readings()
    before = readings.read(HISTORY)
    new = {"role": "user", "content": "And when?"}
    *again, last = readings.read([*json.loads(json.dumps(HISTORY)), new])
    assert all(one is other for one, other in zip(before, again, strict=True))
    assert last.raw == new


def test_a_message_that_was_kept_is_what_came() -> None:
    readings = Readings()
    for _ in range(2):
        messages = readings.read(HISTORY)
        assert [message.raw for message in messages] == HISTORY
        assert tokens(messages) == tokens(map(HostMessage, HISTORY))
        assert json.loads(encode_messages(messages)) == HISTORY


def test_any_change_of_a_message_is_another_one() -> None:
    readings = Readings()
    readings.read(HISTORY)
    changed = [{**HISTORY[0], "timestamp": 1_760_000_000_001}, {**HISTORY[1], "content": []}]
    messages = readings.read(changed)
    assert json.loads(encode_messages(messages)) == changed
    assert tokens(messages) == tokens(map(HostMessage, changed))


def test_the_least_recently_used_go_when_there_are_too_many() -> None:
    readings = Readings(max_bytes=60_000)
    first, *_ = readings.read([HISTORY[0]])
    messages = [readings.read([HISTORY[0], {"role": "user", "content": f"message {n}"}]) for n in range(200)]
    assert readings.bytes <= 60_000
    assert all(one is first for one, _ in messages)
    assert readings.read([{"role": "user", "content": "message 199"}])[0] is messages[-1][1]
    assert readings.read([{"role": "user", "content": "message 0"}])[0] is not messages[0][1]


def test_one_message_larger_than_all_room_is_read_and_not_kept() -> None:
    readings = Readings(max_bytes=1_000)
    large = {"role": "user", "content": "x" * 5_000}
    assert readings.read([large])[0].raw is large
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
    assert not are_large(Readings().read([small] * module.AT_ONCE_MESSAGES))
    readings = Readings()
    many = readings.read([small] * (module.AT_ONCE_MESSAGES + 1))
    assert are_large(many)
    assert readings.bytes == 0 and not any("json" in vars(message) for message in many)
    messages = readings.read([small, huge, small])
    assert are_large(messages)
    assert "json" not in vars(messages[2])
    assert readings.bytes < module.AT_ONCE_BYTES


def test_what_is_counted_is_what_is_kept() -> None:
    readings = Readings(max_bytes=6_000_000)
    large = [{"role": "user", "content": character * 200_000} for character in "abc"]
    for items in (large[:1], large[1:], [large[2], large[0], large[1]], large[:2]):
        readings.read(items)
        assert readings.bytes == sum(map(memory_of, readings._kept)) <= 6_000_000
    assert len(readings._kept) == 3


def deep_size(value: Any, seen: set[int]) -> int:
    """Bytes of memory of an object with all that only it holds."""
    if id(value) in seen or (isinstance(value, (type, str)) and value in {Role(value) for value in Role}):
        return 0
    seen.add(id(value))
    inner: Iterable[Any] = ()
    if isinstance(value, Mapping):
        inner = chain(value.keys(), value.values())
    elif isinstance(value, (list, tuple)):
        inner = value
    elif hasattr(value, "__dict__"):
        inner = vars(value).values()  # their names are the class's
    elif is_dataclass(value):
        inner = [getattr(value, part.name) for part in fields(value)]
    own = sys.getsizeof(value) + (sys.getsizeof(vars(value)) if hasattr(value, "__dict__") else 0)
    return own + sum(deep_size(one, seen) for one in inner)


@pytest.mark.parametrize(
    "content",
    [
        "hi",
        "A line of plain text. " * 400,
        "A line with one \U0001f600. " + "plain text " * 400,
        "请运行导入 " * 400,
        [{"type": "text", "text": f"Part {n} " + "of many " * 20} for n in range(40)],
        [{"type": "toolCall", "id": f"c{n}", "name": "exec", "arguments": {"n": [n] * 9}} for n in range(40)],
        [[] for _ in range(400)],
        [{} for _ in range(400)],
        [f"{n}" for n in range(400)],
        list(range(1000, 1400)),
        [{f"key {n}": n / 7 for n in range(400)}],
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant", "toolResult"])
def test_a_kept_message_takes_no_more_memory_than_is_counted(role: str, content: Any) -> None:
    message = HostMessage(json.loads(json.dumps({"role": role, "content": content, "toolCallId": "c"})))
    for name in dir(message):
        getattr(message, name)
    assert deep_size(message, set()) <= memory_of(message.json)
