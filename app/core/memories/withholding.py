"""What must not be found any more although it stands elsewhere, too: sentences of texts that were changed or forgotten.

No words are kept: their hashes under a secret are enough to know a sentence again, in other forms too ("You live in
Berlin" for "I live in Berlin"). It counts for what was said up to its moment: who says it again later, means it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from app.text.dates import moment_of
from app.text.sentences import sentences, without
from app.text.words import STOP_WORDS, tokens

MOST_WORDS = 60
"""Of a longer sentence so many words stand for it."""
_OTHER_WORDS = 2
"""A sentence that says a text may hold as many words again, and so many more: a longer one says something else."""
_SHARE_NEAR_BY = 0.5
"""In the turn that a text comes from, the answer says it in fewer words ("Berlin, noted"): this share is enough."""
_MOST_HASHED = 50_000

Words = frozenset[str]


def words_of(text: str) -> Words:
    """The words by which sentences are compared."""
    words = frozenset(tokens(text))
    return words - STOP_WORDS or words


def says(statement: Words, sentence: Words) -> bool:
    """Whether a sentence says a statement, in whatever form ("You live in Berlin" says "I live in Berlin")."""
    return statement <= sentence and len(sentence) <= 2 * len(statement) + _OTHER_WORDS


def echoes(statement: Words, sentence: Words) -> bool:
    """Whether a sentence of the turn that a statement comes from takes it up."""
    return len(statement & sentence) >= _SHARE_NEAR_BY * len(statement)


@dataclass(frozen=True, slots=True)
class _Sentence:
    at: float
    words: frozenset[str]


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

    def add(self, words: Collection[str], at: float, turns: Collection[str] = ()) -> None:
        """Withhold the sentence that ``words`` stand for as of ``at``, epoch seconds; it comes from ``turns``."""
        if not words:
            return
        sentence = _Sentence(at, frozenset(words))
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
        near = [one for one in self._by_turn.get(turn, ()) if answers and said <= one.at]
        words = self._hashes(text)
        about = [one for word in words for one in self._by_word.get(word, ()) if said <= one.at]
        about = [one for one in about if one.words <= words]
        if not near and not about:
            return text

        def is_withheld(sentence: str) -> bool:
            words = self._hashes(sentence)
            return any(says(one.words, words) for one in about) or any(echoes(one.words, words) for one in near)

        return without(text, is_withheld).strip()

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
