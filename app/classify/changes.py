"""What a later statement shares with an earlier one and what it changes: the terms of a pair, for a linear model.

What counts is which words only the later one has, which both have (the rarer, the more), whether numbers and names
differ, and, where both are laid side by side, what stands in whose place and what was put in beside it. Longer words
are compared by how they begin, so that "moved" meets "moves", and scripts without spaces character by character. No
list says which words tell of a change: that is learnt from examples, in every language that they are in.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from app.text.scripts import MARKS, UNSPACED
from app.text.words import folded

MAX_WORDS = 60
"""Words of a statement that are compared; what is longer is cut."""
MAX_ALIGNED = 24
"""Words of each that are laid side by side: the work grows with their product."""
STEM_CHARS = 5
"""Letters by which words that are no names are compared."""
RAREST = 8.0
"""Rarity of a word that no example has."""
FAMILIES = ("new", "order", "form", "inserted", "amounts", "values", "shared")
"""Kinds of terms, in the order of `terms_of_change`."""

_LETTER = f"(?:[^\\W_{UNSPACED}]|[{MARKS}])"
_WORD = re.compile(f"[{UNSPACED}]|{_LETTER}++(?:[-'’.@:/+#&]{_LETTER}++)*+|[?？\"“”「」]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_NUMERALS = frozenset("零〇一二三四五六七八九十百千万两")
_QUESTION, _QUOTES = frozenset("?？"), frozenset('"“”「」')
_SENTENCE_END = frozenset(".!?:;。！？：；\n")


@dataclass(frozen=True, slots=True)
class Words:
    """A statement cut into words."""

    keys: tuple[str, ...]
    """What the words are compared by, in their order."""
    kinds: str
    """One letter for each word: ``n`` holds a digit, ``N`` is capitalised within a sentence, ``c`` a character of a
    script without spaces, ``w`` any other."""
    marks: frozenset[str]
    bag: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    order: frozenset[str]
    """Words with the one behind them."""


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    """``text`` cut into words: `MAX_WORDS` of them, in linear time."""
    keys: list[str] = []
    kinds: list[str] = []
    marks: set[str] = set()
    end = 0
    begins = True
    for found in _WORD.finditer(text):
        word = found.group()
        between = text[end : found.start()]
        begins = begins or not _SENTENCE_END.isdisjoint(between)
        end = found.end()
        if word in _QUESTION or word in _QUOTES:
            marks.add("?" if word in _QUESTION else '"')
            continue
        kind = _kind(word, begins=begins)
        key = folded(word)
        keys.append(key[:STEM_CHARS] if kind == "w" else key)
        kinds.append(kind)
        begins = False
        if len(keys) == MAX_WORDS:
            break
    return Words(
        tuple(keys),
        "".join(kinds),
        frozenset(marks),
        frozenset(keys),
        frozenset(key for key, kind in zip(keys, kinds, strict=True) if kind == "n"),
        frozenset(key for key, kind in zip(keys, kinds, strict=True) if kind == "N"),
        frozenset(f"{first} {second}" for first, second in pairwise(keys)),
    )


def _kind(word: str, *, begins: bool) -> str:
    if word in _NUMERALS or any(map(str.isdigit, word)):
        return "n"
    if _UNSPACED.match(word):
        return "c"
    capital = word[1:] != word[1:].lower() or (not begins and word[0] != word[0].lower())
    return "N" if capital and len(word) > 1 else "w"


@dataclass(frozen=True, slots=True)
class Change:
    """The terms of a pair by `FAMILIES`, and how much both share."""

    terms: tuple[Sequence[str], ...]
    amounts: tuple[float, ...]
    """Of all that the earlier one says, the share that the later one has; the other way round; what both share, what
    only the one and only the other has; the rarest shared word. All are about 0 to 5."""


def change_between(earlier: Words, later: Words, rarity: Mapping[str, float]) -> Change:
    """What ``later`` changes of ``earlier``. ``rarity`` is how much a word tells, `RAREST` for those not in it."""
    both = earlier.bag & later.bag
    lost, new = earlier.bag - both, later.bag - both
    common, missing, added = (_weight(words, rarity) for words in (both, lost, new))
    rarest = max((rarity.get(word, RAREST) for word in both), default=0.0)
    of_earlier, of_later = common / (common + missing or 1.0), common / (common + added or 1.0)
    form, inserted = _side_by_side(earlier, later, rarity)
    amounts = (
        *_levels("earlier", of_earlier, 0.15),
        *_levels("later", of_later, 0.15),
        *_levels("common", common, 5.0),
        *_levels("rarest", rarest, 1.0),
        *_levels("missing", missing, 8.0),
        *_levels("added", added, 8.0),
    )
    values = (
        f"#numbers:{_state(earlier.numbers, later.numbers)}",
        f"#names:{_state(earlier.names, later.names)}",
        *(f"#mark{mark}" for mark in later.marks - earlier.marks),
    )
    return Change(
        (
            [f"+{word}" for word in new],
            [f"+{pair}" for pair in later.order - earlier.order],
            form,
            inserted,
            amounts,
            values,
            [f"={word}" for word in both],
        ),
        (of_earlier, of_later, min(common, 30) / 10, min(missing, 40) / 10, min(added, 60) / 10, rarest / RAREST),
    )


def _weight(words: Iterable[str], rarity: Mapping[str, float]) -> float:
    return sum(rarity.get(word, RAREST) for word in words)


def _levels(name: str, value: float, step: float) -> Iterator[str]:
    return (f"#{name}{level}" for level in range(1, min(8, int(value / step)) + 1))


def _state(earlier: frozenset[str], later: frozenset[str]) -> str:
    """Whether the earlier one alone, the later one alone, or both have such values."""
    both = earlier & later
    return f"{'e' if earlier - both else ''}{'l' if later - both else ''}{'b' if both else ''}"


def _side_by_side(earlier: Words, later: Words, rarity: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Terms for what stands in whose place, and for what the later one has put in."""
    form: list[str] = []
    inserted: list[str] = []
    swaps: list[str] = []
    added = dropped = 0.0
    blocks = differences(earlier.keys[:MAX_ALIGNED], later.keys[:MAX_ALIGNED])
    for number, (old, new) in enumerate(blocks):
        words, before = later.keys[new], later.keys[new.start - 1] if new.start else "^"
        place = "first" if old.start == new.start == 0 else "last" if number == len(blocks) - 1 else "mid"
        if old.start == old.stop:
            added += _weight(words, rarity)
            inserted += [f"~put:{word}" for word in words]
            inserted.append(f"~put:{place}:{min(3, len(words))}")
        elif new.start == new.stop:
            dropped += _weight(earlier.keys[old], rarity)
        else:
            shape = f"{_shape(earlier.kinds[old])}>{_shape(later.kinds[new])}"
            swaps.append(shape)
            form += [f"~{place}:{shape}", f"~{shape}:{min(4, old.stop - old.start)}:{min(4, len(words))}"]
            form += [f"~for:{words[0]}", f"~{before}|{shape}"]
    if blocks:
        form.append(f"~swaps{min(3, len(swaps))}:{min(2, int(added / 6))}:{min(2, int(dropped / 6))}")
    if len(swaps) == 1 and added < 6:
        form += [f"~only:{swaps[0]}", f"~^{' '.join(later.keys[:3])}"]
    return form, inserted


def _shape(kinds: str) -> str:
    return next((kind for kind in "nNc" if kind in kinds), "w")


def differences(first: Sequence[str], second: Sequence[str]) -> list[tuple[slice, slice]]:
    """The stretches in which two sequences differ, as their longest common subsequence leaves them.

    None where nothing is common. The work grows with the product of the lengths.
    """
    size = len(second)
    below = [0] * (size + 1)
    table = [below]
    for word in reversed(first):
        row = [0] * (size + 1)
        for at in range(size - 1, -1, -1):
            row[at] = below[at + 1] + 1 if word == second[at] else max(row[at + 1], below[at])
        table.append(row)
        below = row
    if not below[0]:
        return []
    table.reverse()
    blocks: list[tuple[slice, slice]] = []
    i = j = i0 = j0 = 0
    while i < len(first) and j < size:
        if first[i] == second[j]:
            if i > i0 or j > j0:
                blocks.append((slice(i0, i), slice(j0, j)))
            i, j = i + 1, j + 1
            i0, j0 = i, j
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    if i0 < len(first) or j0 < size:
        blocks.append((slice(i0, len(first)), slice(j0, size)))
    return blocks
