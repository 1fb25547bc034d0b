"""The index: the same file, whoever opens it next, with an embedder or without."""

import importlib.util
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.embedded.backend import EmbeddedBackend
from app.embedded.index import database, sqlite
from app.embedded.index.database import Database
from app.embedded.index.documents import OWN_REALM
from app.embedded.index.embedders import Vector, packed
from app.embedded.index.index import Index
from app.embedded.index.sqlite import Connection, Damaged, SqliteError
from app.embedded.storage import session_file
from app.errors import CanNotStart
from app.settings import EmbeddedSettings

EMBEDDER = "made up"
vectors_too = pytest.mark.skipif(not importlib.util.find_spec("numpy"), reason="extra vec is missing")


@contextmanager
def opened(root: Path, embedder: str = "") -> Iterator[Index]:
    index = Index(root, "viking://user/default", embedder=embedder)
    try:
        index.sync(at_once=True)
        yield index
    finally:
        index.close()


def vector(text: str) -> Vector:
    """Texts of the same first letter are alike."""
    return packed([float(ord(text[0]) == letter) + 0.1 for letter in range(ord("a"), ord("z") + 1)])


def note(root: Path, name: str, text: str) -> Path:
    path = root / "memory" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def tell(root: Path, text: str) -> Path:
    """Append to a session files."""
    stored = session_file.refresh(session_file.SessionFile(root / "sessions" / "talk.jsonl"))
    at = "2026-03-01T09:00:00+00:00"
    message = CapturedMessage("user", (TextPart(text),), at, f"t_{stored.count}.0")
    session_file.write(stored, session_file.message_entries(stored, [message]), "talk", at)
    return stored.path


def by_words(index: Index, query: str) -> list[str]:
    found = index.search_words(query, [OWN_REALM], 5)
    return [chunk.document.text for chunk in index.chunks(chunk_id for chunk_id, _ in found)]


def by_vectors(index: Index, query: str) -> list[str]:
    while waiting := index.vectors.waiting(10):
        cached = index.vectors.cached([text for _, text in waiting])
        index.vectors.add([(i, text, cached.get(text) or vector(text)) for i, text in waiting])
    found = index.vectors.search(vector(query), [OWN_REALM], 5).best
    texts = {chunk.id: chunk.document.text for chunk in index.chunks(found)}
    return [texts[chunk_id] for chunk_id in found]


@vectors_too
def test_an_index_goes_on_when_vectors_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note(tmp_path, "2026-03-01", "apples grow in the garden")
    with opened(tmp_path) as index:
        assert by_words(index, "garden") == ["apples grow in the garden"]
    inode = (tmp_path / "index.db").stat().st_ino
    note(tmp_path, "2026-03-02", "bees live behind the house")
    with opened(tmp_path, EMBEDDER) as index:
        assert by_words(index, "garden") == ["apples grow in the garden"]
        assert by_vectors(index, "a")[0] == "apples grow in the garden"
        assert by_vectors(index, "b")[0] == "bees live behind the house"
    (tmp_path / "memory" / "2026-03-01.md").unlink()
    note(tmp_path, "2026-03-03", "cherries are eaten by birds")
    with opened(tmp_path) as index:
        assert by_words(index, "garden") == []
        assert by_words(index, "birds") == ["cherries are eaten by birds"]
    for most_in_memory in (1000, 0):  # searched in memory, then in the table
        monkeypatch.setattr("app.embedded.index.vectors.MAX_IN_MEMORY", most_in_memory)
        with opened(tmp_path, EMBEDDER) as index:
            assert by_words(index, "garden") == []
            assert by_vectors(index, "c")[0] == "cherries are eaten by birds"
            assert len(by_vectors(index, "a")) == 2
    assert (tmp_path / "index.db").stat().st_ino == inode


