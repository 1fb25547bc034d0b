"""Recall traces: kept for a while so that "why was this there?" has an answer, and never worth a delay.

They are written behind the answer by a task of the lifespan, in batches, into a SQLite file of their own (a turn's
``synchronous=FULL`` would be too dear for them), or beside the turns when the store is a PostgreSQL that several
processes share. Losing some with the process is fine.
"""

import asyncio
import json
import os
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import anyio.to_thread
import structlog
from pydantic_core import PydanticSerializationError
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    Index,
    MetaData,
    Table,
    Text,
    delete,
    event,
    inspect,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from app.atrest.places import TRACES
from app.atrest.residue import Needles, with_logs
from app.atrest.vault import PLAIN, Vault
from app.atrest.wal import into_wal_mode
from app.core.identity import Tenant, session_name
from app.core.json.answers import adapter
from app.core.json.encoding import encode
from app.core.memories.memory_outcomes import Kept
from app.core.recall.trace import RecallTrace
from app.store.deleted_bytes import empty_log, execute_alone
from app.store.engines import sqlite_engine, told_apart

MAX_PENDING = 1_000
"""Traces waiting to be written; the oldest go when the disk can not keep up."""
BUSY_S = 5.0
"""How long a writer waits for another process on the same file."""
GATHER_S = 0.25
"""How long traces are gathered before they are written together; readers do not wait for it."""

MAX_FORGOTTEN = 20
"""The newest forgettings, which recalls that were under way must not write about."""

Forgets = Callable[[RecallTrace], bool]
"""Whether a trace is to be forgotten."""

log = structlog.get_logger(__name__)
metadata = MetaData()

