"""What candidates say, sentence by sentence, with who said it and when."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from app.classify.changes import Words, words_of
from app.classify.fillers import is_no_query
from app.classify.replaces import WHOLE_CHARS, telling
from app.recall.ranking import Candidate
from app.text.dates import moment_of
from app.text.sentences import sentences
from app.text.words import folded

MAX_CHARS = 4_000
"""Of a longer text the beginning is looked at."""
TELLING = 3.0
"""Rarity from which a word tells what a statement is about: "live" has it, "my" has not."""
SPEAKER = re.compile(r"(user|assistant): ")
DATED = re.compile(r"(\d{4}-\d\d-\d\d) (?=\S)")
LABEL = re.compile(r"\A\[[^\[\]\n]{1,80}\] ?")
"""What an export puts in front of a message: "[10:32]", "[SMS 20:20 to Bob]"."""


class Statement(NamedTuple):
    """A sentence of a candidate."""

    candidate: int
    place: int
    text: str
    at: datetime
    by_assistant: bool
    said: str
    """All that was said in its line: a sentence may need the one before it."""
    words: Words
    telling: frozenset[str]
    """Those of its words that tell what it is about."""

    def is_after(self, other: "Statement") -> bool:
        """Whether it was said later; within one candidate the order tells."""
        if self.candidate == other.candidate:
            return (self.at, self.place) > (other.at, other.place)
        return self.at > other.at


def vectors_in(candidates: Sequence[Candidate], most: int) -> Mapping[str, bytes]:
    """The vectors of statements by their text: of those of the first candidates that are one statement."""
    known: dict[str, bytes] = {}
    for number, candidate in enumerate(candidates[:most]):
        vector = candidate.hit.evidence.vector if candidate.hit.evidence else None
        if vector and len(said := {one.said for one in statements_in(number, candidate)}) == 1:
            known[said.pop()] = vector
    return known


def statements_in(number: int, candidate: Candidate) -> Iterator[Statement]:
    """The sentences of a candidate with when they were said; none where that is not known, and none of what was said at
    length: there one sentence tells too little of what it is about, and evidence in long chats would be lost."""
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
        dated = DATED.match(line)
        line = line[dated.end() :] if dated else line
        speaker = SPEAKER.match(line)
        line = line[speaker.end() :] if speaker else line
        if speaker:
            by_assistant = speaker[1] == "assistant"
        if dated and (at is None or at.date().isoformat() != dated[1]):
            at = moment_of(dated[1])
        if at is None or len(line) > WHOLE_CHARS:
            continue
        for part in sentences(line):
            text = part.removeprefix("- ")
            words = words_of(text)
            utc = at.astimezone(UTC)
            yield Statement(0, place, text, utc, by_assistant, line.strip(), words, telling(words.bag, TELLING))


@lru_cache(maxsize=1024)
def says_nothing(text: str) -> bool:
    """Whether a sentence is a greeting, thanks or the like, whoever is named in it: no news takes its place."""
    said = LABEL.sub("", text.partition(": ")[2] or text)  # a chat of several puts a name in front
    names = words_of(said).names
    return is_no_query(" ".join(word for word in said.split() if folded(word.strip("!,.?。，！？")) not in names))


def without(text: str, gone: Mapping[Statement, Statement]) -> str:
    """``text`` without the statements; a line that says nothing else goes with its date and speaker."""
    lines = text.split("\n")
    for one in gone:
        before, _, behind = lines[one.place].partition(one.text)
        line = (before + behind.lstrip()).rstrip()
        bare = SPEAKER.sub("", DATED.sub("", f"{line} ")).strip(" -")
        lines[one.place] = line if bare else ""
    return "\n".join(line for line in lines if line)
