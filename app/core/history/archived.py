"""Archived messages for a model that asks for them: which hold the words of a query, and how a page of them reads.

Pure and linear in the text: whatever stands in an archive, a search of it takes a time that its size foretells.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.text.words import STOP_WORDS, folded, tokens

MAX_TERMS = 32
"""The longest words of a query that are looked for."""
EXCERPT_CHARS = 240
WORTH_SHOWING = 0.35
"""A message is shown when it scores at least this part of what the best one scores."""
LEAST_MESSAGE_CHARS = 400
"""A message on a page is cut no shorter than this, however little room is left."""


@dataclass(frozen=True, slots=True)
class Archived:
    """A message of an archive; ``number`` counts from 0 in it."""

    archive_id: str
    number: int
    message: CapturedMessage
    text: str = field(init=False, compare=False)
    """All of it as one text."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", written(self.message))


@dataclass(frozen=True, slots=True)
class Found:
    """A message that holds words of the query; ``excerpt`` is the part of it with most of them, on one line."""

    message: Archived
    score: float
    excerpt: str


@dataclass(frozen=True, slots=True)
class Page:
    """Messages of an archive as text. ``following`` is where the next page starts; None on the last one."""

    text: str
    shown: int
    following: int | None


def written(message: CapturedMessage) -> str:
    """What was said, and every tool call with its input and its output."""
    return "\n".join(_part(part) for part in message.parts)


def find(messages: Iterable[Archived], query: str, limit: int) -> list[Found]:
    """The messages with the words of ``query``, best first; the newer one first where two are as good.

    A rare word counts for more than a common one, and the query word for word counts most.
    """
    phrase = " ".join(folded(query).split())
    terms = _terms(query)
    held: list[tuple[Archived, frozenset[str]]] = []
    count = 0
    for message in messages:
        count += 1
        low = folded(message.text)
        present = _held(low, terms) if terms else frozenset({phrase} if phrase and phrase in low else ())
        if present:
            held.append((message, present))
    weights = _weights(count, [present for _, present in held])
    found = []
    for message, present in held:
        low = folded(message.text)
        score = sum(weights[term] for term in present) * (1.5 if phrase in low else 1.0)
        found.append(Found(message, score, _excerpt(message.text, low, present, phrase)))
    order = sorted(enumerate(found), key=lambda at: (-at[1].score, -at[0]))
    best = order[0][1].score if order else 0.0
    return [one for _, one in order[:limit] if one.score >= best * WORTH_SHOWING]


def page(messages: Sequence[CapturedMessage], offset: int, limit: int, max_chars: int) -> Page:
    """The messages from ``offset`` on, at most ``limit`` of them within ``max_chars``; one at least, if there is one.

    Every line of a message is indented, so that none can pass for the head of another message. The first one of a page
    is cut in its middle where it alone is too long, and says so.
    """
    lines: list[str] = []
    room, number = max_chars, offset
    for message in messages[offset : offset + limit]:
        shown = _entry(number, message, max_chars)
        if lines and len(shown) > room:
            break
        lines.append(shown)
        room -= len(shown) + 1
        number += 1
    return Page("\n".join(lines), number - offset, number if number < len(messages) else None)


def _entry(number: int, message: CapturedMessage, max_chars: int) -> str:
    text = _cut(written(message), max(LEAST_MESSAGE_CHARS, max_chars - LEAST_MESSAGE_CHARS))
    body = "\n".join(f"  {line}" for line in text.splitlines())
    return f"[{number}] {message.role}, {message.created_at}\n{body}"


def _cut(text: str, max_chars: int) -> str:
    """``text``; head and tail of it, where it has more lines or characters than there is room for, indented."""
    cost = len(text) + 2 * (text.count("\n") + 1)
    if cost <= max_chars:
        return text
    half = max(LEAST_MESSAGE_CHARS, max_chars * len(text) // cost) // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _part(part: TextPart | ToolPart) -> str:
    if isinstance(part, TextPart):
        return part.text
    called = f"{part.name}({part.input if isinstance(part.input, str) else _json(part.input)})"
    if part.output is None:
        return f"{called}: no result"
    return f"{called}: {'failed: ' if part.failed else ''}{part.output}"


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "..."


def _terms(query: str) -> tuple[str, ...]:
    """The different words of the query that say something; all of them when only stop words are left."""
    words = dict.fromkeys(tokens(query))
    telling = [word for word in words if word not in STOP_WORDS] or list(words)
    longest = sorted(telling, key=len, reverse=True)[:MAX_TERMS]
    return tuple(longest)


def _held(low: str, terms: Sequence[str]) -> frozenset[str]:
    """Which words stand in a folded text; it is cut into words only where one of them may."""
    possible = [term for term in terms if _stem_in(term, low)]
    return frozenset(tokens(low)).intersection(possible) if possible else frozenset()


def _stem_in(term: str, low: str) -> bool:
    """A plural may be written with other letters at its end, so those are not looked at."""
    return (term[:-1] if len(term) > 3 and term.endswith("y") else term) in low


def _weights(count: int, held: Sequence[frozenset[str]]) -> dict[str, float]:
    holding: dict[str, int] = {}
    for present in held:
        for term in present:
            holding[term] = holding.get(term, 0) + 1
    return {term: math.log(1 + count / number) for term, number in holding.items()}


def _excerpt(text: str, low: str, present: frozenset[str], phrase: str) -> str:
    """The `EXCERPT_CHARS` around the place where most of the words stand close together."""
    if len(low) != len(text):  # folding changed the length: places in one are not places in the other
        text = low
    at = low.find(phrase)
    if at < 0:
        firsts = sorted(place for term in present if (place := low.find(term[:-1] or term)) >= 0)
        near = [sum(at <= other < at + EXCERPT_CHARS // 2 for other in firsts) for at in firsts]
        at = firsts[near.index(max(near))] if firsts else 0
    start = max(0, at - EXCERPT_CHARS // 4)
    cut = text[start : start + EXCERPT_CHARS]
    shown = " ".join(cut.split())
    return f"{'... ' if start else ''}{shown}{' ...' if start + EXCERPT_CHARS < len(text) else ''}"
