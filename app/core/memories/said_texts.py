"""Finding the texts that are to be forgotten within other texts, and taking them out. Pure.

How much counts as saying one depends on where it is looked for: in the turn that it comes from, in its answers, or
anywhere else, where only the same words are the same statement.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import chain

from app.core.memories.sayings import (
    Heard,
    echoes,
    heard,
    is_long,
    is_telling,
    sayings_of,
    words_of,
)
from app.text.sentences import without
from app.text.wording import Wording, runs, wording

_BEFORE = re.compile(r"(?:^|[.!?。！？\n])[\W_]*\Z")
_BEHIND = re.compile(r"[^\w.!?。！？\n]*(?:[.!?。！？]++(?!\w)|(?=\n)|\Z)")
_MARKS = "*_`~"
LEAST_WORDS = 2
"""A sentence of fewer words ("Thanks.") that stands in a longer text is no statement to look for elsewhere."""
_ROUND = 20
"""Characters around a wording that tell whether it stands alone: bullets, quotation marks."""

Run = tuple[str, ...]


class Near(IntEnum):
    """Where a text stands, from the view of a statement."""

    ELSEWHERE = 0
    TURN = 1
    """Beside it, in the turn that says it."""
    ANSWER = 2
    """Where it is taken up in other words: in the answer to it, in what is made of its turn."""


class SaidTexts:
    """Texts that are to be found in whatever form. ``removed`` collects the sentences that were taken out."""

    def __init__(self, texts: Sequence[str], messages: Iterable[str] = ()) -> None:
        """``messages`` are texts of messages that are forgotten themselves: only `are_in` looks for them."""
        self.removed: set[str] = set()
        sayings = {text: sayings_of(text) for text in texts}
        self._sayings = list(dict.fromkeys(chain.from_iterable(sayings.values())))
        self._in_turn = [
            one for of in sayings.values() for one in of if len(of) == 1 or len(one.heard.words) >= LEAST_WORDS
        ]
        self._telling = frozenset(word for one in self._sayings for word in one.heard.words if is_telling(word))
        self._whole = _wanted(run for text in texts for run in _forms(text))
        self._long = _wanted(run for text in texts if len(sayings[text]) > 1 for run in _forms(text))
        known_texts = [text for text, of in sayings.items() if len(of) == 1 and of[0].everywhere]
        self._everywhere = _wanted(one.heard.run for one in self._sayings if one.everywhere)
        self._everywhere |= _wanted(run for text in known_texts for run in _forms(text))
        words = [run for one in self._sayings if len(run := one.heard.run) == 1]
        self._in_turn_runs = self._everywhere | _wanted(run for run in words if is_long(run) or is_telling(run[0]))
        spoken = _wanted(run for text in messages for run in _forms(text) if is_long(run))
        known = _wanted(run for run in self._whole if len(run) > 1 or is_long(run) or is_telling(run[0]))
        self._known = known | spoken
        self._named = self._whole | spoken | _wanted(filter(is_long, words))

    def __bool__(self) -> bool:
        return bool(self._sayings)

    @property
    def are_looked_for(self) -> bool:
        """Whether anything is."""
        return bool(self._named)

    def left_of(self, text: str, near: Near) -> str:
        """``text`` without the sentences that say one of them, and without their words within other sentences."""
        if not self._sayings or not text or not self._may_say(text, near):
            return text
        left = _cut(text, self._long)
        left = without(left, lambda sentence: self._takes_out(sentence, near))
        return _tidied(text, _cut(left, self._in_turn_runs if near else self._everywhere))

    def left_of_memory(self, text: str) -> str:
        """``text``, which is remembered itself, without them where they stand for themselves: a longer statement that
        has their words is another one."""
        return _tidied(text, _cut(text, self._whole, only_alone=True))

    def is_one(self, text: str) -> bool:
        """Whether ``text`` is one of them."""
        return bool(self._whole) and wording(text).words in self._whole

    def are_in(self, text: str) -> bool:
        """Whether one of them stands in ``text``, or a line of one that is a word of its own, such as a password."""
        return bool(self._named) and any(_standing_in(wording(text), self._named))

    def are_whole_in(self, text: str) -> bool:
        """Whether one of them stands in ``text`` as a whole, and not by chance."""
        return bool(self._known) and any(_standing_in(wording(text), self._known))

    def _may_say(self, text: str, near: Near) -> bool:
        """A quick look: most texts share few words with them."""
        words = words_of(text)
        if any(one.heard.words <= words for one in self._sayings):
            return True
        if near and not self._telling.isdisjoint(words):
            return True
        if near is Near.ANSWER and any(echoes(one.heard.words, words) for one in self._in_turn):
            return True
        if text.isascii() and "\\" not in text:
            return False
        return any(_standing_in(wording(text), self._in_turn_runs if near else self._everywhere))

    def _takes_out(self, sentence: str, near: Near) -> bool:
        said = heard(sentence)
        gone = any(one.everywhere and one.is_said(said) for one in self._sayings)
        if not gone and near:
            gone = any(one.is_said(said) or one.is_meant(said) for one in self._in_turn) or self._take_up(said, near)
        if gone:
            self.removed.add(sentence)
        return gone

    def _take_up(self, said: Heard, near: Near) -> bool:
        """Whether a sentence near by takes one of them up, and says nothing else that has a name or number."""
        named = frozenset(filter(is_telling, said.words))
        if self._telling & named:
            return named <= self._telling
        if near is not Near.ANSWER:
            return False
        return any(echoes(one.heard.words, said.words) and named <= one.heard.words for one in self._in_turn)


def _wanted(found: Iterable[Run]) -> dict[Run, frozenset[str]]:
    """What is looked for, with the words that a text needs to have for it."""
    return {run: frozenset(run) for run in found if run}


def _forms(text: str) -> Iterator[Run]:
    """The words of a text, and those that it has where its backslashes are escaped."""
    yield wording(text).words
    if "\\" in text:
        yield wording(text.replace("\\", "\\\\")).words


def _standing_in(found: Wording, wanted: dict[Run, frozenset[str]]) -> Iterator[Run]:
    there = frozenset(found.words)
    return (run for run, words in wanted.items() if words <= there and any(runs(run, found)))


def _tidied(text: str, left: str) -> str:
    """What is left of a text; nothing where that is but signs."""
    if left == text:
        return text
    return left.strip() if any(map(str.isalnum, left)) else ""


def _cut(text: str, wanted: dict[Run, frozenset[str]], *, only_alone: bool = False) -> str:
    """``text`` without these words wherever they stand, and without the marks around them."""
    found = wording(text) if wanted else None
    kept: list[str] = []
    at = 0
    places = sorted(place for run in _standing_in(found, wanted) for place in runs(run, found)) if found else []
    for place in places:
        start, end = _with_marks(text, *place)
        alone = _end_of_sentence(text, start, end)
        if max(alone, end) > at and (alone or not only_alone):
            kept.append(text[at : max(start, at)])
            at = max(at, alone or end)
    return "".join([*kept, text[at:]]) if kept else text


def _with_marks(text: str, start: int, end: int) -> tuple[int, int]:
    while start and end < len(text) and text[start - 1] in _MARKS and text[end] in _MARKS:
        start, end = start - 1, end + 1
    return start, end


def _end_of_sentence(text: str, start: int, end: int) -> int:
    """Where a wording ends that is a sentence, or a row of them; 0 where it is a part of one."""
    behind = _BEHIND.match(text[end : end + _ROUND])
    begins = _BEFORE.search(text[max(0, start - _ROUND) : start])
    return end + behind.end() if begins and behind else 0
