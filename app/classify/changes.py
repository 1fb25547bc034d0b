"""What a later statement shares with an earlier one, and what it changes: the terms of a pair for a linear model.

Words are compared by how they begin, so that "moved" and "moves" meet; scripts without spaces are compared character by
character. What counts is which words both share (the rarer, the more), which of them only one has, whether numbers and
names differ, and which stretch of the one stands in the place of which stretch of the other. Nothing is a list of words
for a language: which words tell a change is learnt from examples.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from app.text.scripts import MARKS, UNSPACED
from app.text.words import folded

MAX_WORDS = 60
"""Words of a statement that are compared; what is longer is cut."""
MAX_ALIGNED = 30
"""Words of each that are laid side by side: the work grows with their product."""
MAX_CROSSED = 6
"""Words that only one of both has, up to which each is paired with each of the other's."""
STEM_CHARS = 5
"""Letters by which longer words are compared."""
RAREST = 8.0
"""Rarity of a word that no example has."""

_LETTER = f"(?:[^\\W_{UNSPACED}]|[{MARKS}])"
_WORD = re.compile(f"[{UNSPACED}]|{_LETTER}++(?:[-'’.@:/+#&]{_LETTER}++)*+|[?？\"“”「」]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_NUMERALS = frozenset("零〇一二三四五六七八九十百千万两")
_MARKS = frozenset("?？\"“”「」")
_BEGINS_SENTENCE = frozenset(".!?:;。！？：；\n")


@dataclass(frozen=True, slots=True)
class Said:
    """A statement cut into words, with what telling two of them apart needs."""

    words: tuple[str, ...]
    """Keys of the words in order: small letters, long words by how they begin."""
    kinds: tuple[str, ...]
    """Of each word: ``n`` a number or what holds one, ``N`` a name by its capital letter, ``c`` a character, ``w``."""
    marks: frozenset[str]
    bag: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    pairs: frozenset[str]
    """Words that follow one another."""


@lru_cache(maxsize=4096)
def said(text: str) -> Said:
    """``text`` cut into words. Linear in its length; reads `MAX_WORDS` words."""
    words: list[str] = []
    kinds: list[str] = []
    marks: set[str] = set()
    for found in _WORD.finditer(text):
        word = found.group()
        if word in _MARKS:
            marks.add("?" if word in "?？" else '"')
            continue
        key = folded(word)
        kinds.append(_kind(word, text[: found.start()]))
        words.append(key if kinds[-1] in "nc" or len(key) <= STEM_CHARS else key[:STEM_CHARS])
        if len(words) == MAX_WORDS:
            break
    return Said(
        tuple(words),
        tuple(kinds),
        frozenset(marks),
        frozenset(words),
        frozenset(word for word, kind in zip(words, kinds, strict=True) if kind == "n"),
        frozenset(word for word, kind in zip(words, kinds, strict=True) if kind == "N"),
        frozenset(f"{first} {second}" for first, second in pairwise(words)),
    )


def _kind(word: str, before: str) -> str:
    if any(map(str.isdigit, word)) or word in _NUMERALS:
        return "n"
    if _UNSPACED.match(word):
        return "c"
    before = before.rstrip(" \t\"“「'(*-")
    begins = not before or before[-1] in _BEGINS_SENTENCE
    return "N" if word != word.lower() and (not begins or word[1:] != word[1:].lower()) and len(word) > 1 else "w"


def terms_of_change(earlier: Said, later: Said, rarity: Mapping[str, float]) -> set[str]:
    """The terms of a pair. ``rarity`` is how much a word tells; one that it does not have tells the most."""
    shared = earlier.bag & later.bag
    gone, new = earlier.bag - shared, later.bag - shared
    terms = {f"-{word}" for word in gone}
    terms.update(f"+{word}" for word in new)
    terms.update(f"={word}" for word in shared)
    terms.update(f"+{pair}" for pair in later.pairs - earlier.pairs)
    terms.update(_openings(earlier, later))
    terms.update(_amounts(shared, gone, new, rarity))
    terms.update(_values("num", earlier.numbers, later.numbers))
    terms.update(_values("name", earlier.names, later.names))
    terms.update(f"#mark{mark}" for mark in later.marks - earlier.marks)
    terms.update(_substitution(earlier, later, rarity))
    terms.update(_crossed(gone, new, rarity))
    return terms


def _openings(earlier: Said, later: Said) -> Iterator[str]:
    yield f"^{' '.join(later.words[:1])}"
    yield f"^{' '.join(later.words[:2])}"
    yield f"^{' '.join(earlier.words[:1])}>{' '.join(later.words[:1])}"
    yield f"{' '.join(later.words[-1:])}$"


def _amounts(shared: frozenset[str], gone: frozenset[str], new: frozenset[str], rarity: Mapping[str, float]) -> Iterator[str]:
    common, lost, won = (sum(rarity.get(word, RAREST) for word in words) for words in (shared, gone, new))
    of_earlier, of_later = common / (common + lost or 1.0), common / (common + won or 1.0)
    rarest = max((rarity.get(word, RAREST) for word in shared), default=0.0)
    for name, value, step in (
        ("earlier", of_earlier, 0.15),
        ("later", of_later, 0.15),
        ("shared", common, 5.0),
        ("rarest", rarest, 1.0),
        ("lost", lost, 8.0),
        ("won", won, 8.0),
    ):
        for level in range(1, min(8, int(value / step)) + 1):
            yield f"#{name}{level}"


def _values(name: str, earlier: frozenset[str], later: frozenset[str]) -> Iterator[str]:
    both = earlier & later
    state = f"{'e' if earlier - both else ''}{'l' if later - both else ''}{'b' if both else ''}"
    yield f"#{name}:{state}"


def _substitution(earlier: Said, later: Said, rarity: Mapping[str, float]) -> Iterator[str]:
    """What stands in whose place, and what was put in beside it, where both are laid side by side."""
    blocks = _aligned(earlier.words[:MAX_ALIGNED], later.words[:MAX_ALIGNED])
    if not blocks:
        return
    shapes, added, dropped = [], 0.0, 0.0
    for at, (old, new) in enumerate(blocks):
        shape = f"{_shape(earlier.kinds[old])}>{_shape(later.kinds[new])}"
        shapes.append(shape)
        place = ("first" if new.start == 0 and old.start == 0 else "last" if at == len(blocks) - 1 else "mid")
        words = later.words[new]
        if shape[0] == ">":
            added += sum(rarity.get(word, RAREST) for word in words)
            for word in words:
                yield f"~put:{word}"
            yield f"~put:{place}:{min(3, len(words))}"
        elif shape[-1] == ">":
            dropped += sum(rarity.get(word, RAREST) for word in earlier.words[old])
        else:
            yield f"~{place}:{shape}"
            yield f"~{shape}:{min(4, old.stop - old.start)}:{min(4, len(words))}"
            yield f"~for:{words[0]}"
            if new.start:
                yield f"~{later.words[new.start - 1]}|{shape}"
    swaps = sum(1 for shape in shapes if shape[0] != ">" and shape[-1] != ">")
    yield f"~swaps{min(3, swaps)}:{min(2, int(added / 6))}:{min(2, int(dropped / 6))}"
    if swaps == 1 and added < 6:
        swapped = next(shape for shape in shapes if shape[0] != ">" and shape[-1] != ">")
        yield f"~clean:{swapped}"
        for word in earlier.bag & later.bag:
            yield f"~{word}"
            yield f"~{swapped}:{word}"
        yield f"~^{' '.join(later.words[:3])}"


def _aligned(first: Sequence[str], second: Sequence[str]) -> list[tuple[slice, slice]]:
    """The stretches in which both differ, as the longest common sequence of words leaves them; none where nothing is
    common."""
    rows = [[0] * (len(second) + 1)]
    for word in reversed(first):
        below, row = rows[-1], [0]
        for at in range(len(second) - 1, -1, -1):
            row.append(below[len(second) - at - 1] + 1 if second[at] == word else max(row[-1], below[len(second) - at]))
        rows.append(row)
    rows.reverse()
    if not rows[0][-1]:
        return []
    blocks: list[tuple[slice, slice]] = []
    size = len(second)
    i = j = i0 = j0 = 0
    while i < len(first) and j < size:
        if first[i] == second[j]:
            if i > i0 or j > j0:
                blocks.append((slice(i0, i), slice(j0, j)))
            i, j = i + 1, j + 1
            i0, j0 = i, j
        elif rows[i + 1][size - j] >= rows[i][size - j - 1]:
            i += 1
        else:
            j += 1
    if i0 < len(first) or j0 < size:
        blocks.append((slice(i0, len(first)), slice(j0, size)))
    return blocks


def _shape(kinds: Sequence[str]) -> str:
    for kind in "nNc":
        if kind in kinds:
            return kind
    return "w" if kinds else ""


def _crossed(gone: frozenset[str], new: frozenset[str], rarity: Mapping[str, float]) -> Iterator[str]:
    """Words of the one with words of the other, of those that examples have often enough."""
    lost = sorted((word for word in gone if word in rarity), key=lambda word: (-rarity[word], word))[:MAX_CROSSED]
    won = sorted((word for word in new if word in rarity), key=lambda word: (-rarity[word], word))[:MAX_CROSSED]
    for word in lost:
        for other in won:
            yield f"{word}>{other}"
