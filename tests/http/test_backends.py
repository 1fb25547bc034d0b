"""A backend is a package and one line in `app.backends`: everything else follows from the port."""

from pathlib import Path

import pytest

from app.atrest.vault import Vault
from app.backends import BACKENDS, open_backend
from app.ports import ContextBackend, OpenedBackend
from app.services import open_services
from app.settings import Settings
from tests.http.conftest import Start
from tests.unit.memory_backend import MemoryBackend

TURN = {
    "sessionId": "s",
    "messages": [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hi."}],
    "wait": True,
}


def open_memory(settings: Settings, _vault: Vault) -> OpenedBackend:
    """The opener of a backend that only this test knows."""
    assert settings.backend == "memory"
    return OpenedBackend(MemoryBackend())


@pytest.fixture
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "memory", f"{__name__}:open_memory")


@pytest.mark.usefixtures("_registered")
def test_a_new_backend_takes_one_line(start: Start) -> None:
    client = start(backend="memory")
    assert client.post("/after-turn", json=TURN).json()["delivery"] == "delivered"
    assert client.get("/readyz").json()["backend"]["name"] == "memory"
    metrics = client.get("/metrics").text
    assert 'sidecar_backend_calls_total{backend="memory",operation="append",outcome="ok"} 1.0' in metrics
    assert 'sidecar_backend_call_seconds_count{backend="memory",operation="append"} 1.0' in metrics
    assert "sidecar_memory_sessions 1.0" in metrics


@pytest.mark.parametrize("operation", ["append", "find", "past", "health"])
def test_the_embedded_backend_is_measured_like_any_other(start: Start, operation: str) -> None:
    client = start()
    client.post("/after-turn", json=TURN)
    asked = {"sessionId": "s", "phase": "full", "messages": [{"role": "user", "content": "What colour is my bike?"}]}
    client.post("/assemble", json=asked)
    client.get("/readyz")
    metrics = client.get("/metrics").text
    assert f'sidecar_backend_calls_total{{backend="embedded",operation="{operation}",outcome="ok"}}' in metrics
    assert "sidecar_embedded_open_users 1.0" in metrics
    assert "openviking" not in metrics


def test_openviking_is_measured_with_what_it_knows_beyond_the_reason(start: Start) -> None:
    client = start(backend="openviking", openviking={"url": "http://127.0.0.1:9"})
    client.get("/readyz")
    question = {"sessionId": "s", "messages": [{"role": "user", "content": "What colour is my bike?"}]}
    client.post("/assemble", json=question)
    metrics = client.get("/metrics").text
    assert 'sidecar_backend_calls_total{backend="openviking",operation="find",outcome="unreachable"} 1.0' in metrics
    assert 'sidecar_backend_calls_total{backend="openviking",operation="health",outcome="not_ok"}' in metrics
    assert "sidecar_openviking_breakers_open 0.0" in metrics


@pytest.mark.anyio
@pytest.mark.parametrize("name", BACKENDS)
async def test_every_backend_says_what_the_port_asks(name: str, tmp_path: Path) -> None:
    opened = open_backend(Settings(_env_file=None, backend=name, data_dir=tmp_path))
    try:
        backend: ContextBackend = opened.backend
        assert (backend.name, backend.place.split()[0]) == (name, name)
        assert backend.call_s > 0
        assert all(key.isidentifier() and isinstance(value, float) for key, value in backend.gauges().items())
        for member in (*ContextBackend.__annotations__, *(key for key in vars(ContextBackend) if key[0] != "_")):
            assert hasattr(backend, member), member
    finally:
        await opened.backend.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "lease_ms", "call_s"),
    [("embedded", 30_000, 10.0), ("openviking", 30_000, 0.7), ("embedded", 2_000, 1.0), ("openviking", 1_000, 0.5)],
)
async def test_a_write_has_the_time_that_its_own_backend_takes(
    name: str, lease_ms: int, call_s: float, tmp_path: Path
) -> None:
    settings = Settings(
        _env_file=None,
        backend=name,
        data_dir=tmp_path,
        openviking={"timeout_ms": 700},
        delivery={"lease_ms": lease_ms},
    )
    async with open_services(settings) as services:
        assert services.store.rules.call_s == call_s


def test_a_backend_that_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="is none of embedded, openviking"):
        Settings(_env_file=None, backend="redis")
