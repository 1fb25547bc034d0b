"""Connections that send nothing, too slowly or too much do not keep others from being answered. A real server."""

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.api.server import MAX_HEADER_BYTES, LimitedProtocol, Waiting
from app.settings import LimitSettings, Settings
from tests.process import running, sidecar

MOST = 8
PATIENCE_S = 6.0
"""Far longer than any of these limits: a connection that is open by then stays open."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("connections") / "data"
    limits = {"LIMITS__MAX_CONNECTIONS": str(MOST), "LIMITS__HEADER_MS": "60000", "LIMITS__BODY_MS": "300"}
    with sidecar(data, AUTH__TOKENS="alpha", **limits) as url:
        yield url


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with sidecar(tmp_path_factory.mktemp("hasty") / "data", LIMITS__HEADER_MS="300") as url:
        yield url


def connected(url: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=PATIENCE_S)


def read_to_end(connection: socket.socket) -> bytes:
    """What the server says until it closes; the test fails when it does not."""
    pieces = []
    try:
        while piece := connection.recv(65536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    except TimeoutError:
        pytest.fail(f"the connection stays open; said so far: {b''.join(pieces)!r}")
    return b"".join(pieces)


def test_silent_connections_make_room(url: str) -> None:
    silent = [connected(url) for _ in range(3 * MOST)]
    try:
        assert httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
        assert read_to_end(silent[0]) == b"", "the oldest one was closed"
    finally:
        for one in silent:
            one.close()


def test_half_a_header_makes_room_too(url: str) -> None:
    slow = [connected(url) for _ in range(3 * MOST)]
    try:
        for one in slow[-MOST:]:
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        assert httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
    finally:
        for one in slow:
            one.close()


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost:"])
def test_a_header_has_to_arrive_in_time(hasty: str, sent: bytes) -> None:
    with connected(hasty) as slow:
        slow.sendall(sent)
        assert read_to_end(slow) == b""


def test_so_has_the_second_one_of_a_connection(hasty: str) -> None:
    with connected(hasty) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /he")
        assert read_to_end(slow).count(b"HTTP/1.1 200") == 1


def test_a_body_has_to_arrive_in_time(url: str) -> None:
    with connected(url) as slow:
        head = (
            b"POST /assemble HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alpha\r\nContent-Type: application/json\r\n"
        )
        slow.sendall(head + b'Content-Length: 1000\r\n\r\n{"sessionId"')
        answer = read_to_end(slow)
    assert answer.startswith(b"HTTP/1.1 408") and b"request_timeout" in answer


def test_a_header_of_any_size_is_refused(url: str) -> None:
    with connected(url) as large:
        line = b"X-More: " + b"x" * 8000 + b"\r\n"
        large.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + line * (MAX_HEADER_BYTES // len(line) + 2))
        assert read_to_end(large).startswith(b"HTTP/1.1 431")
    fits = {"X-More": "x" * 8000}
    assert httpx.get(f"{url}/healthz", headers=fits, trust_env=False).status_code == 200


def test_an_idle_connection_outlasts_its_client(tmp_path: Path) -> None:
    """httpx keeps an idle connection for 5 s, a load balancer for 60: a request must not meet one being closed."""
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", log_level="error")
    with running(settings) as server, httpx.Client(trust_env=False) as client:
        assert client.get(f"http://127.0.0.1:{server.config.port}/healthz").status_code == 200
        (idle,) = server.server_state.connections
        assert isinstance(idle, LimitedProtocol)
        while (closing := idle.timeout_keep_alive_task) is None:
            assert not idle.transport.is_closing()
        assert closing.when() - idle.loop.time() > 60


@pytest.mark.parametrize(("descriptors", "most"), [(1024, 512), (256, 128), (10, 8), (-1, 512)])
def test_connections_leave_descriptors_to_the_store(descriptors: int, most: int) -> None:
    assert Waiting(LimitSettings(), descriptors).most == most
