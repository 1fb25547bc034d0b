"""The words of a text in order, with the places where they stand: a wording is found again whatever its case,
punctuation, marks of Markdown, invisible signs, Unicode form or JSON escapes."""

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.text.scripts import MARKS, UNSPACED

_INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
_JAMO = "\u1100-\u11ff"
_VOICED = "\u3099\u309a\uff9e\uff9f"
_INVISIBLES = re.compile(f"[{_INVISIBLE}]++")
_PAIR = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf'\\(?:{_PAIR}|u[0-9a-fA-F]{{4}}|["\\/bfnrt])')
_PAIR_CHARS = 12
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORD = re.compile(
    f"(?P<signs>[{_JAMO}]++|[{UNSPACED}][{_VOICED}]?+)|(?:[^\\W_{UNSPACED}]|[{MARKS}{_INVISIBLE}])++", re.UNICODE
)


class Wording(NamedTuple):
    """Words as they are compared, and where each begins and ends in the text."""

    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    line: str
    """The words with a space around each."""


def unescaped(text: str) -> str:
    """``text`` with what JSON escapes written out, and without invisible signs."""
    if "\\" in text:
        text = _ESCAPE.sub(_character, text)
    return text if text.isascii() else _INVISIBLES.sub("", text)


def wording(text: str) -> Wording:
    """The words of ``text``. A character of a script that puts no space between words is a word of its own."""
    plain, place_of = _with_places(text)
    words: list[str] = []
    places: list[tuple[int, int]] = []
    for found in _WORD.finditer(plain):
        word = _folded(found.group())
        for one in word if found.lastgroup == "signs" else filter(None, (word,)):
            words.append(one)
            places.append((place_of(found.start()), place_of(found.end())))
    return Wording(tuple(words), tuple(places), _line(words))


def runs(run: Sequence[str], within: Wording) -> Iterator[tuple[int, int]]:
    """Where these words stand one after the other, as places in the text."""
    wanted = _line(run)
    at, counted, first = within.line.find(wanted) if run else -1, 0, 0
    while at >= 0:
        first += within.line.count(" ", counted, at)
        yield within.places[first][0], within.places[first + len(run) - 1][1]
        counted = at
        at = within.line.find(wanted, at + len(wanted) - 1)


def has_run(run: Sequence[str], words: Sequence[str]) -> bool:
    """Whether these words stand one after the other among ``words``."""
    return bool(run) and _line(run) in _line(words)


def _line(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", _INVISIBLES.sub("", word)).casefold()
    return unicodedata.normalize("NFKC", folded).replace(" ", "")


def _character(escape: re.Match[str]) -> str:
    written = escape.group()
    if len(written) == _PAIR_CHARS:
        return str(json.loads(f'"{written}"'))
    return _SHORT.get(written[1]) or chr(int(written[2:], 16))


class _Places:
    """Where a character of a text without its escapes stands in the text itself."""

    def __init__(self) -> None:
        self._plain, self._raw = [0], [0]

    def add(self, plain: int, raw: int) -> None:
        """From character ``plain`` on the text goes on at ``raw``."""
        self._plain.append(plain)
        self._raw.append(raw)

    def __call__(self, plain: int) -> int:
        part = bisect_right(self._plain, plain) - 1
        return self._raw[part] + plain - self._plain[part]


def _with_places(text: str) -> tuple[str, _Places]:
    places = _Places()
    if "\\" not in text:
        return text, places
    parts: list[str] = []
    at = length = 0
    for escape in _ESCAPE.finditer(text):
        parts += (text[at : escape.start()], _character(escape))
        length += len(parts[-2]) + len(parts[-1])
        at = escape.end()
        places.add(length, at)
    return "".join([*parts, text[at:]]), places
