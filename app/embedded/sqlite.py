"""SQLite for the index, from either of two drivers: nothing else in the engine knows which.

Python's own `sqlite3` is enough for words. Vectors are kept by an extension, `sqlite-vec`, which many a Python can not
load; for them the extra ``vec`` brings `apsw` with a SQLite of its own. Both open the same files.
"""

import importlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol, cast

from app.errors import CanNotStart
from app.wal import into_wal_mode

BUSY_MS = 30_000
"""How long to wait for another process that writes, and may be building the index."""
_CORRUPT, _NOTADB = 11, 26
"""SQLite's result codes for a file that is no longer, or never was, a database."""


class Cursor(Protocol):
    """The rows of a statement."""

    def fetchone(self) -> Any:
        """The next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """What both drivers' connections have. Outside ``BEGIN`` and ``COMMIT`` each statement stands for itself."""

    @property
    def in_transaction(self) -> bool:
        """Whether a ``BEGIN`` waits for its end."""
        ...

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Cursor:
        """Run one statement."""
        ...

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Cursor:
        """Run one statement for each set of parameters."""
        ...

    def close(self) -> None:
        """Give the file back."""
        ...


def _installed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


apsw, sqlite_vec = _installed("apsw"), _installed("sqlite_vec")
_ERRORS: tuple[type[Exception], ...] = (sqlite3.Error, apsw.Error) if apsw else (sqlite3.Error,)
_LOCKED: tuple[type[Exception], ...] = (
    (sqlite3.OperationalError, apsw.BusyError) if apsw else (sqlite3.OperationalError,)
)


class SqliteError(Exception):
    """What SQLite said no with, whichever driver passed it on."""


class Damaged(SqliteError):
    """The file is no database, or no longer one."""


def connect(path: Path | str) -> Connection:
    """A connection for one thread at a time, whichever; with the vector extension where it is installed."""
    db = _connect(str(path))
    db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    return db


def use_wal(db: Connection) -> None:
    """Let readers and the one writer go on side by side."""
    into_wal_mode(db, _LOCKED, BUSY_MS / 1000)


def has_vectors() -> bool:
    """Whether connections can read and write vectors."""
    return apsw is not None and sqlite_vec is not None


@contextmanager
def errors() -> Iterator[None]:
    """The driver's errors come out as `SqliteError`."""
    try:
        yield
    except _ERRORS as error:
        code = getattr(error, "sqlite_errorcode", None) or getattr(error, "result", None) or 0
        kind = Damaged if code & 0xFF in (_CORRUPT, _NOTADB) else SqliteError
        raise kind(f"{type(error).__name__}: {error}") from error


def require_fts5() -> None:
    """Raise `CanNotStart`, which says what to install, where words could not be searched."""
    try:
        with errors(), closing(connect(":memory:")) as db:
            db.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
    except SqliteError as error:
        raise CanNotStart(
            f"install openviking-sidecar[vec], which brings a SQLite that searches for words; this Python's: {error}"
        ) from error


def _connect(path: str) -> Connection:
    if apsw is None:
        return cast(Connection, sqlite3.connect(path, isolation_level=None, check_same_thread=False))
    db = apsw.Connection(path)
    if has_vectors():
        db.enable_load_extension(True)
        db.load_extension(sqlite_vec.loadable_path())
        db.enable_load_extension(False)
    return cast(Connection, db)
