"""What must not be found any more although it stands elsewhere, too: sentences of texts that were changed or forgotten.

No words are kept: their hashes under a secret are enough to know a sentence again, in other forms too ("You live in
Berlin" for "I live in Berlin"). It counts for what was said up to its moment: who says it again later, means it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.core.memories.sayings import About, Heard, echoes, heard, sayings_of, says, words_of
from app.text.dates import moment_of
from app.text.sentences import sentences, without
from app.text.wording import has_run

MOST_WORDS = 60
"""Of a longer sentence so many words stand for it."""
_MOST_HASHED = 50_000


@dataclass(frozen=True, slots=True)
class Exactly:
    """How a sentence that was forgotten is known: by its words in order, and in its own turn by what it is about."""

    run: tuple[str, ...]
    """Empty for a sentence that says too little to be known elsewhere."""
    about: About


@dataclass(frozen=True, slots=True)
class _Sentence:
    at: float
    words: frozenset[str]
    exactly: Exactly | None = None


@dataclass(slots=True)
class Withholding:
    """Sentences that are withheld, by their words. All were hashed under ``secret``."""

    secret: bytes
    _by_word: dict[str, list[_Sentence]] = field(default_factory=lambda: defaultdict(list))
    _by_turn: dict[str, list[_Sentence]] = field(default_factory=lambda: defaultdict(list))
    _hashed: dict[str, str] = field(default_factory=dict)

    def hashed(self, text: str) -> Iterator[list[str]]:
        """What stands for each sentence of ``text``; see `add`."""
        return (sorted(self._hashes(sentence))[:MOST_WORDS] for sentence in sentences(text))

    def exactly(self, text: str) -> Iterator[tuple[list[str], Exactly]]:
        """The same for a text that is forgotten, with how each sentence is known."""
        for one in sayings_of(text):
            run = tuple(map(self._hash, one.heard.run[:MOST_WORDS])) if one.everywhere else ()
            yield sorted(map(self._hash, one.heard.words))[:MOST_WORDS], Exactly(run, one.heard.about)

    @staticmethod
    def known_exactly(line: Mapping[str, Any]) -> Exactly | None:
        """How the sentence of a noted line is known; a line of an earlier version has its words only."""
        if "run" not in line:
            return None
        return Exactly(tuple(map(str, line["run"])), About(*map(bool, line["about"])))

    def add(
        self, words: Collection[str], at: float, turns: Collection[str] = (), exactly: Exactly | None = None
    ) -> None:
        """Withhold the sentence that ``words`` stand for as of ``at``, epoch seconds; it comes from ``turns``."""
        if not words:
            return
        sentence = _Sentence(at, frozenset(words), exactly)
        self._by_word[min(words)].append(sentence)
        for turn in turns:
            self._by_turn[turn].append(sentence)

    def left_of(self, text: str, said_at: str, turn: str = "", *, answers: bool = False) -> str:
        """``text``, said at that moment in ``turn``, without the sentences that are withheld.

        ``answers``: the assistant says it. What has no moment is left as it is.
        """
        moment = moment_of(said_at)
        if moment is None or not self._by_word:
            return text
        said = moment.timestamp()
        own = self._by_turn.get(turn, ())
        near = [one for one in own if answers and said <= one.at]
        words = self._hashes(text)
        about = [one for word in words for one in self._by_word.get(word, ()) if said <= one.at]
        about = [one for one in about if one.words <= words]
        if not near and not about:
            return text

        def is_withheld(sentence: str) -> bool:
            said = heard(sentence)
            words = frozenset(map(self._hash, said.words))
            if any(echoes(one.words, words) for one in near):
                return True
            return any(self._is_said(one, words, said, is_own=one in own) for one in about)

        return without(text, is_withheld).strip()

    def _is_said(self, one: _Sentence, words: frozenset[str], sentence: Heard, *, is_own: bool) -> bool:
        known = one.exactly
        if (known is None or (is_own and known.about.fits(sentence.about))) and says(one.words, words):
            return True
        return known is not None and any(has_run(known.run, tuple(map(self._hash, run))) for run in sentence.answered())

    def _hashes(self, text: str) -> frozenset[str]:
        return frozenset(map(self._hash, words_of(text)))

    def _hash(self, word: str) -> str:
        known = self._hashed.get(word)
        if known is None:
            if len(self._hashed) >= _MOST_HASHED:
                self._hashed.clear()
            data = word.encode("utf-8", "replace")
            known = self._hashed[word] = hashlib.blake2b(data, digest_size=8, key=self.secret).hexdigest()
        return known

    def left_of_output(self, text: str, said: float) -> str:
        """A tool's output of that moment (epoch seconds) without each sentence that has all words of one that is
        withheld, whatever else stands there: a line of a log has no end where its record has one."""
        words = self._hashes(text) if self._by_word else frozenset()
        about = [one for word in words for one in self._by_word.get(word, ()) if said <= one.at and one.words <= words]
        if not about:
            return text

        def is_withheld(sentence: str) -> bool:
            words = self._hashes(sentence)
            return any(one.words <= words for one in about)

        return without(text, is_withheld).strip()
