"""The SQLite file under an index: opened, and replaced when it is of no use. Threads and processes share it."""

import importlib
import os
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

SCHEMA_VERSION = 3
BUSY_MS = 30_000
"""How long to wait for another process that writes, and may be building the index."""
CACHE_KIB = 8192
"""Pages that a connection keeps at most: ten thousand chunks with their vectors fit."""
DAMAGED = (apsw.NotADBError, apsw.CorruptError)
"""What SQLite says of a file that is none, or no longer one."""

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT UNIQUE, mtime_ns INTEGER, size INTEGER, hash BLOB, turns INTEGER,
                   kind TEXT);
CREATE TABLE chunks(id INTEGER PRIMARY KEY AUTOINCREMENT, file_id INTEGER, ordinal INTEGER, part INTEGER, uri TEXT,
                    category TEXT, realm TEXT, at TEXT, speaker TEXT, text TEXT, source TEXT,
                    embedded INTEGER DEFAULT 0);
CREATE INDEX chunks_by_place ON chunks(file_id, ordinal, part);
CREATE INDEX chunks_to_embed ON chunks(id) WHERE embedded = 0;
CREATE TABLE embedding_cache(hash BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID;
CREATE VIRTUAL TABLE chunks_fts USING fts5(realm, body, content='', contentless_delete=1, tokenize='porter ascii');
"""


class Database:
    """One writer, guarded by a lock, and as many readers as threads ask for at once."""

    def __init__(self, path: Path, *, afresh: bool = False) -> None:
        """Open the file; ``afresh`` throws away what is there, as does a damaged file or one of another version."""
        self._path = path
        self._lock = threading.RLock()
        self._readers: queue.LifoQueue[apsw.Connection] = queue.LifoQueue()
        if afresh:
            self._remove()
        try:
            self._writer = self._prepared()
        except (*DAMAGED, _OtherVersion):
            self._remove()
            self._writer = self._prepared()

    def close(self) -> None:
        """Close every connection that is not in use."""
        with self._lock:
            self._writer.close()
        with suppress(queue.Empty):
            while True:
                self._readers.get_nowait().close()

    @property
    def version(self) -> int:
        """Changes when another connection has written."""
        with self._lock:
            return int(one(self._writer.execute("PRAGMA data_version")) or 0)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """A transaction: all of it, or nothing."""
        with self._lock, _immediate(self._writer):
            yield self._writer

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """A connection to read with."""
        try:
            db = self._readers.get_nowait()
        except queue.Empty:
            db = self._connect()
        try:
            yield db
        finally:
            self._readers.put(db)

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _prepared(self) -> apsw.Connection:
        # SQLite's -wal and -shm files copy the mode
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        db = self._connect()
        try:
            db.execute("PRAGMA page_size = 16384")  # half the time of a vector scan with the usual 4096
            db.execute("PRAGMA journal_mode = WAL")
            with _immediate(db):
                version = one(db.execute("PRAGMA user_version"))
                if version not in (0, SCHEMA_VERSION):
                    raise _OtherVersion
                if version == 0:
                    db.execute(_SCHEMA)
                    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        except BaseException:
            db.close()
            raise
        return db

    def _connect(self) -> apsw.Connection:
        db = apsw.Connection(str(self._path))
        db.set_busy_timeout(BUSY_MS)
        db.execute("PRAGMA synchronous = NORMAL")  # what a power cut takes is read from the files again
        db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        with suppress(ImportError):
            extension = importlib.import_module("sqlite_vec").loadable_path()
            db.enable_load_extension(True)
            db.load_extension(extension)
            db.enable_load_extension(False)
        return db


class _OtherVersion(Exception):
    """The file was written by another version of this code."""


def get_meta(db: apsw.Connection, key: str) -> str | None:
    """A fact about the index itself."""
    value = one(db.execute("SELECT value FROM meta WHERE key = ?", (key,)))
    return None if value is None else str(value)


def set_meta(db: apsw.Connection, key: str, value: str) -> None:
    """Write a fact about the index itself."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def one(cursor: apsw.Cursor) -> Any:
    """The first column of the first row, or None."""
    row = cursor.fetchone()
    return row[0] if row else None


def marks(values: Sequence[Any]) -> str:
    """As many question marks as there are values."""
    return ",".join("?" * len(values))


def storable(text: str) -> str:
    """``text`` without what SQLite's UTF-8 can not hold."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


@contextmanager
def _immediate(db: apsw.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
