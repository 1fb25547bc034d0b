"""Messages that were read before: hosts send the whole history with every request, and only its end is new.

A message is kept under its JSON as a whole, so nothing of it can change without another reading, and no two messages
share one that could differ. Kept are the most recently used, bounded by their bytes.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from app.core.json.encoding import encode
from app.core.messages.host_message import HostMessage, Messages

MAX_BYTES = 32 * 1024 * 1024
"""Memory for all kept messages together, about."""
AT_ONCE_BYTES = 256 * 1024
AT_ONCE_MESSAGES = 500
"""What is not larger is read faster than a thread is woken."""
_COPIES = 4
"""Of the text: in the message, cleaned, without white space, and of several blocks joined."""
_FIXED = 1_500
_PER_BYTE = 4
"""JSON itself, and what a number takes more in Python than there."""
_VALUES = ((b"[", 100), (b"{", 200), (b'","', 250))
"""What stands in JSON where a value does, and about how many bytes that takes in Python: an array; an object; a string
among others, which as a block of text is an object."""


def are_large(messages: Messages, at_once: int = AT_ONCE_BYTES) -> bool:
    """Whether reading the messages takes long enough for others to notice. No more of them is read than tells it."""
    if len(messages) > AT_ONCE_MESSAGES:
        return True
    for message in messages:
        at_once -= len(message.json)
        if at_once < 0:
            return True
    return False


class Readings:
    """The messages of one process that were read last."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self.bytes = 0
        """Memory taken, about."""
        self._kept: dict[bytes, tuple[HostMessage, int]] = {}
        """Messages with their bytes of memory, by JSON, the least recently used first."""

    def read(self, items: Sequence[Mapping[str, Any]]) -> tuple[HostMessage, ...]:
        """A request's messages: those that are kept, and new ones, which are kept from now on. For one thread alone.

        What is beyond `AT_ONCE_BYTES` is neither read nor kept, and nothing where there are more than
        `AT_ONCE_MESSAGES`.
        """
        kept = self._kept
        messages: list[HostMessage] = []
        room = AT_ONCE_BYTES
        for item in items if len(items) <= AT_ONCE_MESSAGES else ():
            json = encode(item)
            room -= len(json)
            if room < 0:
                messages.append(HostMessage(item, json))
                break
            known = kept.pop(json, None)
            if known is None:
                known = HostMessage(item, json), memory_of(json)
                self.bytes += known[1]
            kept[known[0].json] = known
            messages.append(known[0])
        while self.bytes > self._max_bytes:
            self.bytes -= kept.pop(next(iter(kept)))[1]
        return (*messages, *[HostMessage(item) for item in items[len(messages) :]])


def memory_of(json: bytes) -> int:
    """Bytes of memory, about, that a message takes when everything was read off it."""
    values = sum([json.count(sign) * size for sign, size in _VALUES])
    return _FIXED + len(json) * _PER_BYTE + sys.getsizeof(json.decode()) * _COPIES + values
