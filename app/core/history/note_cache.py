"""Notes on messages, kept: an archive never changes, and what is said of it is asked for with every prompt.

Kept under a hash of what a note depends on, so a note holds for equal words wherever they stand, and nothing has to be
told when something is archived, cleared or reset.
"""

import hashlib
import threading

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.history.notes import Notes, notes_on

MAX_CHARS = 32 * 1024 * 1024
"""Text held by all notes together, in characters."""
_READ_OF_OUTPUT = 1_000
"""A note takes less than half of this from the beginning of a tool's output."""


class NoteCache:
    """The notes of one process, the most recently used within bounds. Any thread may ask.

    Each note is kept as soon as it is made: whoever had no time for a whole archive has less left to do the next time.
    """

    def __init__(self, max_chars: int = MAX_CHARS) -> None:
        self._max_chars = max_chars
        self.chars = 0
        """Text held, in characters."""
        self._kept: dict[bytes, Notes] = {}
        self._lock = threading.Lock()

    def notes_on(self, message: CapturedMessage) -> Notes:
        """What `app.core.history.notes.notes_on` says."""
        try:
            key = _fingerprint(message)
        except RecursionError:  # tool input of another writer, nested without end
            return notes_on(message)
        with self._lock:
            if notes := self._kept.pop(key, None):
                self._kept[key] = notes
                return notes
        notes = notes_on(message)
        with self._lock:
            if key not in self._kept:
                self.chars += notes.size
            self._kept[key] = notes
            while self.chars > self._max_chars:
                self.chars -= self._kept.pop(next(iter(self._kept))).size
        return notes


def _fingerprint(message: CapturedMessage) -> bytes:
    parts: list[object] = [message.role]
    for part in message.parts:
        if isinstance(part, TextPart):
            parts.append(part.text)
        else:
            output = part.output if part.output is None else part.output[:_READ_OF_OUTPUT]
            parts.append((part.name, part.input, output, part.failed))
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
