"""Guard 3: the newest turns alone, where a setting says how many; no calls of tools that the model does not have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.core.history.guards.cuts import GuardNote, Kind, plain_id
from app.core.history.guards.guard_rules import Situation
from app.core.history.guards.guarded_messages import Window
from app.core.messages.content_blocks import (
    CALL_TYPES,
    RESULT_TYPES,
    ToolCall,
    ToolResult,
    call_in,
    kind_of,
    listed_calls,
    result_in,
)
from app.core.messages.host_message import HostMessage, Role
from app.core.messages.pairs import same_call, units

STRIDES = 8
LEFT_OUT = "[Calls of tools that are not available any more were left out here.]"


def limit_turns(window: Window, situation: Situation) -> None:
    """Leave out the oldest turns beyond `max_turns`, an eighth of them more than needed where that is a turn or more.

    What stands before the first turn, such as system messages, stays.
    """
    most, messages = situation.rules.max_turns, window.messages
    starts = [step.start for step in units(messages) if messages[step.start].role is Role.USER]
    excess = len(starts) - most
    if not most or excess <= 0:
        return
    stride = max(1, most // STRIDES)
    first, last = starts[0], starts[min(excess + -excess % stride, len(starts) - 1)]
    gone = messages[first:last]
    window.stay([*messages[:first], *messages[last:]], gone, turn_notes(gone))


def drop_unavailable(window: Window, situation: Situation) -> None:
    """Leave out calls of tools that the model does not have any more, with their results."""
    tools = situation.tools
    if not situation.rules.drop_unavailable or tools is None:
        return
    staying: list[HostMessage] = []
    dropped: list[HostMessage] = []
    notes: list[GuardNote] = []
    for step in units(window.messages):
        unit = [window.messages[index] for index in step]
        gone = {_link(call): call.id for message in unit for call in message.calls if call.name not in tools}
        if not gone:
            staying += unit
            continue
        left = [_without(message, gone) for message in unit]
        staying += [message for message in left if message is not None]
        dropped += [before for before, after in zip(unit, left, strict=True) if after is None]
        notes += _call_notes(unit, gone)
    if notes:
        window.stay(_users_apart(window.messages, staying), dropped, notes)


def turn_notes(gone: Sequence[HostMessage]) -> Iterator[GuardNote]:
    """A note for each turn that left as a whole."""
    chars: list[int] = []
    for message in (one.original for one in gone):
        if message.role is Role.USER or not chars:
            chars.append(0)
        chars[-1] += len(message.text) + sum(len(result.text) for result in message.results if not message.text)
    return (GuardNote(Kind.DROPPED, None, count) for count in chars)


def _call_notes(unit: Iterable[HostMessage], gone: Mapping[str, str]) -> Iterator[GuardNote]:
    results = [result for message in unit for result in message.results]
    for link, call_id in gone.items():
        chars = sum(len(result.text) for result in results if _link(result) == link)
        yield GuardNote(Kind.DROPPED, plain_id(call_id) or None, chars)


def _link(side: ToolCall | ToolResult) -> str:
    """What joins a call and its result: the id, or the tool's name where the host gives no id."""
    call_id = side.id if isinstance(side, ToolCall) else side.call_id
    return same_call(call_id) or f"\n{side.name}"


def _without(message: HostMessage, gone: Mapping[str, str]) -> HostMessage | None:
    """The message without these calls and results; None where nothing else is in it."""
    if message.is_tool_message:
        return None if _link(message.results[0]) in gone else message
    raw = dict(message.raw)
    content = raw.get("content")
    if isinstance(content, list):
        raw["content"] = [block for block in content if not _is_gone(block, gone)]
    if isinstance(raw.get("tool_calls"), list):
        raw["tool_calls"] = [
            item for item in raw["tool_calls"] if not any(_link(call) in gone for call in listed_calls([item]))
        ]
        if not raw["tool_calls"]:
            del raw["tool_calls"]
    if raw == message.raw:
        return message
    left = HostMessage(raw)
    return left if left.text or left.calls or left.results else None


def _is_gone(block: Any, gone: Mapping[str, str]) -> bool:
    if not isinstance(block, Mapping):
        return False
    kind = kind_of(block)
    if kind in CALL_TYPES:
        return _link(call_in(block)) in gone
    return kind in RESULT_TYPES and _link(result_in(block)) in gone


def _users_apart(before: Sequence[HostMessage], after: Sequence[HostMessage]) -> list[HostMessage]:
    """With a line between two messages of the user that did not meet before."""
    places = {id(message): index for index, message in enumerate(before)}
    apart: list[HostMessage] = []
    for message in after:
        last = apart[-1] if apart else None
        if last and last.raw.get("role") == message.raw.get("role") == "user":
            near = id(last) in places and id(message) in places and places[id(message)] == places[id(last)] + 1
            if not near:
                apart.append(HostMessage({"role": "assistant", "content": LEFT_OUT}))
        apart.append(message)
    return apart
