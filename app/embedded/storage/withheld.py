"""What a user's files must not give away although turns and notes hold it: see `app.core.memories.withholding`.

A line of ``withheld.jsonl`` is a sentence of a text that was changed or forgotten: no words, only their hashes under a
secret of this file. What was forgotten is erased as well; its lines are for what was on its way by then.
"""

import json
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.atrest.vault import PLAIN, Vault
from app.core.memories.forget_selection import Forgetting, turn_of
from app.core.memories.withholding import Withholding
from app.text.dates import moment_of

FILE = "withheld.jsonl"


@dataclass(slots=True)
class Withheld:
    """The texts that one user's files are not to give away. Call `add` with the user's lock held."""

    path: Path
    vault: Vault = PLAIN
    _size: int = 0
    _inode: int = 0
    _sentences: Withholding | None = None
    _messages: dict[str, float] = field(default_factory=dict)
    _forgotten: set[str] = field(default_factory=set)
    _erased: Withholding | None = None
    """Of the sentences those that were forgotten."""
    _turns_gone: set[str] = field(default_factory=set)
    _newest: float = float("-inf")
    _all_before: float = float("-inf")

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
            self._read(lines[0])
        hashing = self._sentences or Withholding(b"")
        about: dict[str, Any] = {"memory": memory_id, "at": at, **({"forgotten": True} if forgotten else {})}
        about["turns"] = sorted(filter(None, turns))
        if forgotten:
            exact = [one for text in texts for one in hashing.exactly(text)]
            lines += [{**about, "words": words, "run": one.run, "about": one.about} for words, one in exact]
        else:
            lines += [{**about, "words": words} for text in texts for words in hashing.hashed(text)]
        if messages or forgotten:
            lines.append({**about, "messages": sorted(filter(None, messages))})
        self._append(lines)

    def add_forgetting(self, forgetting: Forgetting) -> None:
        """Withhold what is forgotten: its statements, and the turns that are known to be selected."""
        for one in forgetting.statements:
            texts = () if one.is_message else one.texts
            self.add(one.id, texts, forgetting.at, turns=one.turns, messages=one.messages, forgotten=True)
        self._refresh()
        if forgetting.turns:
            self._append([{"memory": "", "at": forgetting.at, "turnsGone": sorted(forgetting.turns)}])

    def begin_anew(self, at: str) -> None:
        """Everything was forgotten: one line stands for all that was withheld before, unless it does already."""
        self._refresh()
        moment = moment_of(at)
        if moment is None or moment.timestamp() <= self._all_before:
            return
        secret = self._sentences.secret.decode() if self._sentences else secrets.token_hex(16)
        gone = {"memory": "", "at": at, "all": True, "turnsGone": sorted(self._turns_gone)}
        data = b"".join(json.dumps(line).encode() + b"\n" for line in ({"secret": secret}, gone))
        self.vault.write_atomic(self.path, data)
        self._refresh()

    def _append(self, lines: list[dict[str, Any]]) -> None:
        data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        self._size = self.vault.append(self.path, data, self._size)
        for line in lines:
            self._read(line)

    def is_forgotten(self, memory_id: str, stored_at: str = "") -> bool:
        """Whether a memory of this id was forgotten, or all that was stored by then."""
        self._refresh()
        moment = moment_of(stored_at)
        return memory_id in self._forgotten or (moment is not None and moment.timestamp() <= self._all_before)

    @property
    def all_before(self) -> float:
        """Until when everything was forgotten, epoch seconds."""
        self._refresh()
        return self._all_before

    def takes(self, source_id: str) -> bool:
        """Whether a message belongs to a turn that was forgotten as a whole."""
        self._refresh()
        return turn_of(source_id) in self._turns_gone

    def not_forgotten(self, text: str, said_at: str, ref: str) -> str:
        """``text``, said at that moment in message ``ref``, without what was forgotten since."""
        self._refresh()
        moment = moment_of(said_at)
        if self._erased is None or moment is None or moment.timestamp() > self._newest:
            return text
        return self._erased.left_of(text, said_at, turn_of(ref), answers=True)

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
            status = self.path.stat()
        except FileNotFoundError:
            return
        if self._inode not in (0, status.st_ino):
            self._start_over()
        self._inode, size = status.st_ino, status.st_size
        if size <= self._size:
            return
        with self.path.open("rb") as file:
            tail = self.vault.lines_from(file, self._size)  # the rest is being written
        self._size = tail.end
        for line in tail.data.split(b"\n"):
            if line:
                self._read(_parsed(line))

    def _start_over(self) -> None:
        """The file was written anew."""
        self._size = 0
        self._sentences = self._erased = None
        self._messages.clear()
        self._forgotten.clear()
        self._turns_gone.clear()

    def _read(self, line: dict[str, Any]) -> None:
        if "secret" in line:
            secret = str(line["secret"]).encode()
            self._sentences = self._sentences or Withholding(secret)
            self._erased = self._erased or Withholding(secret)
            return
        moment = moment_of(str(line.get("at")))
        if moment is None or self._sentences is None or self._erased is None:
            return
        at = moment.timestamp()
        words, turns = list(map(str, line.get("words") or ())), list(map(str, line.get("turns") or ()))
        exactly = Withholding.known_exactly(line)
        self._sentences.add(words, at, turns, exactly)
        self._turns_gone.update(map(str, line.get("turnsGone") or ()))
        if line.get("all"):
            self._all_before = max(at, self._all_before)
        for ref in line.get("messages") or ():
            self._messages[str(ref)] = at
        if line.get("forgotten"):
            self._forgotten.add(str(line.get("memory")))
            self._erased.add(words, at, turns, exactly)
            self._newest = max(at, self._newest)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
