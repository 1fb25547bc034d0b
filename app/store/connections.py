"""Running transactions on the turn store, in threads.

An acknowledged turn must survive a power cut, so every write is one transaction that is committed to disk before the
caller goes on.
"""

import os
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy import Connection, Engine, text

from app.atrest.places import STORE_PAGE_BYTES
from app.atrest.residue import Needles
from app.atrest.vault import PLAIN, Vault
from app.errors import StoreUnavailable
from app.store.deleted_bytes import clean_file, vacuum
from app.store.engines import make_engine, told_apart
from app.store.file_changes import FileChanges
from app.store.migrating import migrate

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")
PROBE_BYTES = 1024 * 1024
"""Room on the disk below which the store counts as full."""
SLICE_S = 0.005
"""How long one transaction of a long work goes on: no caller is to wait for it, and the disk, for more than 20 ms."""
PAUSES = 4
"""How much longer such work pauses after a transaction than that took."""
MAX_WAITING = 1_000
"""Reads that wait for others to end; more would only pile up behind a store that hangs."""
MAX_KNOWN = 256
"""Answers that are kept while nothing changes."""


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
        """`read`, or what it returned the last time where nothing was written since.

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
        the same text, which is not an error: then the rows that were erased are overwritten all the same.
        """
        if self._file is None:
            return await anyio.to_thread.run_sync(vacuum, self._engine)
        call = partial(clean_file, self._engine, self._file, needles, self._vault)
        return await anyio.to_thread.run_sync(call, limiter=self._writing)

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


async def open_database(url: str, vault: Vault, unnamed: str | None = None) -> Database:
    """Open the store at ``url`` (``sqlite:///file``, ``postgresql://...``) and bring its schema up to date."""
    engine = await anyio.to_thread.run_sync(_open, url, vault, unnamed)
    return Database(engine, vault)


def _open(url: str, vault: Vault, unnamed: str | None) -> Engine:
    engine = make_engine(url, vault)
    try:
        with told_apart():
            migrate(engine, unnamed)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _changes_of(file: Path, vault: Vault) -> FileChanges:
    def connect() -> sqlite3.Connection:
        return vault.connect(file, STORE_PAGE_BYTES, timeout=0, isolation_level=None)

    return FileChanges(connect, vault.cipher.sqlite.Error)


def _transact(engine: Engine, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    with told_apart(), engine.begin() as connection:
        return work(connection, *args, **kwargs)


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
