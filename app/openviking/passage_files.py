"""Documents as OpenViking gets them: a zip of folders, one for each document, with a file for each passage.

OpenViking gives a file one vector, of its beginning. So a passage is a file: its first line is the place where it
stands, the rest is what it says. Folders have names of their own for each import, so that nothing of one import ever
takes the place of another's: what is shown is decided by the catalogue (`app.ports.ResourceCatalogue`).
"""

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from app.atrest.vault import Vault
from app.core.memories.naming import home_path
from app.documents.resource import Kind, Resource
from app.gathering import spool
from app.ports import CataloguedDocument

PART_PASSAGES = 500
"""A part ends with the document that reaches so many passages: a part is sent, indexed and noted as a whole."""
PART_CHARS = 2_000_000
SLUG_CHARS = 40
_FIXED_DATE = (2020, 1, 1, 0, 0, 0)
"""So that the same documents are the same bytes."""
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
_OURS = re.compile(
    rf"({Kind.RESOURCE.folder}/[A-Za-z0-9-]{{0,{SLUG_CHARS}}}\.[0-9a-f]{{24}}/[0-9]+-[A-Za-z0-9-]*)/([0-9]+)\.md"
)


class RemotePassage(NamedTuple):
    """The folder of a document, and which of its passages."""

    folder: str
    number: int


@dataclass(frozen=True, slots=True)
class Part:
    """Documents that are sent together; ``root`` is the folder that they go to, below the home."""

    root: str
    documents: tuple[CataloguedDocument, ...]
    archive: bytes

    @property
    def folders(self) -> list[str]:
        """Of its documents."""
        return [one.folder for one in self.documents]


def parts(resource: Resource, file: Path, vault: Vault) -> Iterator[Part | spool.Head]:
    """The documents of a spool in parts, each of those that are unchanged by its head alone. One part in memory.

    The same import has the same parts, in the same folders; another never has one of them, even of the same documents.
    """
    packing = _Packing(resource, file.name)
    for one in spool.read(file, vault):
        if one.is_unchanged:
            yield one.head
            continue
        packing.add(one)
        if packing.passages >= PART_PASSAGES or packing.chars >= PART_CHARS:
            yield packing.done()
            packing = _Packing(resource, file.name)
    if packing.documents:
        yield packing.done()


def remote_passage(uri: str) -> RemotePassage | None:
    """Which passage stands at a URI; None for what was not put there by an import of this service."""
    found = _OURS.fullmatch(home_path(uri))
    return RemotePassage(found.group(1), int(found.group(2))) if found else None


def passage_path(folder: str, number: int) -> str:
    """Where a passage stands, below the home."""
    return f"{folder}/{number:05d}.md"


class _Packing:
    """A part while it is put together."""

    def __init__(self, resource: Resource, import_id: str) -> None:
        self.documents: list[CataloguedDocument] = []
        self.passages = 0
        self.chars = 0
        self._stem = f"{Kind.RESOURCE.folder}/{_slug(resource.path.rpartition('/')[2])}"
        self._identity = hashlib.sha256(f"{import_id}\0{resource.path}".encode())
        self._buffer = io.BytesIO()
        self._zip = zipfile.ZipFile(self._buffer, "w", zipfile.ZIP_DEFLATED)

    def add(self, one: spool.Spooled) -> None:
        head, body = one.head, one.body()
        name = f"{len(self.documents):05d}-{_slug(head.path.rpartition('/')[2])}"
        self.documents.append(CataloguedDocument(head.path, name, head.digest, head.title, head.summary, body.text))
        self._identity.update(f"\0{head.path}\0{head.digest}".encode())
        for number, passage in enumerate(body.passages):
            data = passage.shown.encode("utf-8", "replace")
            self._zip.writestr(_entry(passage_path(name, number)), data, zipfile.ZIP_DEFLATED)
            self.passages += 1
            self.chars += len(data)

    def done(self) -> Part:
        self._zip.close()
        root = f"{self._stem}.{self._identity.hexdigest()[:24]}"
        documents = tuple(replace(one, folder=f"{root}/{one.folder}") for one in self.documents)
        return Part(root, documents, self._buffer.getvalue())


def zipped(files: dict[str, str]) -> bytes:
    """A zip of these texts by their names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(_entry(name), text.encode("utf-8", "replace"), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, _FIXED_DATE)


def _slug(name: str) -> str:
    return _UNSAFE.sub("-", name)[:SLUG_CHARS].strip("-")