@pytest.mark.parametrize("at_once", [True, False])
def test_what_another_process_takes_in_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    with opened(tmp_path) as one, opened(tmp_path) as other:
        path = tell(tmp_path, "apples grow in the garden")
        begin = one._database.writing

        def begin_late() -> AbstractContextManager[Connection]:
            other.sync_file(tell(tmp_path, "bees live behind the house"))
            return begin()

        with monkeypatch.context() as late:
            late.setattr(one._database, "writing", begin_late)
            one.sync(at_once=True) if at_once else one.sync_file(path)
        for index in (one, other):
            assert by_words(index, "garden") == ["apples grow in the garden"]
            assert by_words(index, "house") == ["bees live behind the house"]


def test_what_is_known_is_not_taken_in_again(tmp_path: Path) -> None:
    with opened(tmp_path) as one, opened(tmp_path) as other:
        path = tell(tmp_path, "apples grow in the garden")
        one.sync_file(path)
        known = one.search_words("garden", [OWN_REALM], 5)
        other.sync_file(path)
        assert one.search_words("garden", [OWN_REALM], 5) == known


def test_an_index_of_an_older_version_is_made_anew(tmp_path: Path) -> None:
    note(tmp_path, "2026-03-01", "apples grow in the garden")
    with closing(sqlite3.connect(tmp_path / "index.db")) as old:
        old.execute("CREATE TABLE chunks(id)")
        old.execute("PRAGMA user_version = 1")
    with opened(tmp_path) as index:
        assert by_words(index, "garden") == ["apples grow in the garden"]


def test_damage_is_told_from_other_errors(tmp_path: Path) -> None:
    (tmp_path / "none.db").write_bytes(b"no database at all" * 1000)
    with pytest.raises(Damaged), sqlite.errors(), closing(sqlite.connect(tmp_path / "none.db")) as db:
        db.execute("SELECT * FROM sqlite_master").fetchall()
    with pytest.raises(SqliteError) as refused, sqlite.errors(), closing(sqlite.connect(":memory:")) as db:
        db.execute("SELECT nonsense")
    assert not isinstance(refused.value, Damaged)


def test_a_change_that_fails_is_taken_back(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "index.db")) as index:
        with pytest.raises(SqliteError), index.writing() as db:
            db.executemany("INSERT INTO meta VALUES (?, ?)", [("half", "done"), ("half", "again")])
        with index.reading() as db:
            assert database.get_meta(db, "half") is None
        with index.writing() as db:
            database.set_meta(db, "whole", "done")
        with index.reading() as db:
            assert database.get_meta(db, "whole") == "done"


def test_without_full_text_search_the_start_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bare(path: Path | str) -> sqlite3.Connection:
        db = sqlite3.connect(path, isolation_level=None)
        refused = sqlite3.SQLITE_CREATE_VTABLE
        db.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == refused else sqlite3.SQLITE_OK)
        return db

    monkeypatch.setattr(sqlite, "connect", bare)
    with pytest.raises(CanNotStart, match="FTS5"):
        EmbeddedBackend(tmp_path, EmbeddedSettings())


def test_no_term_of_what_was_forgotten_stands_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite leaves copies of cells that it moved within a page, whatever ``secure_delete`` says."""
    connected = Database._connect

    def careless(database: Database) -> Connection:
        db = connected(database)
        db.execute("PRAGMA secure_delete = OFF")
        return db

    monkeypatch.setattr(Database, "_connect", careless)
    with opened(tmp_path) as index:
        for number in range(40):
            note(tmp_path, f"2026-03-{number:02}", f"Shelf {number} holds box {number}.")
        forgotten = note(tmp_path, "2026-04-01", "Noted: orion42remembering. Shelf 3 is green.")
        index.sync(at_once=True)
        assert b"orion42rememb" in _bytes_of(tmp_path)
        forgotten.write_text("Shelf 3 is green.")
        index.scrub([forgotten])
        assert b"orion42" not in _bytes_of(tmp_path)
        assert by_words(index, "green") and by_words(index, "shelf")


def _bytes_of(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(root.glob("index.db*")))
