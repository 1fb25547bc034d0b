"""Opening the turn store and running transactions on it: SQLite in WAL mode, or PostgreSQL.

An acknowledged turn must survive a power cut, so SQLite runs with ``synchronous=FULL`` and every write is one
transaction that is committed before the caller goes on. Writers take the lock at once (``BEGIN IMMEDIATE``): two that
read first and then write would only find out late that one of them has to start over.
"""

import os
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import Connection, Engine, Text, create_engine, event, inspect, select, text
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
from app.atrest.residue import Needles, with_logs
from app.atrest.vault import PLAIN, Vault
from app.atrest.wal import into_wal_mode
from app.errors import CanNotStart, StoreUnavailable
from app.store.file_changes import FileChanges
from app.store.schema import metadata

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")

MIGRATIONS = Path(__file__).with_name("migrations")
PROBE_BYTES = 1024 * 1024
"""Room on the disk below which the store counts as full."""
BUSY_MS = 5_000
"""How long a writer waits for another process on the same SQLite file."""
SLICE_S = 0.005
"""How long one transaction of a long work goes on: nobody is to wait for it, and the disk, for more than 20 ms."""
PAUSES = 4
"""How much longer such work pauses after a transaction than that took."""
MAX_WAITING = 1_000
"""Reads that wait for others to end; more would only pile up behind a store that hangs."""
MAX_KNOWN = 256
"""Answers that are kept while nothing changes."""
_MIGRATION_LOCK = 0x51DECA2
_BUGS = (IntegrityError, ProgrammingError, DataError, NotSupportedError)


class Database:
    """An open store: `read` and `write` run a function on a connection, in a thread and a transaction of its own."""

    def __init__(self, engine: Engine, vault: Vault = PLAIN) -> None:
        self._vault = vault
        self._readers = engine.execution_options(begin="DEFERRED")
        self._writers = engine.execution_options(begin="IMMEDIATE")
        self._engine = engine
        self._file = Path(engine.url.database or "") if engine.dialect.name == "sqlite" else None
        self._changes = _changes_of(self._file, vault) if self._file else None
        self._known: OrderedDict[Any, tuple[int, Any]] = OrderedDict()
        """What `read_known` has read, the least recently used first, and as of which change."""
        self._reading = anyio.CapacityLimiter(8)
        # SQLite has one writer at a time anyway: queueing here is fair, queueing on its lock is polling.
        self._writing = anyio.CapacityLimiter(1 if engine.dialect.name == "sqlite" else 8)
        self._behind = anyio.CapacityLimiter(1 if engine.dialect.name == "sqlite" else 6)

    async def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``work`` returns. Raises `StoreUnavailable` when the store can not be read."""
        if self._reading.statistics().tasks_waiting >= MAX_WAITING:
            raise StoreUnavailable("the turn store does not answer, and as many wait for it as may")
        call = partial(_transact, self._readers, work, *args, **kwargs)
        return await anyio.to_thread.run_sync(call, limiter=self._reading)

    async def read_known(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`read`, or what it returned the last time where nobody has written anything since.

        For what every request asks and hardly ever changes: a thread and a transaction cost more than all the rest.
        In SQLite only: PostgreSQL has no such counter. The answer is shared, so it must not be changed.
        """
        changes = self.changes()
        if changes is None:
            return await self.read(work, *args, **kwargs)
        key = (work, args, tuple(kwargs.items()))
        if (known := self._known.get(key)) and known[0] == changes:
            self._known.move_to_end(key)
            answer: T = known[1]
            return answer
        answer = await self.read(work, *args, **kwargs)
        self._known[key] = (changes, answer)
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        return answer

    def changes(self) -> int | None:
        """Another number after each transaction that wrote anything, of any process; None where that is not known."""
        return self._changes.count() if self._changes else None

    async def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``work`` returns, once it is committed to disk; nothing is written when it raises.

        A cancelled caller still waits for the transaction, so that it never ends half-way unnoticed.
        """
        call = partial(_transact, self._writers, work, *args, **kwargs)
        return await anyio.to_thread.run_sync(call, limiter=self._writing)

    async def write_behind(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`write` for background work: however much of it there is, a caller of `write` waits for one at most."""
        async with self._behind:
            return await self.write(work, *args, **kwargs)

    async def check(self) -> None:
        """Write something. Raises `StoreUnavailable` for a store that is full, locked, read-only or gone."""
        await self.write(_try_write)
        if self._file:
            await anyio.to_thread.run_sync(_try_to_grow, self._file)

    async def write_in_slices(self, work: Callable[[Connection, Item], bool], items: Sequence[Item]) -> None:
        """``work`` on each item, again while it says False; a transaction takes so many as it can in `SLICE_S`.

        For work on many rows: callers of `write` never wait for all of it, and get most of the time between.
        """
        left = list(reversed(items))
        while left:
            began = time.monotonic()
            await self.write_behind(_slice, work, left)
            await anyio.sleep(PAUSES * (time.monotonic() - began))

    async def clean(self, needles: Needles) -> str:
        """Leave nothing of what was deleted in the database's own files, and look for the texts there.

        Why that can not be said; empty where the files were read and hold none of them. Another tenant's row may hold
        the same text, which is nobody else's business: then the rows that were erased are overwritten all the same.
        """
        file = self._file
        if file is None:
            return await anyio.to_thread.run_sync(vacuum, self._engine)
        return await anyio.to_thread.run_sync(self._clean_file, file, needles, limiter=self._writing)

    def _clean_file(self, file: Path, needles: Needles) -> str:
        emptied = empty_log(self._engine)
        if (
            needles
            and any(needles.are_in(path, self._vault.open_pages) for path in with_logs(file))
            and not self._is_in_a_row(needles)
        ):
            with told_apart():
                execute_alone(self._engine, "VACUUM")
            emptied = empty_log(self._engine)
            if any(needles.are_in(path, self._vault.open_pages) for path in with_logs(file)):
                return "its file still holds the text although no row does"
        return "" if emptied else "its log could not be emptied while others read it; forget it again"

    def _is_in_a_row(self, needles: Needles) -> bool:
        """Whether a row of anybody has one of the texts, so that the file may hold it."""
        with told_apart(), self._readers.begin() as connection:
            for table in metadata.sorted_tables:
                texts = [column for column in table.columns if isinstance(column.type, Text)]
                rows = connection.execution_options(yield_per=100).execute(select(*texts)) if texts else ()
                for row in rows:
                    if any(needles.are_in_text(value) for value in row if value):
                        return True
        return False

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()
        if self._changes:
            self._changes.close()


