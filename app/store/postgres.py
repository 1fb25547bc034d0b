"""PostgreSQL as a store that may hang: a server that accepts and never answers must be as little trouble as one away.

The server's own time-out ends a statement that waits for a lock. It is no help when the server itself is stopped, or
when the network swallows everything: so each wait for an answer ends here, too, and takes the connection with it.
"""

import math
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.waiting import Ready
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

CONNECT_S = 2
"""Longest wait for a connection; psycopg takes no less."""
STATEMENT_S = 3.0
"""How long the server works on one statement. Each of ours takes milliseconds, unless it waits for a lock."""
ANSWER_S = 4.0
"""How long an answer is waited for: longer, so that a server that is well tells by itself what it waited for."""

T = TypeVar("T")


class ImpatientConnection(psycopg.Connection[Any]):
    """Closes itself, and raises `psycopg.OperationalError`, when an answer takes longer than ``patience_s``."""

    patience_s = ANSWER_S

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:
        """Wait for what ``gen`` waits for; psycopg checks it ten times a second."""
        return super().wait(self._in_time(gen), *args, **kwargs)

    def _in_time(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        end = time.monotonic() + self.patience_s
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready == Ready.NONE and time.monotonic() > end:
                    self.close()
                    raise psycopg.OperationalError("PostgreSQL accepts and does not answer")
                wanted = gen.send(ready)
        except StopIteration as finished:
            result: T = finished.value
            return result


def postgres_engine(url: URL, *, pool_size: int, max_overflow: int) -> Engine:
    """What talks to the PostgreSQL at ``url``; a ``connect_timeout`` in the URL counts."""
    if url.drivername in {"postgresql", "postgres"}:
        url = url.set(drivername="postgresql+psycopg")
    # Parameters are message text, and what an error says ends up in a log.
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=max_overflow,
        pool_pre_ping=True,
        pool_timeout=STATEMENT_S,
        hide_parameters=True,
    )
    event.listen(engine, "do_connect", _connect)
    return engine


@contextmanager
def unhurried(connection: Connection) -> Iterator[None]:
    """Let the transaction on this connection take any time: for changes of the schema."""
    driver: Any = connection.connection.dbapi_connection
    driver.patience_s = math.inf
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    try:
        yield
    finally:
        driver.patience_s = ImpatientConnection.patience_s


def vacuum_tables(engine: Engine, tables: Sequence[str]) -> None:
    """Have the server give up the deleted rows of these tables, however long that takes."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        driver: Any = connection.connection.dbapi_connection
        driver.patience_s = math.inf
        try:
            connection.exec_driver_sql("SET statement_timeout = 0")
            for table in tables:
                connection.exec_driver_sql(f"VACUUM {table}")
        finally:
            connection.exec_driver_sql(f"SET statement_timeout = {int(STATEMENT_S * 1000)}")
            driver.patience_s = ImpatientConnection.patience_s


def _connect(_dialect: Any, _record: Any, args: Any, options: dict[str, Any]) -> ImpatientConnection:
    connection = ImpatientConnection.connect(*args, **{"connect_timeout": CONNECT_S, **options})
    # As a statement and not at the connection's start: poolers in between refuse options that they do not know.
    connection.autocommit = True
    connection.execute(f"SET statement_timeout = {int(STATEMENT_S * 1000)}")
    connection.autocommit = False
    return connection
