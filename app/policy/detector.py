"""What a detector is: it finds the places of one class in a text."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

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
