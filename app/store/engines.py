"""Engines on the turn store: SQLite in WAL mode, or PostgreSQL; and what their errors mean.

SQLite runs with ``synchronous=FULL``. Writers take the lock at once (``BEGIN IMMEDIATE``): two that read first and then
write would only find out late that one of them has to start over.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.atrest.places import STORE_PAGE_BYTES
from app.atrest.vault import PLAIN, Vault
from app.atrest.wal import into_wal_mode
from app.errors import StoreUnavailable

BUSY_MS = 5_000
"""How long a writer waits for another process on the same SQLite file."""
_BUGS = (IntegrityError, ProgrammingError, DataError, NotSupportedError)


def make_engine(url: str, vault: Vault = PLAIN) -> Engine:
    """What talks to the store at ``url``, whatever its schema; a SQLite file is made, private, when it is missing."""
    parsed = make_url(url)
    return _sqlite(parsed, vault) if parsed.get_backend_name() == "sqlite" else _postgresql(parsed)


def _sqlite(url: URL, vault: Vault) -> Engine:
    if not url.database or url.database == ":memory:":
        raise ValueError("the turn store needs a file: an in-memory database loses turns")
    path = Path(url.database)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)
    arguments = {"check_same_thread": False, "timeout": BUSY_MS / 1000}
    engine = sqlite_engine(url, vault, connect_args=arguments, pool_size=9, hide_parameters=True)
    event.listen(engine, "connect", partial(_configure_sqlite, vault.cipher.sqlite.OperationalError))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def sqlite_engine(url: URL | str, vault: Vault, **options: Any) -> Engine:
    """An engine on a SQLite file of the vault's; ``options`` are those of `create_engine`."""
    engine = create_engine(url, module=vault.cipher.sqlite, **options)

    def connect(dialect: Any, _record: Any, arguments: Any, named: dict[str, Any]) -> Any:
        connection = dialect.connect(*arguments, **named)
        vault.cipher.unlock(connection, STORE_PAGE_BYTES)
        return connection

    event.listen(engine, "do_connect", connect)
    return engine


def _configure_sqlite(busy: type[Exception], connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver's own BEGIN comes too late and not before reads
    into_wal_mode(connection, busy, BUSY_MS / 1000)
    # What was deleted is overwritten: a forgotten text must not stand on free pages.
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    mode = connection.get_execution_options().get("begin", "IMMEDIATE")
    connection.exec_driver_sql(f"BEGIN {mode}")


def _postgresql(url: URL) -> Engine:
    from app.store.postgres import postgres_engine  # its driver is an extra

    return postgres_engine(url, pool_size=9, max_overflow=8)


@contextmanager
def told_apart() -> Iterator[None]:
    """Errors of the store (full, locked, read-only, damaged, gone) as `StoreUnavailable`; bugs of ours as they are."""
    try:
        yield
    except _BUGS:
        raise
    except (DBAPIError, PoolTimeout) as error:
        # The statement and its parameters stay out of the message: they hold what people said.
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise StoreUnavailable(f"the turn store can not be used: {cause}".strip()) from error
