"""The index: the same file, whoever opens it next, with an embedder or without."""

import importlib.util
import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.atrest.vault import PLAIN
from app.core.capture.captured_message import CapturedMessage, TextPart
from app.embedded.backend import EmbeddedBackend
from app.embedded.index import chunk_table, database, sqlite
from app.embedded.index.database import Database
from app.embedded.index.documents import OWN_REALM, Document
from app.embedded.index.embedders import Vector, packed
from app.embedded.index.index import Index
from app.embedded.index.sqlite import Connection, Damaged, SqliteError
from app.embedded.storage import session_file
from app.embedded.storage.record_lines import write_records
from app.embedded.storage.records import Record, Source
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


def remember(root: Path, *records: Record, own: str = "") -> Path:
    """A file of memories, with a line of a person's own."""
    path = root / "memories" / "notes" / "stored-0001.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(write_records("Notes", records, f"# Notes\n\n{own}"))
    os.utime(path, (1_770_000_000, 1_770_000_000))
    return path


def record_of(number: int, value: str, **more: Any) -> Record:
    at = "2026-03-01T09:00:00.000Z"
    return Record("memory", f"k{number}", value, 0.9, Source("api", f"t_{number}.0", at), id=f"m_{number}", **more)


def test_of_a_file_only_what_changed_is_indexed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record_of(number, f"Shelf {number} holds apples.") for number in range(50)]
    indexed: list[str] = []
    terms_of = chunk_table.document_terms

    def noted(document: Document) -> list[str]:
        indexed.append(document.text)
        return terms_of(document)

    with opened(tmp_path, EMBEDDER if importlib.util.find_spec("numpy") else "") as index:
        index.sync_file(remember(tmp_path, *records))
        monkeypatch.setattr(chunk_table, "document_terms", noted)
        with index._database.reading() as db:
            before = dict(db.execute("SELECT uri, id FROM chunks").fetchall())

        weaker = [replace(one, confidence=0.5, version=2) if one.id == "m_7" else one for one in records]
        index.sync_file(remember(tmp_path, *weaker))
        found = index.memories.one("m_7", "2026-04-01T00:00:00.000Z")
        assert found is not None and (found.memory.confidence, found.memory.version) == (0.5, 2)
        assert indexed == [], "the words of what was only weakened"

        changed = [replace(one, value="Shelf 7 holds pears.") if one.id == "m_7" else one for one in weaker]
        index.sync_file(remember(tmp_path, *changed[1:]))
        assert indexed == ["Shelf 7 holds pears."]
        assert by_words(index, "pears") == ["Shelf 7 holds pears."]
        with index._database.reading() as db:
            after = dict(db.execute("SELECT uri, id FROM chunks").fetchall())
        same = before.items() & after.items()
        assert len(same) == 48 and len(after) == 49, "each chunk keeps its id, and its vector by that"


versions = st.lists(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(["Apples are red.", "Bees live here.", "Cherries\nare eaten."]),
            st.sampled_from([0.5, 0.9]),
            st.booleans(),
            st.sampled_from(["", "entities", "experiences"]),
        ),
        max_size=4,
        unique_by=lambda one: one[0],
    ),
    min_size=2,
    max_size=4,
)


@settings(max_examples=25, deadline=None)
@given(versions, st.sampled_from(["", "Bees live here.", "- My own line."]))
def test_an_index_that_followed_changes_is_as_one_made_anew(
    made: list[list[tuple[int, str, float, bool, str]]], own: str
) -> None:
    def everything(index: Index) -> list[list[Any]]:
        tables = "chunks", "memories", "superseded", "files"
        skipped = {"id", "file_id"}
        found: list[list[Any]] = []
        with index._database.reading() as db:
            for table in tables:
                rows = db.execute(f"SELECT * FROM {table}")
                kept = [at for at, column in enumerate(rows.description) if column[0] not in skipped]
                found.append(sorted([row[at] for at in kept] for row in rows.fetchall()))
            terms = db.execute("SELECT term, doc, cnt FROM chunks_vocab ORDER BY term").fetchall()
        return [*found, terms]

    with TemporaryDirectory() as directory:
        root = Path(directory)
        with opened(root) as index:
            for version in made:
                records = [
                    record_of(
                        number,
                        value,
                        version=int(10 * confidence),
                        superseded_at="" if holds else "2026-03-02T09:00:00.000Z",
                        category=category,
                        history=({"value": "Figs grow.", "ref": "t_9.0", "outcome": "superseded"},),
                    )
                    for number, value, confidence, holds, category in version
                ]
                index.sync_file(remember(root, *records, own=own))
            followed = everything(index)
        made_anew = Index(root, "viking://user/default", afresh=True)
        with closing(made_anew):
            made_anew.sync(at_once=True)
            assert followed == everything(made_anew)


def test_an_index_of_an_older_version_is_made_anew(tmp_path: Path) -> None:
    note(tmp_path, "2026-03-01", "apples grow in the garden")
    with closing(sqlite3.connect(tmp_path / "index.db")) as old:
        old.execute("CREATE TABLE chunks(id)")
        old.execute("PRAGMA user_version = 1")
    with opened(tmp_path) as index:
        assert by_words(index, "garden") == ["apples grow in the garden"]


def test_damage_is_told_from_other_errors(tmp_path: Path) -> None:
    (tmp_path / "none.db").write_bytes(b"no database at all" * 1000)
    with pytest.raises(Damaged), sqlite.errors(PLAIN), closing(sqlite.connect(tmp_path / "none.db", PLAIN)) as db:
        db.execute("SELECT * FROM sqlite_master").fetchall()
    with pytest.raises(SqliteError) as refused, sqlite.errors(PLAIN), closing(sqlite.connect(":memory:", PLAIN)) as db:
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
    def bare(path: Path | str, _vault: object) -> sqlite3.Connection:
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
