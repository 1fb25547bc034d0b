"""Where a user's documents and skills lie: a file for each import, under ``resources/`` of the user's directory.

Its first line says what was imported, the others are the documents as they were read (`app.gathering.spool`). A file is
replaced as a whole, so that a crash leaves the former import or the new one.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from app.atrest.residue import Needles
from app.atrest.vault import Vault
from app.documents.resource import Kind, Resource
from app.embedded.storage import layout
from app.gathering import spool
from app.ports import NewResource

log = structlog.get_logger(__name__)

FOLDER = "resources"
_SUFFIX = ".jsonl"


class Outdated(Exception):
    """An import leaves out a document as unchanged that is not stored like that: trying again is of no use."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A resource in its file; ``stamp`` is another one whenever the file is."""

    resource: Resource
    file: Path
    stamp: str
    vault: Vault

    def documents(self) -> Iterator[spool.Spooled]:
        """Its documents, one at a time."""
        return spool.read(self.file, self.vault, skip_lines=1)

    def document(self, path: str) -> spool.Spooled | None:
        """One of them."""
        return next((one for one in self.documents() if one.head.path == path), None)


def file_of(root: Path, path: str) -> Path:
    """The file of the resource at ``path`` of the user whose directory is ``root``."""
    return root / FOLDER / f"{layout.segment(path)}{_SUFFIX}"


def stored_at(file: Path, vault: Vault) -> Stored | None:
    """What is in a file; None where there is none. Raises `spool.SpoolDamaged`."""
    with suppress(FileNotFoundError), spool.told_as_damage(), vault.open(file) as lines:
        status = os.fstat(lines.fileno())
        fields: dict[str, Any] = json.loads(lines.readline())
        resource = Resource(updated_at=fields.pop("updatedAt"), kind=Kind(fields.pop("kind")), **fields)
        return Stored(resource, file, f"{status.st_mtime_ns}:{status.st_size}:{status.st_ino}", vault)
    return None


def all_stored(root: Path, vault: Vault) -> Iterator[Stored]:
    """Everything that was imported, without what is damaged: the other documents are there all the same."""
    for file in sorted((root / FOLDER).glob(f"[!.]*{_SUFFIX}")):
        try:
            stored = stored_at(file, vault)
        except spool.SpoolDamaged as error:
            log.error("file_damaged", file=layout.readable(file.stem), error=str(error))
            continue
        if stored:
            yield stored


def holding(root: Path, needles: Needles, vault: Vault) -> Iterator[str]:
    """The paths of the resources in whose documents one of the texts stands."""
    return (one.resource.path for one in all_stored(root, vault) if needles.are_in(one.file, vault.open))


def put(root: Path, header: str, new: NewResource, vault: Vault) -> Stored:
    """Put an import into the place of the one before; documents that are marked as unchanged are taken from there.

    Raises `Outdated` when an unchanged document is not there any more.
    """
    target = file_of(root, new.resource.path)
    before = stored_at(target, vault)
    with vault.replacing(target) as out:
        out.write(header.encode() + b"\n")
        kept = before.documents() if before else iter(())
        known: dict[str, spool.Spooled] = {}
        for one in spool.read(new.spool, new.vault):
            spool.write_again(out, _unchanged(one, kept, known) if one.is_unchanged else one)
    stored = stored_at(target, vault)
    assert stored is not None  # noqa: S101 - just written, under the lock
    return stored


def _unchanged(one: spool.Spooled, kept: Iterator[spool.Spooled], known: dict[str, spool.Spooled]) -> spool.Spooled:
    """The document as it was stored before; files mostly come in the order of the last time."""
    path, digest = one.head.path, one.head.digest
    while path not in known:
        following = next(kept, None)
        if following is None:
            raise Outdated(f"the unchanged document {path!r} is not stored any more: import it again")
        known[following.head.path] = following
    found = known.pop(path)
    if found.head.digest != digest:
        raise Outdated(f"the unchanged document {path!r} has changed meanwhile: import it again")
    return found
