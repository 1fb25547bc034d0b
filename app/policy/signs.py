"""Words that name a class of things: secrets, PINs, one-time codes, identifiers, verbs that link a name and its value.

A name stands for its class (``weights/signs.json``, some thirty languages), so that what was learnt of one word holds
for all words of the class. Chinese, Japanese and Korean words are found inside runs without spaces.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files

from app.policy.linear_patterns import Pattern
from app.text.scripts import CJK

_WORD = re.compile(rf"[{CJK}]|[^\W_\d{CJK}]+|\d+|[^\w\s]|_|\n")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CJK = re.compile(f"[{CJK}]")
_CUES = ("secret", "pin", "once", "code", "factor", "command", "call", "entry")
_SHORT = {"code": 4}
"""Characters up to which a name is looked for as a word of its own only; 3 unless the class is listed."""


@cache
def _listed() -> dict[str, dict[str, list[str]]]:
    """The words and phrases of each class, by language."""
    listed: dict[str, dict[str, list[str]]] = json.loads(
        (files("app.policy") / "weights" / "signs.json").read_text(encoding="utf-8")
    )
    return listed


def names(*classes: str) -> list[str]:
    """The words and phrases of these classes in all languages, in small letters."""
    return list(dict.fromkeys(word.lower() for one in classes for each in _listed()[one].values() for word in each))


@cache
def _classes() -> dict[str, str]:
    """Class of each word or phrase; the first class that lists it counts."""
    return {word: name for name in reversed(_listed()) for word in names(name)}


class Words:
    """A stretch of text in words, signs and line ends, with names replaced by ``#class``; the longest phrase counts.

    In small letters, ``camelCase`` apart, numbers by their length. ``said`` are the same words with no class in their
    place; ``starts`` and ``ends`` say where each stands.
    """

    __slots__ = ("ends", "names", "said", "starts")

    def __init__(self, text: str, start: int = 0, end: int | None = None) -> None:
        pieces = list(_pieces(text, start, len(text) if end is None else end))
        plain = [piece[2] for piece in pieces]
        self.names: list[str] = []
        self.said: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        at = 0
        while at < len(plain):
            name, size = _class_at(plain, at)
            self.names.append(name)
            self.said.append(" ".join(plain[at : at + size]))
            self.starts.append(pieces[at][0])
            self.ends.append(pieces[at + size - 1][1])
            at += size

    def before(self, at: int, most: int) -> list[str]:
        """At most ``most`` words in front of the character ``at``, the nearest first."""
        last = bisect_right(self.ends, at)
        return self.names[max(0, last - most) : last][::-1]

    def nearest(self, at: int, most: int, classes: Collection[str]) -> str:
        """The nearest word of these classes in front of the character ``at``, as it is said; empty without one."""
        last = bisect_right(self.ends, at)
        places = range(last - 1, max(0, last - most) - 1, -1)
        return next((self.said[place] for place in places if self.names[place] in classes), "")

    def behind(self, at: int, most: int) -> list[str]:
        """At most ``most`` words from the character ``at`` on."""
        first = bisect_left(self.starts, at)
        return self.names[first : first + most]


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    for match in _WORD.finditer(text, start, end):
        piece = match[0]
        if piece[0].isdigit():
            yield match.start(), match.end(), f"<{min(len(piece), 9)}>"
        elif len(piece) > 1 and piece.isascii() and not piece.islower():
            for part in _CAMEL.finditer(piece):
                yield match.start() + part.start(), match.start() + part.end(), part[0].lower()
        else:
            yield match.start(), match.end(), piece.lower()


def _class_at(plain: list[str], at: int) -> tuple[str, int]:
    """The class of the phrase that begins at ``at`` and of how many words it is; else the word itself."""
    first = plain[at]
    longest = _beginnings().get(first, 0)
    if longest > 1:
        listed = _classes()
        joint = "" if _CJK.match(first) else " "
        for size in range(min(longest, len(plain) - at), 1, -1):
            piece = plain[at : at + size]
            if name := listed.get(joint.join(piece)):
                return f"#{name}", size
            if size == 3 and piece[1] in "_-.'’" and (name := listed.get(f"{first} {piece[2]}")):
                return f"#{name}", size
    if longest and (name := _classes().get(first)):
        return f"#{name}", 1
    return first, 1


@cache
def _beginnings() -> dict[str, int]:
    """Of the first word of each listed phrase, how many words the longest such phrase can have in a text."""
    longest: dict[str, int] = {}
    for phrase in _classes():
        parts = list(phrase) if _CJK.match(phrase) else phrase.split(" ")
        size = 3 if len(parts) == 2 and not _CJK.match(phrase) else len(parts)
        longest[parts[0]] = max(longest.get(parts[0], 0), size)
    return longest


@cache
def cue() -> Pattern:
    """Names of secrets and PINs, and commands that take one; short ones as words of their own only."""
    short = {word for one in _CUES for word in names(one) if len(word) <= _SHORT.get(one, 3) and word.isascii()}
    long = sorted({*names(*_CUES)} - short, key=len, reverse=True)
    joined = "|".join(re.escape(word).replace(r"\ ", r"[ _.'’-]?") for word in long)
    return Pattern(rf"(?i)(?:(?:^|[^a-z])(?:{'|'.join(sorted(short))})(?:[^a-z]|$)|pass|pwd|{joined})(?s:.{{0,32}})")


def cued(text: str, before: int, behind: int) -> Iterator[tuple[int, int]]:
    """The stretches of text in which something is called a secret or a PIN, with so much before and behind.

    One match takes some of what is behind a name as well, so that there are few of them in any text.
    """
    last: tuple[int, int] | None = None
    for start, matched in cue().spans(text):
        end = min(matched + behind, len(text))
        if last is not None and start - before <= last[1]:
            last = (last[0], end)
        else:
            if last is not None:
                yield last
            last = (max(0, start - before), end)
    if last is not None:
        yield last
