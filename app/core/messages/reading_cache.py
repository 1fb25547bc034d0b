"""Messages that were read before: hosts send the whole history with every request, and only its end is new.

A message is kept under its JSON as a whole, so nothing of it can change without another reading, and no two messages
share one that could differ. Kept are the most recently used, bounded by their bytes. Where a body's messages begin,
byte for byte, like those of one before, not even their JSON is parsed again (`Readings.resume`).
"""

import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from weakref import ref

from app.core.json.encoding import encode
from app.core.messages.host_message import HostMessage, Messages

MAX_BYTES = 32 * 1024 * 1024
"""Memory for all kept messages together, about."""
AT_ONCE_BYTES = 256 * 1024
AT_ONCE_MESSAGES = 500
"""What is not larger is read faster than a thread is woken."""
MAX_HISTORIES = 1_000
"""Histories that are known by their beginnings; their messages are those that are kept."""
BEGINNING_BYTES = 1024
"""What tells a history from others; shorter ones are parsed in no time."""
_COPIES = 4
"""Of the text: in the message, cleaned, without white space, and of several blocks joined."""
_FIXED = 1_500
_PER_BYTE = 4
"""JSON itself, and what a number takes more in Python than there."""
_VALUES = ((b"[", 100), (b"{", 200), (b'","', 250))
"""What stands in JSON where a value does, and about how many bytes that takes in Python: an array; an object; a string
among others, which as a block of text is an object."""
_MESSAGES = b'"messages":['
_FOLLOWS = frozenset({b",", b"]"})


def are_large(messages: Messages) -> bool:
    """Whether reading the messages takes long enough for others to notice. No more of them is read than tells it."""
    if len(messages) > AT_ONCE_MESSAGES:
        return True
    left = AT_ONCE_BYTES
    for message in messages:
        left -= len(message.json)
        if left < 0:
            return True
    return False


class Resumed(NamedTuple):
    """A body with a mark where the messages stood that are known; they come before the others.

    Only the parsed body tells whether the mark stands at the beginning of its messages (`Readings.is_resumed`).
    """

    body: bytes
    known: tuple[HostMessage, ...] = ()
    beginning: bytes = b""


class Readings:
    """The messages of one process that were read last. For one thread alone."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self.bytes = 0
        """Memory taken, about."""
        self._kept: dict[bytes, tuple[HostMessage, int]] = {}
        """Messages with their bytes of memory, by JSON, the least recently used first."""
        self._histories: dict[bytes, tuple[ref[HostMessage], ...]] = {}
        """The messages of the last body with this beginning, the least recently used first."""
        self._mark = secrets.token_hex(16)  # nobody can send it
        self._mark_json = json.dumps(self._mark).encode()

    def resume(self, body: bytes) -> Resumed:
        """``body`` without the messages at its beginning that are known.

        A message is recognised where its JSON stands as `encode` writes it, as most hosts' does.
        """
        start = body.find(_MESSAGES) + len(_MESSAGES)
        beginning = body[start : start + BEGINNING_BYTES]
        if start < len(_MESSAGES) or len(beginning) < BEGINNING_BYTES:
            return Resumed(body)
        messages = [reference() for reference in self._histories.get(beginning, ())]
        known: list[HostMessage] = []
        end = place = start
        # All but the last at once: a history mostly only grows, and looking for each by itself takes twice as long.
        early = [message for message in messages[:-1] if message]
        if early and len(early) == len(messages) - 1:
            together = b",".join([message.json for message in early])
            after = start + len(together)
            if body.startswith(together, start) and body[after : after + 1] in _FOLLOWS:
                known, end, place = early, after, after + 1
        for message in messages[len(known) :]:
            if message is None or not body.startswith(message.json, place):
                break
            after = place + len(message.json)
            if body[after : after + 1] not in _FOLLOWS:
                break
            known.append(message)
            end, place = after, after + 1
        if not known:
            return Resumed(body, (), beginning)
        shorter = b"".join((body[:start], self._mark_json, body[end:]))
        return Resumed(shorter, tuple(known), beginning)

    def is_resumed(self, parsed: Any) -> bool:
        """Whether the mark stands where the known messages belong; it is taken out.

        Otherwise ``"messages":[`` stands elsewhere in the body, too, and it has to be parsed as it came.
        """
        messages = parsed.get("messages") if isinstance(parsed, dict) else None
        if not isinstance(messages, list) or not messages or messages[0] != self._mark:
            return False
        del messages[0]
        return True

    def read(self, items: Sequence[Mapping[str, Any]], resumed: Resumed | None = None) -> tuple[HostMessage, ...]:
        """A request's messages: those that are known, then those of ``items``, which are kept from now on.

        What is beyond `AT_ONCE_BYTES` is neither read nor kept, and nothing where there are more than
        `AT_ONCE_MESSAGES`.
        """
        messages = list(resumed.known) if resumed else []
        if self.bytes > self._max_bytes // 2:  # before that nothing is going to go, however long ago it was used
            for message in messages:
                if self._used(message.json) is None:
                    self._keep(message)
        room = AT_ONCE_BYTES
        begun = len(messages)
        for item in items if begun + len(items) <= AT_ONCE_MESSAGES else ():
            json = encode(item)
            room -= len(json)
            if room < 0:
                messages.append(HostMessage(item, json))
                break
            messages.append(self._used(json) or self._keep(HostMessage(item, json)))
        while self.bytes > self._max_bytes:
            self.bytes -= self._kept.pop(next(iter(self._kept)))[1]
        whole = (*messages, *[HostMessage(item) for item in items[len(messages) - begun :]])
        if resumed and resumed.beginning:
            self._remember(resumed.beginning, whole[:AT_ONCE_MESSAGES])
        return whole

    def _used(self, json: bytes) -> HostMessage | None:
        """The message that is kept under this JSON, from now on the most recently used one."""
        known = self._kept.pop(json, None)
        if known is None:
            return None
        self._kept[known[0].json] = known
        return known[0]

    def _keep(self, message: HostMessage) -> HostMessage:
        size = memory_of(message.json)
        self.bytes += size
        self._kept[message.json] = message, size
        return message

    def _remember(self, beginning: bytes, messages: Messages) -> None:
        self._histories.pop(beginning, None)
        self._histories[beginning] = tuple(map(ref, messages))
        if len(self._histories) > MAX_HISTORIES:
            del self._histories[next(iter(self._histories))]


def memory_of(json: bytes) -> int:
    """Bytes of memory, about, that a message takes when everything was read off it."""
    values = sum([json.count(sign) * size for sign, size in _VALUES])
    return _FIXED + len(json) * _PER_BYTE + sys.getsizeof(json.decode()) * _COPIES + values