traces = Table(
    "recall_traces",
    metadata,
    Column("trace_id", Text, primary_key=True),
    Column("account_key", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("body", Text, nullable=False),
    Column("alias", Text),
    Index("recall_traces_by_tenant", "account_key", "trace_id"),
    Index("recall_traces_by_time", "at"),
)
"""``trace_id`` sorts by time; ``at`` is seconds since the epoch; ``body`` is ASCII-only JSON;
``alias`` is what the session would be called by its key alone.

New columns stand at the end and may be empty: `_prepare` adds them to a table that is there."""


class TraceStore:
    """Bounded by count and age. `record` never blocks; reads see everything that was recorded before them."""

    def __init__(
        self, engine: Engine, *, keep: int, keep_hours: float, now: Callable[[], float], vault: Vault = PLAIN
    ) -> None:
        self._vault = vault
        self._engine = engine
        self._keep = keep
        self._keep_s = keep_hours * 3600
        self._now = now
        self._pending: deque[Callable[[], RecallTrace]] = deque(maxlen=MAX_PENDING)
        self._woken = asyncio.Event()
        self._writing = asyncio.Lock()
        self._file = Path(engine.url.database or "") if engine.dialect.name == "sqlite" else None
        self._forgotten: deque[tuple[str, Forgets]] = deque(maxlen=MAX_FORGOTTEN)

    def record(self, make: Callable[[], RecallTrace]) -> None:
        """Make and keep the trace soon; nothing is made or written when none are to be kept."""
        if self._keep and self._keep_s:
            self._pending.append(make)
            self._woken.set()

    async def run(self) -> None:
        """Write what is recorded, until cancelled. Belongs to the lifespan's task group."""
        while True:
            await self._woken.wait()
            await asyncio.sleep(GATHER_S)
            self._woken.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write everything recorded so far; a disk that refuses loses traces and nothing else."""
        async with self._writing:
            batch = [self._pending.popleft() for _ in range(len(self._pending))]
            if not batch:
                return
            try:
                await anyio.to_thread.run_sync(self._write, batch)
            except SQLAlchemyError as error:
                log.warning("traces_not_written", count=len(batch), error=type(error).__name__)

    async def get(self, account_key: str, trace_id: str) -> RecallTrace | None:
        """The tenant's trace of that id."""
        query = select(traces.c.body).where(traces.c.trace_id == trace_id, traces.c.account_key == account_key)
        found = await self._read(query)
        return found[0] if found else None

    async def page(
        self,
        account_key: str,
        *,
        sessions: frozenset[str] = frozenset(),
        since: float | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> list[RecallTrace]:
        """The tenant's newest traces first: of these sessions by either name (all if empty), not older than ``since``
        (epoch seconds), and before the trace id ``before`` (the last one of the page before this one)."""
        query = select(traces.c.body).where(traces.c.account_key == account_key)
        if sessions:
            named = sorted(sessions)
            query = query.where(or_(traces.c.session.in_(named), traces.c.alias.in_(named)))
        if since is not None:
            query = query.where(traces.c.at >= since)
        if before:
            query = query.where(traces.c.trace_id < before)
        return await self._read(query.order_by(traces.c.trace_id.desc()).limit(limit))

    async def erase(self, account_key: str, forgets: Forgets, *, dry_run: bool = False) -> int:
        """Delete the tenant's traces that ``forgets`` takes; how many.

        For a while it also keeps those from being written whose recall is under way.
        """
        found = await self._read(select(traces.c.body).where(traces.c.account_key == account_key))
        gone = [trace.trace_id for trace in found if forgets(trace)]
        if dry_run:
            return len(gone)
        self._forgotten.append((account_key, forgets))
        await anyio.to_thread.run_sync(self._delete, gone)
        return len(gone)

    async def clean(self, needles: Needles) -> Sequence[Kept]:
        """Leave nothing of what was deleted in the file of traces, and look for the texts there; what is left."""
        if self._file is None:  # they stand beside the turns, and are cleaned with them
            return ()
        why = await anyio.to_thread.run_sync(self._clean_file, self._file, needles)
        return [Kept("recall traces", why)] if why else ()

    def _clean_file(self, file: Path, needles: Needles) -> str:
        emptied = empty_log(self._engine)
        if self._holds(file, needles):
            execute_alone(self._engine, "VACUUM")
            emptied = empty_log(self._engine)
            if self._holds(file, needles) and not self._is_in_a_trace(file, needles):
                return "their file still holds the text although none of them does"
        return "" if emptied else "their log could not be emptied while others read it; forget it again"

    def _holds(self, file: Path, needles: Needles) -> bool:
        return bool(needles) and any(needles.are_in(path, self._vault.open_pages) for path in with_logs(file))

    def _is_in_a_trace(self, file: Path, needles: Needles) -> bool:
        """Whether a trace of any tenant has one of the texts, so that the file may hold it."""
        with told_apart(), self._engine.begin() as connection:
            bodies = connection.execution_options(yield_per=100).execute(select(traces.c.body)).scalars()
            return any(needles.are_in(file, partial(_as_file, body)) for body in bodies)

    def _delete(self, ids: Sequence[str]) -> None:
        with told_apart(), self._engine.begin() as connection:
            for start in range(0, len(ids), 500):
                some = ids[start : start + 500]
                connection.execute(delete(traces).where(traces.c.trace_id.in_(some)))

    async def aclose(self) -> None:
        """Write what is left and close the file."""
        await self.flush()
        await anyio.to_thread.run_sync(self._engine.dispose)

    async def _read(self, query: Any) -> list[RecallTrace]:
        await self.flush()

        def read() -> list[str]:
            with told_apart(), self._engine.connect() as connection:
                return list(connection.execute(query).scalars())

        bodies = await anyio.to_thread.run_sync(read)
        return [adapter(RecallTrace).validate_python(json.loads(body)) for body in bodies]

    def _write(self, batch: list[Callable[[], RecallTrace]]) -> None:
        made = [
            trace
            for trace in (make() for make in batch)
            if not any(trace.account_key == key and forgets(trace) for key, forgets in tuple(self._forgotten))
        ]
        rows = [
            {
                "trace_id": trace.trace_id,
                "account_key": trace.account_key,
                "session": trace.session,
                "alias": session_name(None, trace.session_key),
                "at": datetime.fromisoformat(trace.at).timestamp(),
                "body": _body(trace),
            }
            for trace in made
        ]
        if not rows:
            return
        with self._engine.begin() as connection:
            connection.execute(traces.insert(), rows)
            self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        connection.execute(delete(traces).where(traces.c.at < self._now() - self._keep_s))
        newest = select(traces.c.trace_id).order_by(traces.c.trace_id.desc())
        oldest_kept = connection.execute(newest.offset(self._keep).limit(1)).scalar()
        if oldest_kept is not None:
            connection.execute(delete(traces).where(traces.c.trace_id <= oldest_kept))


def _as_file(body: str, _path: Path) -> BinaryIO:
    return BytesIO(body.encode())


def _body(trace: RecallTrace) -> str:
    shape = adapter(RecallTrace)
    try:
        return shape.dump_json(trace, by_alias=False).decode()
    except PydanticSerializationError:  # half a surrogate pair: `encode` writes it as an escape
        return encode(shape.dump_python(trace, mode="json", by_alias=False)).decode()


async def open_traces(
    store_url: str,
    data_dir: Path,
    *,
    keep: int,
    keep_hours: float,
    now: Callable[[], float],
    vault: Vault = PLAIN,
    unnamed: str | None = None,
) -> TraceStore:
    """The trace store of the turn store at ``store_url``. ``unnamed``: see `app.store.turns.open_store`."""
    engine = await anyio.to_thread.run_sync(_open, store_url, data_dir, vault, unnamed)
    return TraceStore(engine, keep=keep, keep_hours=keep_hours, now=now, vault=vault)


def _open(store_url: str, data_dir: Path, vault: Vault, unnamed: str | None) -> Engine:
    url = make_url(store_url)
    if url.get_backend_name() == "sqlite":
        engine = _own_file(data_dir / TRACES, vault)
    else:
        from app.store.postgres import postgres_engine  # its driver is an extra

        engine = postgres_engine(url, pool_size=2, max_overflow=2)
    try:
        _prepare(engine, unnamed)
    except SQLAlchemyError:
        _prepare(engine, unnamed)  # another process did the same between the look and the making
    return engine


def _prepare(engine: Engine, unnamed: str | None) -> None:
    """Make the table, or add the columns that it did not have when it was made, and spell every tenant in one way."""
    metadata.create_all(engine)
    there = {column["name"] for column in inspect(engine).get_columns(traces.name)}
    with engine.begin() as connection:
        for column in traces.columns:
            if column.name not in there:
                kind = column.type.compile(engine.dialect)
                connection.execute(text(f"ALTER TABLE {traces.name} ADD COLUMN {column.name} {kind}"))
        keys = connection.execute(select(traces.c.account_key).distinct()).scalars().all() if unnamed else ()
        for key in keys:
            if (spelled := Tenant.of_key(key).without(unnamed).account_key) != key:
                connection.execute(update(traces).where(traces.c.account_key == key).values(account_key=spelled))


def _own_file(path: Path, vault: Vault) -> Engine:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    arguments = {"check_same_thread": False, "timeout": BUSY_S}
    engine = sqlite_engine(f"sqlite:///{path}", vault, connect_args=arguments)
    event.listen(engine, "connect", partial(_configure, vault.cipher.sqlite.OperationalError))
    return engine


def _configure(busy: type[Exception], connection: Any, _record: Any) -> None:
    into_wal_mode(connection, busy, BUSY_S)
    connection.execute("PRAGMA synchronous=OFF").close()
    connection.execute("PRAGMA secure_delete=ON").close()
