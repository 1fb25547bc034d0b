"""A document's file that the disk has damaged is lost; the others are there, and it can be imported again."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.atrest.data_directory import vault_of
from app.atrest.keys import Keys
from app.atrest.vault import PLAIN, Vault
from app.core.deadline import Deadline
from app.documents.parsed_document import Document, Passage
from app.documents.resource import Kind, Resource, Status
from app.embedded.resources.resource_files import FOLDER, file_of
from app.embedded.resources.shelf import INDEX, Shelf
from app.gathering import spool
from app.gathering.spool import SpoolDamaged
from app.ports import NewResource

GUIDE, NOTES = "resources/guide", "resources/notes"


@pytest.fixture(params=["plain", "sealed"])
def vault(request: pytest.FixtureRequest) -> Vault:
    return PLAIN if request.param == "plain" else vault_of(Keys.of(b"1" * 32))


def shelf_at(root: Path, vault: Vault) -> Shelf:
    return Shelf(root, None, lambda: None, vault)


def put(shelf: Shelf, root: Path, path: str, vault: Vault) -> None:
    resource = Resource(path, Kind.RESOURCE, path, "a.md", 9, "2026-11-22T10:00:00.000Z", Status.READY)
    waiting = root / "waiting.jsonl"
    with vault.replacing(waiting) as file:
        spool.write(file, Document("a.md", "d1", 9, "A", "", "the harbour", [Passage("A", "the harbour")]))
    shelf.put(NewResource(resource, waiting, vault), Deadline.after_ms(60_000))


def texts(shelf: Shelf) -> Iterator[str]:
    for path in (GUIDE, NOTES):
        if found := shelf.read(path):
            yield found.text


def damage(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2 :] = bytes(255 - byte for byte in data[len(data) // 2 :])
    file.write_bytes(bytes(data) + b"}\n" * 3)


def test_the_others_are_there(tmp_path: Path, vault: Vault) -> None:
    with closing(shelf_at(tmp_path, vault)) as shelf:
        put(shelf, tmp_path, GUIDE, vault)
        put(shelf, tmp_path, NOTES, vault)
        assert list(texts(shelf)) == ["the harbour", "the harbour"]
    damage(file_of(tmp_path, GUIDE))
    for left in (tmp_path / FOLDER).glob(f"{INDEX}*"):
        left.unlink()
    with closing(shelf_at(tmp_path, vault)) as shelf:
        assert list(texts(shelf)) == ["the harbour"]
        assert shelf.remove(GUIDE, Deadline.after_ms(60_000))
        put(shelf, tmp_path, GUIDE, vault)
        assert list(texts(shelf)) == ["the harbour", "the harbour"]


def test_an_import_whose_file_is_damaged_is_refused(tmp_path: Path, vault: Vault) -> None:
    with closing(shelf_at(tmp_path, vault)) as shelf:
        put(shelf, tmp_path, NOTES, vault)
        damage(tmp_path / "waiting.jsonl")
        resource = Resource(GUIDE, Kind.RESOURCE, "Guide", "a.md", 9, "2026-11-22T10:00:00.000Z", Status.READY)
        with pytest.raises(SpoolDamaged):
            shelf.put(NewResource(resource, tmp_path / "waiting.jsonl", vault), Deadline.after_ms(60_000))
        assert list(texts(shelf)) == ["the harbour"]
