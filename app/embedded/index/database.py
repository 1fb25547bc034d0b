"""The SQLite file under an index: opened, and replaced when it is of no use. Threads and processes share it."""

import os
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from app.atrest.places import INDEX_PAGE_BYTES
from app.atrest.vault import PLAIN, Vault
from app.embedded.index import sqlite
from app.embedded.index.sqlite import Connection, Cursor, Damaged, SqliteError, errors

SCHEMA_VERSION = 13
CACHE_KIB = 8192
"""Pages that a connection keeps at most: ten thousand chunks with their vectors fit."""

MAX_IDLE_READERS = 2
"""Connections that wait to be read with: as many as one search needs. Each keeps two files open."""

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT UNIQUE, mtime_ns INTEGER, size INTEGER, hash BLOB, turns INTEGER,
                   kind TEXT);
CREATE TABLE chunks(id INTEGER PRIMARY KEY AUTOINCREMENT, file_id INTEGER, ordinal INTEGER, part INTEGER, uri TEXT,
                    category TEXT, realm TEXT, at TEXT, speaker TEXT, text TEXT, source TEXT, until TEXT,
                    parts INTEGER, length INTEGER, replaces TEXT, embedded INTEGER DEFAULT 0);
CREATE INDEX chunks_by_place ON chunks(file_id, ordinal, part);
CREATE INDEX chunks_to_embed ON chunks(id) WHERE embedded = 0;
CREATE TABLE vectors(chunk_id INTEGER PRIMARY KEY, embedding BLOB);
CREATE TABLE embedding_cache(hash BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID;
CREATE VIRTUAL TABLE chunks_fts USING fts5(body, tokenize='porter ascii');
CREATE VIRTUAL TABLE chunks_vocab USING fts5vocab(chunks_fts, row)
"""


class Database:
    """One writer, guarded by a lock, and as many readers as threads ask for at once."""

    def __init__(self, path: Path, *, schema: str = "", afresh: bool = False, vault: Vault = PLAIN) -> None:
        """Open the file; ``afresh`` throws away what is there, as does a damaged file or one of another version.

        ``schema`` is made beside the tables of chunks.
        """
        self._path = path
        self._vault = vault
        self._more = schema
        self._lock = threading.RLock()
        self._closed = False
        self._readers: queue.LifoQueue[Connection] = queue.LifoQueue(MAX_IDLE_READERS)
        if afresh:
            self._remove()
        try:
            self._writer = self._prepared()
        except (Damaged, _OtherVersion):
            self._remove()
            self._writer = self._prepared()

    def close(self) -> None:
        """Close every connection; one in use when it is given back."""
        self._closed = True
        with errors(self._vault), self._lock:
            self._writer.close()
        with errors(self._vault), suppress(queue.Empty):
            while True:
                self._readers.get_nowait().close()

    @property
    def version(self) -> int:
        """Changes when another connection has written."""
        with errors(self._vault), self._lock:
            return int(one(self._writer.execute("PRAGMA data_version")) or 0)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction: all of it, or nothing."""
        with errors(self._vault), self._lock, _immediate(self._writer):
            yield self._writer

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read with."""
        try:
            db = self._readers.get_nowait()
        except queue.Empty:
            with errors(self._vault):
                db = self._connect()
        try:
            with errors(self._vault):
                yield db
        finally:
            try:
                if self._closed:
                    raise queue.Full
                self._readers.put_nowait(db)
            except queue.Full:
                db.close()

    def rewrite(self) -> None:
        """Write the file anew, without a free page or a gap, and empty the log. Raises `SqliteError` where another
        process reads for too long."""
        with errors(self._vault), self._lock:
            self._writer.execute("VACUUM")
            if one(self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")):
                raise SqliteError("the log could not be emptied")

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _prepared(self) -> Connection:
        with errors(self._vault):
            return self._opened()

    def _opened(self) -> Connection:
        with suppress(FileExistsError):  # SQLite's -wal and -shm files copy the mode
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        db = self._connect()
        try:
            db.execute(f"PRAGMA page_size = {INDEX_PAGE_BYTES}")
            sqlite.use_wal(db, self._vault)
            with _immediate(db):
                version = one(db.execute("PRAGMA user_version"))
                if version not in (0, SCHEMA_VERSION):
                    raise _OtherVersion
                if version == 0:
                    for statement in (*_SCHEMA.split(";"), *self._more.split(";")):
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        except BaseException:
            db.close()
            raise
        return db

    def _connect(self) -> Connection:
        db = sqlite.connect(self._path, self._vault)
        try:
            db.execute("PRAGMA synchronous = NORMAL")  # what a power cut takes is read from the files again
            db.execute("PRAGMA secure_delete = ON")  # what was forgotten must not stand on free pages
            db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        except BaseException:
            db.close()
            raise
        return db


class _OtherVersion(Exception):
    """The file was written by another version of this code."""


def get_meta(db: Connection, key: str) -> str | None:
    """A fact about the index itself."""
    value = one(db.execute("SELECT value FROM meta WHERE key = ?", (key,)))
    return None if value is None else str(value)


def set_meta(db: Connection, key: str, value: str) -> None:
    """Write a fact about the index itself."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def one(cursor: Cursor) -> Any:
    """The first column of the first row, or None."""
    row = cursor.fetchone()
    return row[0] if row else None


def new_id(db: Connection) -> int:
    """The id of the row that this connection inserted last."""
    return int(one(db.execute("SELECT last_insert_rowid()")))


def marks(values: Sequence[Any]) -> str:
    """As many question marks as there are values."""
    return ",".join("?" * len(values))


def storable(text: str) -> str:
    """``text`` without what SQLite's UTF-8 can not hold."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


@contextmanager
def _immediate(db: Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # SQLite itself rolls back where the disk is full or fails
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
