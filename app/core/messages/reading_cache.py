"""What a message was once read to be: hosts send the whole history with every request, and only its end is new.

A reading is kept under the message's JSON as a whole, so nothing of a message can change without another reading, and
no two messages share one that could differ. Kept are the most recently used, bounded by their bytes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.core.history.summary_message import is_summary
from app.core.injection.fence import strip_blocks
from app.core.json.encoding import encode
from app.core.messages.host_message import Message, text_of
from app.core.messages.tokens import message_tokens

MAX_BYTES = 32 * 1024 * 1024
"""Memory for all readings together, about."""
AT_ONCE_BYTES = 256 * 1024
AT_ONCE_MESSAGES = 500
"""What is not larger is read faster than a thread is woken."""
_PER_BYTE = 3
"""Bytes a byte of JSON: the JSON itself, and the words at one or two (four only where emoji are about)."""
_FIXED = 300


def said_in(message: Message) -> str:
    """The words of a message without white space and injected blocks.

    None of a summary: it sums up, and what it sums up may be wanted word for word.
    """
    return "" if is_summary(message) else squeezed(strip_blocks(text_of(message)))


def squeezed(text: str) -> str:
    """``text`` without white space, to be compared."""
    return "".join(text.split())


@dataclass(slots=True, eq=False)
class Reading:
    """One message: its JSON as it goes back to the host, and its tokens in the prompt. Equal to nothing but itself."""

    json: bytes
    tokens: int
    words: str | None = None
    """`said_in`, once somebody asked for it."""

    @property
    def size(self) -> int:
        """Bytes of memory, about."""
        return _FIXED + _PER_BYTE * len(self.json)


class Conversation:
    """The messages of one request with their readings; what was not read before is read when it is asked for.

    Messages are told apart by identity, so one may be asked about that is not among ``messages`` (an injected one).
    """

    def __init__(self, messages: Sequence[Message], readings: Iterable[Reading] = ()) -> None:
        self._held: list[Message] = list(messages)
        """Keeps the objects alive, and so their identities theirs."""
        self.readings = tuple(readings)
        """Of the messages, where they were read before: the same tuple for the same messages."""
        self.has_unread = len(self.readings) < len(self._held)
        """Whether reading the others may take long enough for somebody to notice."""
        self._readings = {id(message): reading for message, reading in zip(messages, self.readings, strict=False)}

    def said(self, message: Message) -> str:
        """`said_in` of the message."""
        reading = self._readings.get(id(message)) or self._of(message)
        if reading.words is None:
            reading.words = said_in(message)
        return reading.words

    def tokens(self, messages: Iterable[Message]) -> int:
        """About how many tokens the messages take in the prompt together."""
        return sum([reading.tokens for reading in self._all(messages)])

    def json(self, messages: Iterable[Message]) -> bytes:
        """The messages as a JSON array."""
        return b"[%b]" % b",".join([reading.json for reading in self._all(messages)])

    def _all(self, messages: Iterable[Message]) -> list[Reading]:
        return [self._readings.get(id(message)) or self._of(message) for message in messages]

    def _of(self, message: Message) -> Reading:
        reading = self._readings.get(id(message))
        if reading is None:
            self._held.append(message)
            reading = self._readings[id(message)] = Reading(encode(message), message_tokens(message))
        return reading


class Readings:
    """The readings of one process."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self.bytes = 0
        """Memory taken, about."""
        self._kept: dict[bytes, Reading] = {}
        """By JSON, the least recently used first."""

    def read(self, messages: Sequence[Message]) -> Conversation:
        """The messages with their readings; new ones are kept. Not for two threads at once.

        What is beyond `AT_ONCE_BYTES` is left unread, and all messages where there are more than `AT_ONCE_MESSAGES`.
        """
        kept = self._kept
        readings: list[Reading] = []
        room = AT_ONCE_BYTES
        for message in messages if len(messages) <= AT_ONCE_MESSAGES else ():
            json = encode(message)
            room -= len(json)
            if room < 0:
                break
            reading = kept.pop(json, None)
            if reading is None:
                reading = Reading(json, message_tokens(message))
                self.bytes += reading.size
            kept[reading.json] = reading
            readings.append(reading)
        while self.bytes > self._max_bytes:
            self.bytes -= kept.pop(next(iter(kept))).size
        return Conversation(messages, readings)
