"""Word lists that are looked up, not compiled: by the first character or word, then by `str.startswith`.

An alternation of some hundred words takes milliseconds to compile whenever the process starts, and tries word after
word at each place. A dictionary costs next to nothing at either end, and one pass over a text serves many lists.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Index = Mapping[str, tuple[str, ...]]
"""Words by their first character, or phrases by their first word; the longest first."""


class Hit(NamedTuple):
    """Where words of a list stand in a text, and which."""

    start: int
    end: int
    words: str


def by_first(listed: str) -> Index:
    """The words of a list, which stand between white space, by their first character."""
    return _indexed((word[0], word) for word in listed.split())


def by_first_word(listed: str) -> Index:
    """The phrases of a list, which commas part, by their first word."""
    phrases = (" ".join(phrase.split()) for phrase in listed.split(","))
    return _indexed((phrase.partition(" ")[0], phrase) for phrase in phrases if phrase)


def word_set(listed: str) -> frozenset[str]:
    """The words of a list, which stand between white space."""
    return frozenset(listed.split())


def each(heads: str, tails: str) -> str:
    """Every head with every tail, both lists and the answer parted by commas."""
    return ", ".join(f"{head.strip()} {tail.strip()}" for head in heads.split(",") for tail in tails.split(","))


def _indexed(items: Iterable[tuple[str, str]]) -> Index:
    index: dict[str, list[str]] = {}
    for first, item in items:
        if first in index:
            index[first].append(item)
        else:
            index[first] = [item]
    return {first: _longest_first(same) for first, same in index.items()}


def _longest_first(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(items) if len(items) == 1 else tuple(sorted(set(items), key=len, reverse=True))


def merged(*indexes: Index) -> Index:
    """One index of the words of many."""
    together: dict[str, tuple[str, ...]] = {}
    for index in indexes:
        for first, same in index.items():
            together[first] = together.get(first, ()) + same
    return {first: _longest_first(same) for first, same in together.items()}


def word_at(index: Index, text: str, start: int) -> str:
    """The longest word that stands at ``start``, or the empty string."""
    words = index.get(text[start : start + 1], ())
    if not text.startswith(words, start):
        return ""
    return next(word for word in words if text.startswith(word, start))


def hits(index: Index, text: str, start: int = 0, end: int | None = None) -> Iterator[Hit]:
    """Each place from ``start`` and before ``end`` where a word begins; they may overlap."""
    for place in range(start, len(text) if end is None else min(end, len(text))):
        if text[place] in index and (word := word_at(index, text, place)):
            yield Hit(place, place + len(word), word)


def after_words(index: Index, text: str, unless: Index | None = None) -> int:
    """Where the text goes on behind the words and spaces that it begins with; a word of ``unless`` stops it."""
    start = 0
    while start < len(text) and not (unless and word_at(unless, text, start)):
        lead = text[start] if text[start].isspace() else word_at(index, text, start)
        if not lead:
            break
        start += len(lead)
    return start


_WORD = re.compile(r"\w[\w'-]*")


def phrase_at(index: Index, text: str, start: int = 0) -> str:
    """The longest phrase that stands at ``start`` and ends with a word, or the empty string."""
    word = _WORD.match(text, start)
    phrases = index.get(word[0], ()) if word else ()
    return next((phrase for phrase in phrases if _stands(phrase, text, start)), "")


def phrase_hits(index: Index, text: str) -> Iterator[Hit]:
    """Each place where a phrase stands; they do not overlap."""
    end = 0
    for word in _WORD.finditer(text):
        start = word.start()
        if start >= end and word[0] in index and (phrase := phrase_at(index, text, start)):
            end = start + len(phrase)
            yield Hit(start, end, phrase)


def _stands(phrase: str, text: str, start: int) -> bool:
    return text.startswith(phrase, start) and not text[start + len(phrase) : start + len(phrase) + 1].isalnum()


def after_phrases(index: Index, text: str, start: int = 0) -> int:
    """Where the text goes on behind the phrases that stand at ``start``, and the spaces and commas behind each."""
    while phrase := phrase_at(index, text, start):
        start += len(phrase)
        while text[start : start + 1] in (" ", ","):
            start += 1
    return start


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """What shows one thing in a text: words or phrases, and a pattern for what no list can say.

    Listed words do not count directly behind one of ``unless``.
    """

    index: Index
    pattern: re.Pattern[str] | None = None
    unless: tuple[str, ...] = ()


def words(listed: str, pattern: str = "", *, unless: tuple[str, ...] = ()) -> Listing:
    """A list of Chinese words, which stand between white space and are found anywhere."""
    return Listing(by_first(listed), re.compile(pattern) if pattern else None, unless)


def phrases(listed: str, pattern: str = "", *, unless: tuple[str, ...] = ()) -> Listing:
    """A list of English phrases, which commas part and which begin and end with a word."""
    return Listing(by_first_word(listed), re.compile(pattern) if pattern else None, unless)


Scan = Callable[[str], dict[Listing, Hit]]
"""Tells which lists have something in a text, and where first."""

_Places = Callable[[str], Iterator[tuple[int, str]]]


def word_scanner(*listings: Listing) -> Scan:
    """One pass over a text for lists of `words`."""
    return _scanner(listings, enumerate, lambda word, text, start: text.startswith(word, start))


def phrase_scanner(*listings: Listing) -> Scan:
    """One pass over a text for lists of `phrases`."""
    return _scanner(listings, lambda text: ((word.start(), word[0]) for word in _WORD.finditer(text)), _stands)


def _scanner(listings: tuple[Listing, ...], places: _Places, stands: Callable[[str, str, int], bool]) -> Scan:
    by_start: dict[str, list[tuple[Listing, tuple[str, ...]]]] = {}
    for listing in listings:
        for first, listed in listing.index.items():
            by_start.setdefault(first, []).append((listing, listed))
    patterns = [(listing, listing.pattern) for listing in listings if listing.pattern]

    def scan(text: str) -> dict[Listing, Hit]:
        found: dict[Listing, Hit] = {}
        for start, first in places(text):
            if first not in by_start:
                continue
            for listing, listed in by_start[first]:
                if listing in found or not text.startswith(listed, start):
                    continue
                item = next((item for item in listed if stands(item, text, start)), "")
                if item and not text.endswith(listing.unless, 0, start):
                    found[listing] = Hit(start, start + len(item), item)
        for listing, pattern in patterns:
            match = pattern.search(text)
            if match and (listing not in found or match.start() < found[listing].start):
                found[listing] = Hit(match.start(), match.end(), match[0])
        return found

    return scan
