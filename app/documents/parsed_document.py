"""The few types that carry a document from its bytes to the passages that a search finds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Refusal(StrEnum):
    """Why something is not imported."""

    TOO_LARGE = "too_large"
    UNKNOWN_TYPE = "unknown_type"
    UNSAFE = "unsafe"
    UNREADABLE = "unreadable"


class Refused(Exception):
    """It is not imported, and why; nothing of it is kept."""

    def __init__(self, why: Refusal, detail: str) -> None:
        super().__init__(detail)
        self.why = why
        self.detail = detail


class Section(NamedTuple):
    """A stretch of a document under one heading."""

    path: tuple[str, ...]
    """The headings above it, outermost first; without the document's own name."""
    text: str


class Passage(NamedTuple):
    """What a search finds, and a prompt shows: a few paragraphs, and where they stand."""

    place: str
    """The document's name and the headings above: ``guide.md > Install``."""
    text: str


@dataclass(frozen=True, slots=True)
class Content:
    """What a parser finds in a file."""

    title: str
    """Empty where the document names none."""
    text: str
    """All of it as text."""
    sections: Sequence[Section]


@dataclass(frozen=True, slots=True)
class Document:
    """One document, read."""

    path: str
    """Within what was imported, with ``/``; its last part is the document's name."""
    digest: str
    """Of its bytes and of all that decides what is made of them."""
    size: int
    """Bytes as it came."""
    title: str
    summary: str
    """One line."""
    text: str
    passages: Sequence[Passage]


@dataclass(frozen=True, slots=True)
class DocumentType:
    """A kind of file that can be read. ``parse`` gets its bytes and name, and raises `Refused`."""

    name: str
    suffixes: frozenset[str]
    """Lower-case, with the dot; or whole file names, such as ``dockerfile``."""
    media_types: frozenset[str]
    parse: Callable[[bytes, str], Content]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one import may be. Sizes are in bytes."""

    files: int = 2_000
    file_bytes: int = 32 * 1024 * 1024
    total_bytes: int = 128 * 1024 * 1024
    """Of all files of an archive, unpacked."""
    ratio: int = 200
    """How many times larger than in the archive a file may become; small files may do so anyway."""
    depth: int = 20
    """Folders within folders, in an archive."""
    passages: int = 100_000
    text_chars: int = 64 * 1024 * 1024
    """Of all documents together, as text."""
