"""Ids of calls that come once: some models number their calls afresh each round, and not every provider takes that."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.core.messages.content_blocks import CALL_TYPES, RESULT_TYPES, kind_of
from app.core.messages.host_message import HostMessage, Messages

_OF_CALL = ("id", "toolCallId", "call_id")
_OF_RESULT = ("toolCallId", "tool_call_id", "toolUseId", "tool_use_id")


def with_unique_ids(messages: Messages) -> list[HostMessage]:
    """The messages with another id for each call whose id an earlier message used, and for its result.

    The results of a message's calls stand before the next message with calls (`paired`). Linear.
    """
    used: dict[str, int] = {}
    """How often an id was used, ours among them."""
    names: dict[str, str] = {}
    made: list[HostMessage] = []
    for message in messages:
        if message.calls:
            names = {}
            for key in dict.fromkeys(_key(call.id) for call in message.calls if call.id):
                if key in used:
                    names[key] = _unused(key, used)
                used[key] = used.get(key, 0) + 1
        concerned = names and (message.calls or message.results)
        made.append(_renamed(message, names) if concerned else message)
    return made


def _key(call_id: str) -> str:
    return call_id.replace("_", "")


def _unused(key: str, used: dict[str, int]) -> str:
    """Another id, noted as used. Where the host has used such a one itself, the numbers after it are tried."""
    while (name := f"{key}-{used[key] + 1}") in used:
        used[key] += 1
    used[name] = 1
    return name


def _renamed(message: HostMessage, names: Mapping[str, str]) -> HostMessage:
    raw = dict(message.raw)
    if message.results:
        raw |= _with_names(raw, _OF_RESULT, names)
    if isinstance(raw.get("tool_calls"), list):
        raw["tool_calls"] = [_with_names(item, _OF_CALL, names) for item in raw["tool_calls"]]
    if isinstance(raw.get("content"), list):
        raw["content"] = [_renamed_block(block, names) for block in raw["content"]]
    return HostMessage(raw)


def _renamed_block(block: Any, names: Mapping[str, str]) -> Any:
    kind = kind_of(block) if isinstance(block, Mapping) else ""
    keys = _OF_CALL if kind in CALL_TYPES else _OF_RESULT if kind in RESULT_TYPES else ()
    return _with_names(block, keys, names) if keys else block


def _with_names(source: Any, keys: Sequence[str], names: Mapping[str, str]) -> Any:
    """``source`` with its ids by their new names."""
    if not isinstance(source, Mapping):
        return source
    told = {key: source[key] for key in keys if isinstance(source.get(key), str)}
    return {**source, **{key: names[_key(value)] for key, value in told.items() if _key(value) in names}}
