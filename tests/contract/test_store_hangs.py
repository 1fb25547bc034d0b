"""A PostgreSQL that hangs: behind a network that swallows everything, or under a lock that nobody gives back."""

import socket
import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, text

from app.errors import StoreUnavailable
from app.store import postgres as store_postgres
from app.store.engines import make_engine
from app.store.turns import open_store
from tests.unit.turning import a_turn, somebody, work_rules

pytestmark = [pytest.mark.anyio, pytest.mark.postgres]

FOREVER_S = 30
"""What hangs this long hangs for ever; then it goes on, so that whoever waits for it fails a test and not its time."""


class Relay:
    """A port that stands for another one until it hangs: then it accepts, and neither answers nor hangs up."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._flows = threading.Event()
        self._flows.set()
        self._sockets: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hang(self) -> None:
        self._flows.clear()
        self._end = threading.Timer(FOREVER_S, self._flows.set)
        self._end.start()

    def go_on(self) -> None:
        self._end.cancel()
        self._flows.set()

    def close(self) -> None:
        self._flows.set()
        for each in (self._server, *self._sockets):
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._to))
            self._sockets += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                self._flows.wait()
                sink.sendall(data)
        except OSError:
            pass
        finally:
            sink.close()


@pytest.fixture(autouse=True)
def empty(postgres_url: str) -> None:
    engine = make_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()


@pytest.fixture
def relay(postgres_url: str) -> Iterator[Relay]:
    relay = Relay(make_engine(postgres_url).url.port or 5432)
    yield relay
    relay.close()


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_postgres.ImpatientConnection, "patience_s", 0.5)
    monkeypatch.setattr(store_postgres, "STATEMENT_S", 0.2)


async def test_a_server_that_does_not_answer_is_one_that_is_away(postgres_url: str, relay: Relay) -> None:
    store = await open_store(str(make_engine(postgres_url).url.set(port=relay.port)), rules=work_rules())
    await store.accept(a_turn("before"))
    relay.hang()
    for _ in range(2):  # on a connection that was open, and on a new one
        with pytest.raises(StoreUnavailable):
            await store.accept(a_turn("lost"))
        with pytest.raises(StoreUnavailable):
            await store.local_history(somebody())
    relay.go_on()
    await store.accept(a_turn("after"))
    await store.aclose()


async def test_a_lock_that_nobody_gives_back_is_not_waited_for(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_postgres.ImpatientConnection, "patience_s", 2 * FOREVER_S)  # the server says so itself
    store = await open_store(postgres_url, rules=work_rules())
    await store.accept(a_turn("before", who=somebody("locked")))
    engine = create_engine(postgres_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as holder:
        holder.execute(text(f"SET LOCAL idle_in_transaction_session_timeout = {FOREVER_S * 1000}"))
        holder.execute(text("LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(StoreUnavailable):
            await store.accept(a_turn("lost", who=somebody("locked")))
        with pytest.raises(StoreUnavailable):
            await store.local_history(somebody("locked"))
    engine.dispose()
    await store.accept(a_turn("after", who=somebody("locked")))
    await store.aclose()
