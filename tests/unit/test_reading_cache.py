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


LONG: list[dict[str, Any]] = [{"role": "user", "content": "x" * 2_000}, *HISTORY]


def body_of(messages: list[Any], **others: Any) -> bytes:
    return encode({"sessionId": "s", **others, "messages": messages, "model": "m"})


def parsed(readings: Readings, body: bytes) -> tuple[list[Any], int]:
    """What a body's messages come to, and how many of them were not parsed again."""
    resumed = readings.resume(body)
    whole = json.loads(resumed.body)
    if resumed.known:
        assert readings.is_resumed(whole)
    assert {**whole, "messages": []} == {**json.loads(body), "messages": []}
    return [message.raw for message in readings.read(whole["messages"], resumed)], len(resumed.known)


def test_a_history_that_goes_on_is_parsed_from_where_it_goes_on() -> None:
    readings, said = Readings(), [message for message in LONG if "emoji" not in str(message)]
    assert parsed(readings, body_of(said)) == (said, 0)
    more = [*said, {"role": "user", "content": "And when?"}]
    assert parsed(readings, body_of(more, phase="preflight")) == (more, len(said))
    assert parsed(readings, body_of(more)) == (more, len(more))
    assert parsed(readings, body_of(said)) == (said, len(said))
    another = [*said[:-1], {"role": "user", "content": "Which import was it, please?"}]
    assert parsed(readings, body_of(another)) == (another, len(said) - 1)


def test_a_message_that_goes_on_differently_is_parsed() -> None:
    readings = Readings()
    parsed(readings, body_of(LONG[:2]))
    for changed in ({**LONG[1], "timestamp": 17_600_000_000_001}, {**LONG[1], "more": 1}):
        assert parsed(readings, body_of([LONG[0], changed])) == ([LONG[0], changed], 1)


def test_what_another_host_writes_its_own_way_is_parsed_as_ever() -> None:
    readings = Readings()
    for _ in range(2):
        resumed = readings.resume(json.dumps({"messages": LONG}).encode())
        assert not resumed.known
        readings.read(LONG, resumed)


@pytest.mark.parametrize(
    "body",
    [
        b'{"x":{"messages":[%b]},"messages":[]}',
        b'{"x":{"messages":[%b]},"messages":[null]}',
        b'{"messages":[%b],"messages":[]}',
        b'{"messages":[%b],"messages":{}}',
        b'{"x\\"messages":[%b],"messages":[]}',
        b'[{"messages":[%b]}]',
    ],
)
def test_messages_that_stand_elsewhere_are_not_taken_for_the_bodys_own(body: bytes) -> None:
    readings = Readings()
    parsed(readings, body_of(LONG[:3]))
    inner = b",".join(map(encode, LONG[:3]))
    resumed = readings.resume(body % inner)
    assert resumed.known and not readings.is_resumed(json.loads(resumed.body))


def test_a_history_keeps_no_message_that_is_not_kept_otherwise() -> None:
    readings = Readings(max_bytes=60_000)
    parsed(readings, body_of(LONG[:3]))
    for number in range(50):
        readings.read([{"role": "user", "content": f"{number} " * 500}])
    assert parsed(readings, body_of(LONG[:3])) == (LONG[:3], 0)
    assert readings.bytes <= 60_000


def test_only_so_many_histories_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HISTORIES", 3)
    readings = Readings()
    bodies = [body_of([{"role": "user", "content": f"{number}" * 2_000}]) for number in range(5)]
    for body in bodies:
        parsed(readings, body)
    assert [len(readings.resume(body).known) for body in bodies] == [0, 0, 1, 1, 1]


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
