"""What a user's files must not give away although turns and notes hold it: see `app.core.memories.withholding`.

A line of ``withheld.jsonl`` is a sentence of a text that was changed or forgotten: no words, only their hashes under a
secret of this file.
"""

import json
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.core.memories.withholding import Withholding
from app.embedded.storage.layout import append_durably
from app.text.dates import moment_of

FILE = "withheld.jsonl"


@dataclass(slots=True)
class Withheld:
    """The texts that one user's files are not to give away. Call `add` with the user's lock held."""

    path: Path
    _size: int = 0
    _sentences: Withholding | None = None
    _messages: dict[str, float] = field(default_factory=dict)
    _forgotten: set[str] = field(default_factory=set)

    def add(
        self,
        memory_id: str,
        texts: Collection[str],
        at: str,
        *,
        turns: Collection[str] = (),
        messages: Collection[str] = (),
        forgotten: bool = False,
    ) -> None:
        """Withhold ``texts`` as of ``at``. ``turns`` are those that they come from; ``messages`` say them in words of
        their own and are withheld as a whole; ``forgotten``: no memory may come back under this id."""
        self._refresh()
        lines: list[dict[str, Any]] = []
        if self._sentences is None:
            lines.append({"secret": secrets.token_hex(16)})
            self._sentences = Withholding(str(lines[0]["secret"]).encode())
        about = {"memory": memory_id, "at": at}
        said = [words for text in texts for words in self._sentences.hashed(text)]
        lines += [{**about, "words": words, "turns": sorted(filter(None, turns))} for words in said]
        if messages or forgotten:
            lines.append({**about, "messages": sorted(filter(None, messages)), "forgotten": forgotten})
        data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        append_durably(self.path, data, self._size)
        self._size += len(data)
        for line in lines:
            self._read(line)

    def is_forgotten(self, memory_id: str) -> bool:
        """Whether a memory of this id was forgotten."""
        self._refresh()
        return memory_id in self._forgotten

    def left_of(self, text: str, said_at: str, ref: str = "", *, answers: bool = False) -> str:
        """``text``, said at that moment in message ``ref``, without the sentences that are withheld.

        ``answers``: the assistant says it.
        """
        self._refresh()
        moment = moment_of(said_at)
        if self._sentences is None or moment is None:
            return text
        if moment.timestamp() <= self._messages.get(ref, float("-inf")):
            return ""
        return self._sentences.left_of(text, said_at, ref.rpartition(".")[0], answers=answers)

    def _refresh(self) -> None:
        """Read what another process has added."""
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return
        if size <= self._size:
            return
        with self.path.open("rb") as file:
            file.seek(self._size)
            data = file.read(size - self._size)
        whole = data.rfind(b"\n") + 1  # the rest is being written
        self._size += whole
        for line in data[:whole].split(b"\n"):
            if line:
                self._read(_parsed(line))

    def _read(self, line: dict[str, Any]) -> None:
        if "secret" in line:
            self._sentences = self._sentences or Withholding(str(line["secret"]).encode())
            return
        moment = moment_of(str(line.get("at")))
        if moment is None or self._sentences is None:
            return
        at = moment.timestamp()
        self._sentences.add(list(map(str, line.get("words") or ())), at, list(map(str, line.get("turns") or ())))
        for ref in line.get("messages") or ():
            self._messages[str(ref)] = at
        if line.get("forgotten"):
            self._forgotten.add(str(line.get("memory")))


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