def _slice(connection: Connection, work: Callable[[Connection, Item], bool], left: list[Item]) -> None:
    """Work on the items from the end of ``left``, and take out what is done."""
    done, end = 0, time.monotonic() + SLICE_S
    while True:
        done += work(connection, left[-1 - done])
        if done == len(left) or time.monotonic() >= end:
            break
    del left[len(left) - done :]


async def open_database(url: str, vault: Vault) -> Database:
    """Open the store at ``url`` (``sqlite:///file``, ``postgresql://...``) and bring its schema up to date."""
    engine = await anyio.to_thread.run_sync(_open, url, vault)
    return Database(engine, vault)


def make_engine(url: str, vault: Vault = PLAIN) -> Engine:
    """What talks to the store at ``url``, whatever its schema; a SQLite file is made, private, when it is missing."""
    parsed = make_url(url)
    return _sqlite(parsed, vault) if parsed.get_backend_name() == "sqlite" else _postgresql(parsed)


def _open(url: str, vault: Vault) -> Engine:
    engine = make_engine(url, vault)
    try:
        with told_apart():
            migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


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


def _changes_of(file: Path, vault: Vault) -> FileChanges:
    def connect() -> sqlite3.Connection:
        return vault.connect(file, STORE_PAGE_BYTES, timeout=0, isolation_level=None)

    return FileChanges(connect, vault.cipher.sqlite.Error)


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


def _transact(engine: Engine, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    with told_apart(), engine.begin() as connection:
        return work(connection, *args, **kwargs)


def empty_log(engine: Engine) -> bool:
    """Bring all that was written to an SQLite file into the file itself, and empty the log; whether that worked."""
    with told_apart():
        return not execute_alone(engine, "PRAGMA wal_checkpoint(TRUNCATE)")


def execute_alone(engine: Engine, statement: str) -> Any:
    """Run a statement that SQLite takes outside of transactions only; the first column of its answer."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        row = cursor.execute(statement).fetchone()
        cursor.close()
        return row[0] if row else None
    except engine.dialect.loaded_dbapi.Error as error:
        raise StoreUnavailable(f"the turn store can not be cleaned: {error}") from error
    finally:
        connection.close()


def vacuum(engine: Engine) -> str:
    """Have PostgreSQL give up deleted rows; what can not be seen from here all the same."""
    from app.store.postgres import vacuum_tables  # its driver is an extra

    with told_apart():
        vacuum_tables(engine, [table.name for table in metadata.sorted_tables])
    return (
        "the rows are deleted and vacuumed; PostgreSQL overwrites the space that they had, its write-ahead log and its"
        " backups in its own time, and a byte can not be looked for there"
    )


def _try_write(connection: Connection) -> None:
    connection.execute(text("UPDATE alembic_version SET version_num = version_num"))


def _try_to_grow(database: Path) -> None:
    """Claim the room that a turn takes, beside the database: its log may have some left where the disk has none."""
    probe = database.with_name(f".{database.name}.{os.getpid()}.probe")
    try:
        try:
            probe.write_bytes(bytes(PROBE_BYTES))
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"the turn store can not grow: {error.strerror}") from error


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


def latest_revision() -> str:
    """The newest schema revision: migrations are numbered files."""
    return max(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def migrate(engine: Engine) -> None:
    """Bring the schema to the newest revision; processes that start together do it one after the other.

    An empty store is made from `app.store.schema` as it is now: importing Alembic is a sixth of a whole start, so it is
    loaded only where there is something to upgrade.
    """
    latest = latest_revision()
    with engine.connect() as connection:
        if _revision(connection) == latest:
            return
    with engine.begin() as connection, _alone(connection):
        found = _revision(connection)
        if found == latest:
            return
        if found is None:
            metadata.create_all(connection)
            connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
            connection.execute(text("INSERT INTO alembic_version VALUES (:latest)"), {"latest": latest})
        elif found > latest:
            raise CanNotStart(f"the turn store has schema {found}, made by a newer version; this one knows {latest}")
        else:
            upgrade(connection)


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """Keep other processes from migrating, however long this takes; on SQLite the write lock itself does."""
    if connection.dialect.name != "postgresql":
        yield
        return
    from app.store.postgres import unhurried

    with unhurried(connection):
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        yield


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(connection: Connection) -> None:
    """Run the migrations that the store has not seen, in the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
