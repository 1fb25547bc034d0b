"""Ids of calls that come once: some models number their calls afresh each round, and not every provider takes that."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from app.core.messages.content_blocks import CALL_TYPES, RESULT_TYPES, kind_of
from app.core.messages.host_message import HostMessage, Messages

_OF_CALL = ("id", "toolCallId", "call_id")
_OF_RESULT = ("toolCallId", "tool_call_id", "toolUseId", "tool_use_id")


def with_unique_ids(messages: Messages) -> list[HostMessage]:
    """The messages with another id for each call whose id came before, and for its result.

    The results of a message's calls stand before the next message with calls (`paired`), those of one id in the order
    of their calls. Linear.
    """
    used: dict[str, int] = {}
    """How often an id was used, ours among them."""
    names, answered = _Names(), _Names()
    made: list[HostMessage] = []
    for message in messages:
        if message.calls:
            told: dict[str, list[str]] = {}
            for key in (_key(call.id) for call in message.calls if call.id):
                told.setdefault(key, []).append(_unused(key, used) if key in used else "")
                used[key] = used.get(key, 0) + 1
            names, answered = _Names(told), _Names(told)
        concerned = names.has_any and (message.calls or message.results)
        made.append(_renamed(message, names, answered) if concerned else message)
    return made


class _Names:
    """The new ids of a message's calls: of each old one so many as there are calls of that id, empty for no other."""

    def __init__(self, told: Mapping[str, Sequence[str]] | None = None) -> None:
        self._told = told or {}
        self._taken: Counter[str] = Counter()
        self.has_any = any(name for names in self._told.values() for name in names)

    def has(self, key: str) -> bool:
        """Whether it is the id of such a call."""
        return key in self._told

    def next(self, key: str) -> str:
        """The new id of the next call, or result, of this id; the last one serves all that follow."""
        names = self._told[key]
        self._taken[key] += 1
        return names[min(self._taken[key], len(names)) - 1]


def _key(call_id: str) -> str:
    return call_id.replace("_", "")


def _unused(key: str, used: dict[str, int]) -> str:
    """Another id, noted as used. Where the host has used such a one itself, the numbers after it are tried."""
    while (name := f"{key}-{used[key] + 1}") in used:
        used[key] += 1
    used[name] = 1
    return name


def _renamed(message: HostMessage, names: _Names, answered: _Names) -> HostMessage:
    raw = dict(message.raw)
    if message.results:
        raw |= _with_name(raw, _OF_RESULT, answered)
    if isinstance(raw.get("tool_calls"), list):
        raw["tool_calls"] = [_with_name(item, _OF_CALL, names) for item in raw["tool_calls"]]
    if isinstance(raw.get("content"), list):
        raw["content"] = [_renamed_block(block, names, answered) for block in raw["content"]]
    return HostMessage(raw)


def _renamed_block(block: Any, names: _Names, answered: _Names) -> Any:
    kind = kind_of(block) if isinstance(block, Mapping) else ""
    if kind in CALL_TYPES:
        return _with_name(block, _OF_CALL, names)
    return _with_name(block, _OF_RESULT, answered) if kind in RESULT_TYPES else block


def _with_name(source: Any, keys: Sequence[str], names: _Names) -> Any:
    """``source``, a call or a result, with its id by its new name."""
    if not isinstance(source, Mapping):
        return source
    told = [key for key in keys if isinstance(source.get(key), str) and names.has(_key(source[key]))]
    name = names.next(_key(source[told[0]])) if told else ""
    return {**source, **dict.fromkeys(told, name)} if name else source
