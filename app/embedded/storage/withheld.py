"""What must not be found any more although it stands in transcripts and notes: texts that were changed or forgotten.

A line of ``withheld.jsonl`` is a sentence of such a text. It holds no words: their hashes under a secret of this file
are enough to know the sentence again, in other forms too ("You live in Berlin" for "I live in Berlin"). It counts for
what was said up to its moment: who says it again later, means it.
"""

import hashlib
import json
import secrets
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.embedded.storage.layout import append_durably
from app.text.dates import moment_of
from app.text.sentences import sentences
from app.text.words import STOP_WORDS, tokens

FILE = "withheld.jsonl"
_MOST_WORDS = 60
"""Of a longer sentence so many words stand for it."""
_OTHER_WORDS = 2
"""A sentence that says a text may hold as many words again, and so many more: a longer one says something else."""
_SHARE_NEAR_BY = 0.5
"""In the turn that a text comes from, the answer says it in fewer words ("Berlin, noted"): this share is enough."""
_MOST_HASHED = 50_000


@dataclass(frozen=True, slots=True)
class _Sentence:
    memory_id: str
    at: float
    words: frozenset[str]

    def is_said_by(self, words: Collection[str]) -> bool:
        return self.words.issubset(words) and len(words) <= 2 * len(self.words) + _OTHER_WORDS

    def is_meant_by(self, words: frozenset[str]) -> bool:
        return len(self.words & words) >= _SHARE_NEAR_BY * len(self.words)


@dataclass(slots=True)
class Withheld:
    """The texts that one user's files are not to give away. Call `add` with the user's lock held."""

    path: Path
    _size: int = 0
    _secret: bytes = b""
    _by_word: dict[str, list[_Sentence]] = field(default_factory=lambda: defaultdict(list))
    _by_turn: dict[str, list[_Sentence]] = field(default_factory=lambda: defaultdict(list))
    _messages: dict[str, float] = field(default_factory=dict)
    _forgotten: set[str] = field(default_factory=set)
    _hashed: dict[str, str] = field(default_factory=dict)

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
        if not self._secret:
            lines.append({"secret": secrets.token_hex(16)})
            self._read(lines[0])
        about = {"memory": memory_id, "at": at}
        said = [sentence for text in texts for sentence in sentences(text)]
        lines += [
            {**about, "words": sorted(self._hashes(one))[:_MOST_WORDS], "turns": sorted(filter(None, turns))}
            for one in said
        ]
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
        if not self._secret or moment is None:
            return text
        said = moment.timestamp()
        if said <= self._messages.get(ref, float("-inf")):
            return ""
        near = [one for one in self._by_turn.get(ref.rpartition(".")[0], ()) if answers and said <= one.at]
        words = self._hashes(text)
        about = [one for word in words for one in self._by_word.get(word, ()) if said <= one.at]
        about = [one for one in about if one.words <= words]
        if not near and not about:
            return text
        for sentence in list(sentences(text)):
            words = self._hashes(sentence)
            if any(one.is_said_by(words) for one in about) or any(one.is_meant_by(words) for one in near):
                text = text.replace(sentence, "", 1)
        return text.strip()

    def _hashes(self, text: str) -> frozenset[str]:
        words = frozenset(tokens(text))
        return frozenset(map(self._hash, words - STOP_WORDS or words))

    def _hash(self, word: str) -> str:
        known = self._hashed.get(word)
        if known is None:
            if len(self._hashed) >= _MOST_HASHED:
                self._hashed.clear()
            data = word.encode("utf-8", "replace")
            known = self._hashed[word] = hashlib.blake2b(data, digest_size=8, key=self._secret).hexdigest()
        return known

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
            self._secret = str(line["secret"]).encode()
            return
        moment = moment_of(str(line.get("at")))
        if moment is None:
            return
        at, memory_id = moment.timestamp(), str(line.get("memory"))
        if words := frozenset(map(str, line.get("words") or ())):
            sentence = _Sentence(memory_id, at, words)
            self._by_word[min(words)].append(sentence)
            for turn in line.get("turns") or ():
                self._by_turn[str(turn)].append(sentence)
        for ref in line.get("messages") or ():
            self._messages[str(ref)] = at
        if line.get("forgotten"):
            self._forgotten.add(memory_id)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
