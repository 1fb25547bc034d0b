"""The documents of one import in a file: two lines of JSON for each, so that what is unchanged is passed over quickly.

The first line says which document it is; the second is what it says, and ``null`` for one that is stored already.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from app.atrest.cipher import SealBroken
from app.atrest.vault import Vault
from app.documents.document_reading import Unchanged
from app.documents.parsed_document import Document


class SpoolDamaged(OSError):
    """A file does not hold what was written: by the disk, or by somebody else."""


class SpooledPassage(NamedTuple):
    """A passage, with the words that an index knows it by."""

    place: str
    text: str
    words: str

    @property
    def shown(self) -> str:
        """The passage under its place."""
        return f"{self.place}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Head:
    """Which document, and what there is to know of it at a glance."""

    path: str
    digest: str
    size: int
    title: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """What a document says."""

    text: str
    passages: Sequence[SpooledPassage]


class Spooled(NamedTuple):
    """A document as it lies in the file; ``raw`` is its second line, not parsed yet."""

    head: Head
    raw: bytes

    @property
    def is_unchanged(self) -> bool:
        """Whether it is stored already as it is."""
        return self.raw.strip() == b"null"

    def body(self) -> Body:
        """What it says. Raises `SpoolDamaged`."""
        with told_as_damage():
            found: dict[str, Any] = json.loads(self.raw)
            return Body(found["text"], [SpooledPassage(*one) for one in found["passages"]])


@contextmanager
def told_as_damage() -> Iterator[None]:
    """What can not be understood of a file comes out as `SpoolDamaged`."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, SealBroken) as error:
        raise SpoolDamaged(f"an import's file is damaged ({type(error).__name__})") from error


def write(file: BinaryIO, document: Document | Unchanged) -> None:
    """Add a document."""
    if isinstance(document, Unchanged):
        head = Head(document.path, document.digest, document.size)
        file.write(_line(_fields(head)) + b"null\n")
        return
    from app.text.index_words import terms  # tables of every language: nothing needs them for what is stored already

    head = Head(document.path, document.digest, document.size, document.title, document.summary)
    found = [(one.place, one.text, " ".join(terms(f"{one.place}\n{one.text}"))) for one in document.passages]
    file.write(_line(_fields(head)) + _line({"text": document.text, "passages": found}))


def write_again(file: BinaryIO, spooled: Spooled) -> None:
    """Add a document as it lay in another file."""
    file.write(_line(_fields(spooled.head)) + spooled.raw)


def read(path: Path, vault: Vault, *, skip_lines: int = 0) -> Iterator[Spooled]:
    """The documents in a file, one at a time."""
    with vault.open(path) as file:
        yield from read_from(file, skip_lines=skip_lines)


def read_from(file: BinaryIO, *, skip_lines: int = 0) -> Iterator[Spooled]:
    """The same from an open file; a last document that is not all there is left out. Raises `SpoolDamaged`."""
    with told_as_damage():
        for _ in range(skip_lines):
            file.readline()
        while line := file.readline():
            raw = file.readline()
            if not raw.endswith(b"\n"):
                return
            yield Spooled(Head(**json.loads(line)), raw)


def _fields(head: Head) -> dict[str, Any]:
    return {
        "path": head.path, "digest": head.digest, "size": head.size, "title": head.title, "summary": head.summary
    }  # fmt: skip


def _line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"
