"""The index's connections to SQLite, and what they raise. Words are searched by FTS5, which SQLite itself brings."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import Connection as Connection
from sqlite3 import Cursor as Cursor

from app.atrest.places import INDEX_PAGE_BYTES
from app.atrest.vault import PLAIN, Vault
from app.atrest.wal import into_wal_mode
from app.errors import CanNotStart

BUSY_MS = 30_000
"""How long to wait for another process that writes, and may be building the index."""


class SqliteError(Exception):
    """What SQLite refused, and why."""


class Damaged(SqliteError):
    """The file is no database, or no longer one."""


def connect(path: Path | str, vault: Vault) -> Connection:
    """A connection for one thread at a time. Outside ``BEGIN`` and ``COMMIT`` each statement stands alone."""
    db = vault.connect(path, INDEX_PAGE_BYTES, isolation_level=None, check_same_thread=False)
    db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    return db


def use_wal(db: Connection, vault: Vault) -> None:
    """Let readers and the one writer go on side by side."""
    into_wal_mode(db, vault.cipher.sqlite.OperationalError, BUSY_MS / 1000)


@contextmanager
def errors(vault: Vault) -> Iterator[None]:
    """SQLite's errors come out as `SqliteError`."""
    try:
        yield
    except vault.cipher.sqlite.Error as error:
        code = getattr(error, "sqlite_errorcode", None) or 0
        kind = Damaged if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) else SqliteError
        raise kind(f"{type(error).__name__}: {error}") from error


def require_fts5() -> None:
    """Raise `CanNotStart` where words could not be searched."""
    try:
        with errors(PLAIN), closing(connect(":memory:", PLAIN)) as db:
            db.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
    except SqliteError as error:
        raise CanNotStart(f"the embedded backend needs a Python whose SQLite has FTS5; this one's: {error}") from error
