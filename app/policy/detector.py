"""What a detector is: it finds the places of one class in a text."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.policy.linear_patterns import Pattern

Span = tuple[int, int]
"""First character and the one behind the last, in characters."""


def within(spans: Sequence[Span], at: int) -> bool:
    """Whether the character is in one of the spans, which are in order."""
    place = bisect_right(spans, at, key=lambda span: span[1])
    return place < len(spans) and spans[place][0] <= at


class Find(Protocol):
    """Finds places in a text, in linear time."""

    def __call__(self, text: str) -> Iterable[Span]:
        """The places, in any order; they may overlap."""
        ...


@dataclass(frozen=True, slots=True)
class Detector:
    """Places of the class ``kind``. ``name`` says in tests and errors which detector it is."""

    kind: str
    name: str
    find: Find
    signs: Callable[[], Sequence[Pattern]] | None = None
    """It finds nothing in a text in which none of these is found: most texts need not be read by any detector. None:
    it reads every text."""
