"""What a detector is: it finds the places of one class in a text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.policy.linear_patterns import Pattern

Span = tuple[int, int]
"""First character and the one behind the last, in characters."""


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
