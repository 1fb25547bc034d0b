"""Which candidates hold no more, because another one says so: the later of two statements about one thing counts.

For raw turns, records and memories of any backend, by what is said and when. Where two have no date that tells them
apart, or the question is about the past, nothing is decided; an assistant's words take nothing away from what a user
said. A candidate of several sentences keeps those that still hold.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from app.classify.changes import Words, words_of
from app.classify.replaces import WHOLE_CHARS, Judge, Vector, telling, weight_of
from app.core.recall.trace import Verdict
from app.recall.ranking import Candidate
from app.text.dates import moment_of
from app.text.past import asks_about_past
from app.text.sentences import sentences

MAX_CANDIDATES = 24
MAX_STATEMENTS = 48
MAX_CHARS = 4_000
"""Of a longer text the beginning is looked at."""
MAX_JUDGED = 8
"""Pairs that are judged, a tenth of a millisecond each: those that share most."""
TELLING = 3.0
"""Two statements are compared where they share a word of this rarity: "live" has it, "my" has not."""
SAME_SHARE = 0.6
"""What one later statement replaces is one thing: others with this share of the words of the likeliest."""
_DATED = re.compile(r"(\d{4}-\d\d-\d\d) (?=\S)")
_SPEAKER = re.compile(r"(user|assistant): ")
_BEATEN = frozenset({Verdict.BELOW_THRESHOLD, Verdict.BELOW_CUT})


class Statement(NamedTuple):
    """A sentence of a candidate."""

    candidate: int
    place: int
    text: str
    at: datetime
    by_assistant: bool
    said: str
    """All that was said in its line, where that is short: a sentence may need the one before it."""
    words: Words
    telling: frozenset[str]
    """Those of its words that tell what it is about."""

    def is_after(self, other: "Statement") -> bool:
        """Whether it was said later; within one candidate the order tells."""
        if self.candidate == other.candidate:
            return (self.at, self.place) > (other.at, other.place)
        return self.at > other.at


def without_superseded(candidates: Sequence[Candidate], query: str, judge: Judge) -> list[Candidate]:
    """The candidates; those kept that hold no more get the verdict `Verdict.SUPERSEDED`, or lose a sentence.

    What says so takes the place of what it supersedes where it scored too low to be shown itself.
    """
    looked_at = [n for n, one in enumerate(candidates) if one.verdict is Verdict.KEPT or one.verdict in _BEATEN]
    kept = [n for n in looked_at if candidates[n].verdict is Verdict.KEPT]
    if not kept:
        return list(candidates)
    said = [one for n in looked_at[:MAX_CANDIDATES] for one in statements_in(n, candidates[n])][:MAX_STATEMENTS]
    if len(said) < 2 or asks_about_past(query):
        return list(candidates)
    return _decided(candidates, _replaced(said, set(kept), words_of(query), judge))


def vectors_in(candidates: Sequence[Candidate]) -> dict[str, Vector]:
    """The vectors of statements by their text: of candidates that are one statement and come with theirs."""
    known: dict[str, Vector] = {}
    for number, candidate in enumerate(candidates[:MAX_CANDIDATES]):
        vector = candidate.hit.evidence.vector if candidate.hit.evidence else None
        if vector and len(said := {one.said for one in statements_in(number, candidate)}) == 1:
            known[said.pop()] = array("f", vector)
    return known


def statements_in(number: int, candidate: Candidate) -> Iterator[Statement]:
    """The sentences of a candidate with when they were said; none where that is not known."""
    said = _statements(candidate.hit.text[:MAX_CHARS], candidate.hit.updated_at or "")
    return (one._replace(candidate=number) for one in said)


@lru_cache(maxsize=512)
def _statements(text: str, updated_at: str) -> tuple[Statement, ...]:
    """The same memories come up again and again."""
    return tuple(_parsed(text, updated_at))


def _parsed(whole: str, updated_at: str) -> Iterator[Statement]:
    at = moment_of(updated_at)
    by_assistant = False
    for place, line in enumerate(whole.split("\n")):
        dated = _DATED.match(line)
        line = line[dated.end() :] if dated else line
        speaker = _SPEAKER.match(line)
        line = line[speaker.end() :] if speaker else line
        if speaker:
            by_assistant = speaker[1] == "assistant"
        if dated and (at is None or at.date().isoformat() != dated[1]):
            at = moment_of(dated[1])
        if at is None:
            continue
        for part in sentences(line):
            text = part.removeprefix("- ")
            words = words_of(text)
            said = line.strip() if len(line) <= WHOLE_CHARS else text
            yield Statement(0, place, text, at.astimezone(UTC), by_assistant, said, words, telling(words.bag, TELLING))


def _replaced(said: Sequence[Statement], kept: set[int], asked: Words, judge: Judge) -> Mapping[Statement, Statement]:
    """The statements of the ``kept`` candidates that hold no more, each with the one that says so."""
    pairs = _comparable(said, kept, asked)
    judged = judge.replaces([(earlier.text, later.said) for earlier, later in pairs])
    sure = [(likely, *pair) for likely, pair in zip(judged, pairs, strict=True) if likely >= judge.sure]
    told: dict[Statement, Statement] = {}
    replaced: dict[Statement, Statement] = {}
    for _, earlier, later in sorted(sure, key=lambda one: -one[0]):
        if _say_the_same(earlier, told.setdefault(later, earlier)):
            replaced.setdefault(earlier, later)
    return replaced


def _comparable(said: Sequence[Statement], kept: set[int], asked: Words) -> list[tuple[Statement, Statement]]:
    """The pairs that may be about one thing, those that share most first."""
    by_word: dict[str, list[int]] = defaultdict(list)
    for n, one in enumerate(said):
        for word in one.telling:
            by_word[word].append(n)
    near: list[tuple[float, int, int]] = []
    for n, earlier in enumerate(said):
        if earlier.candidate not in kept:
            continue
        only = (earlier.words.names | earlier.words.numbers) & asked.bag
        for m in {m for word in earlier.telling for m in by_word[word]}:
            later = said[m]
            if not later.by_assistant and later.is_after(earlier) and only <= later.words.bag:
                near.append((-weight_of(earlier.words.bag & later.words.bag), n, m))
    return [(said[n], said[m]) for _, n, m in sorted(near)[:MAX_JUDGED]]


def _say_the_same(one: Statement, other: Statement) -> bool:
    """Whether two statements share most of their words: a record and its turn, or an assistant that repeats it."""
    both = one.words.bag & other.words.bag
    return len(both) >= SAME_SHARE * max(1, min(len(one.words.bag), len(other.words.bag)))


def _decided(candidates: Sequence[Candidate], replaced: Mapping[Statement, Statement]) -> list[Candidate]:
    decided = list(candidates)
    for number in {earlier.candidate for earlier in replaced}:
        gone = {earlier: later for earlier, later in replaced.items() if earlier.candidate == number}
        whole = candidates[number]
        left = [one for one in statements_in(number, whole) if one not in gone]
        if any(not one.by_assistant for one in left):
            decided[number] = whole._replace(hit=replace(whole.hit, text=_without(whole.hit.text, gone)))
            continue
        decided[number] = whole.dropped(Verdict.SUPERSEDED)
        for later in gone.values():
            better = decided[later.candidate]
            if better.verdict in _BEATEN:
                decided[later.candidate] = better._replace(verdict=Verdict.KEPT, score=max(whole.score, better.score))
    return sorted(decided, key=lambda one: one.verdict is not Verdict.KEPT)


def _without(text: str, gone: Mapping[Statement, Statement]) -> str:
    """``text`` without the statements; a line that says nothing else goes with its date and speaker."""
    lines = text.split("\n")
    for one in gone:
        before, _, behind = lines[one.place].partition(one.text)
        line = before + behind.lstrip()
        bare = _SPEAKER.sub("", _DATED.sub("", f"{line} ")).strip(" -")
        lines[one.place] = line if bare else ""
    return "\n".join(line for line in lines if line)
