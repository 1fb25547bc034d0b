"""From the bytes of an import to its documents: a single file, or the files of an archive."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from app.documents import archive, chunking
from app.documents.parsed_document import Document, DocumentType, Limits, Passage, Refusal, Refused
from app.documents.registry import is_archive, type_of

VERSION = 2
"""Another number reads everything anew: raise it when parsers or passages change."""
IGNORED_FOLDERS = frozenset({".git", ".hg", ".svn", "__MACOSX", "node_modules", "__pycache__", ".venv"})
"""Of an archive nothing in these is read."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A document that is stored already as it is."""

    path: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file of an archive that nothing can be made of, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Reading:
    """How an import is read."""

    limits: Limits = field(default_factory=Limits)
    known: Mapping[str, str] = field(default_factory=dict)
    """Digests of what is stored already, by path."""
    salt: str = ""
    """Whatever else decides what is stored of a document."""
    cleaned: Callable[[str], str] = lambda text: text
    """Takes out of a text what must not be stored."""
    media_type: str = ""


def read(name: str, data: BinaryIO, how: Reading) -> Iterator[Document | Unchanged | Skipped]:
    """The documents of an import, one at a time. Raises `Refused`: then nothing of it is to be kept.

    A single file that can not be read is refused; in an archive it is skipped, unless it is there to do harm.
    """
    data.seek(0)
    if is_archive(name, data.read(4), how.media_type):
        yield from _unpacked(data, how)
        return
    kind = type_of(name, how.media_type)
    if kind is None:
        raise Refused(Refusal.UNKNOWN_TYPE, f"{name[:80]!r} is of no type that can be read")
    data.seek(0)
    yield _one(name.rsplit("/", 1)[-1], data.read(how.limits.file_bytes + 1), kind, how)


def _unpacked(data: BinaryIO, how: Reading) -> Iterator[Document | Unchanged | Skipped]:
    packed = archive.opened(data, how.limits)
    wanted = [one for one in archive.members(packed, how.limits) if is_wanted(one.filename)]
    if not wanted:
        raise Refused(Refusal.UNKNOWN_TYPE, "the archive holds no file of a type that can be read")
    counted = [0, 0]
    found = 0
    for path, content in archive.unpacked(packed, wanted, how.limits):
        kind = type_of(path)
        assert kind is not None  # noqa: S101 - wanted
        try:
            document = _one(path, content, kind, how)
        except Refused as refusal:
            if refusal.why in {Refusal.UNSAFE, Refusal.TOO_LARGE}:
                raise
            yield Skipped(path, refusal.detail)
            continue
        _count(document, counted, how.limits)
        found += 1
        yield document
    if not found:
        raise Refused(Refusal.UNREADABLE, "no file of the archive could be read")


def _one(path: str, data: bytes, kind: DocumentType, how: Reading) -> Document | Unchanged:
    if len(data) > how.limits.file_bytes:
        raise Refused(Refusal.TOO_LARGE, f"{path!r} has more than {how.limits.file_bytes} bytes")
    digest = digest_of(data, how.salt)
    if how.known.get(path) == digest:
        return Unchanged(path, digest, len(data))
    content = kind.parse(data, path)
    name = path.rsplit("/", 1)[-1]
    clean = how.cleaned
    found = [Passage(clean(one.place), clean(one.text)) for one in chunking.passages(name, content.sections)]
    if not found:
        raise Refused(Refusal.UNREADABLE, f"{path!r} holds no text")
    if len(found) > how.limits.passages or len(content.text) > how.limits.text_chars:
        raise Refused(Refusal.TOO_LARGE, f"{path!r} holds too much text")
    title = clean(chunking.one_line(content.title)[:200]) or name
    told = clean(chunking.summary(title, content.sections))
    return Document(path, digest, len(data), title, told, clean(content.text), found)


def digest_of(data: bytes, salt: str) -> str:
    """The digest of a file as it is read here."""
    return hashlib.sha256(f"{VERSION}\0{salt}\0".encode() + data).hexdigest()


def _count(document: Document | Unchanged, counted: list[int], limits: Limits) -> None:
    if isinstance(document, Document):
        counted[0] += len(document.passages)
        counted[1] += len(document.text)
    if counted[0] > limits.passages or counted[1] > limits.text_chars:
        raise Refused(Refusal.TOO_LARGE, "the archive holds too much text")


def is_wanted(path: str) -> bool:
    """Whether a file of an archive is of a type that can be read, and no tool's or version control's own."""
    parts = path.split("/")
    return type_of(path) is not None and not IGNORED_FOLDERS.intersection(parts[:-1]) and not parts[-1].startswith("._")
