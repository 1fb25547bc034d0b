"""A whole sidecar in this process, on the embedded backend unless a test says otherwise."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from app.factory import create_app
from app.ports import ContextBackend
from app.settings import Settings
from tests.contract.openviking import FakeOpenViking, served

Start = Callable[..., TestClient]
PATIENT: dict[str, Any] = {"limits": {"assemble_ms": 60_000}, "recall": {"timeout_ms": 30_000}}
"""A busy machine must change no answer: tests of deadlines name their own."""


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a sidecar with these settings; it is stopped when the test ends. Edited files are looked for at once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("app.embedded.index.index._SCAN_SHARE", 0)
    with ExitStack() as stack:

        def started(port: ContextBackend | None = None, **values: Any) -> TestClient:
            values = {"data_dir": tmp_path / "data", "log_level": "error", **PATIENT, **values}
            settings = Settings(_env_file=None, **values)
            return stack.enter_context(TestClient(create_app(settings, backend=port)))

        yield started


@pytest.fixture(params=["embedded", "openviking"])
def sidecar(request: pytest.FixtureRequest, start: Start) -> Iterator[Start]:
    """Starts sidecars that share their data, on one backend."""
    with ExitStack() as stack:
        values: dict[str, Any] = {}
        if request.param == "openviking":
            url = stack.enter_context(served(FakeOpenViking()))
            values = {"backend": "openviking", "openviking": {"url": url, "user": "mia", "timeout_ms": 5_000}}
        yield lambda **more: start(**values, **more)


@pytest.fixture
def client(start: Start) -> TestClient:
    return start()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One sidecar for all tests of a module: see `person`."""
    settings = Settings(
        _env_file=None, data_dir=tmp_path_factory.mktemp("service") / "data", log_level="error", **PATIENT
    )
    with TestClient(create_app(settings)) as client:
        yield client


@pytest.fixture
def person(service: TestClient) -> Iterator[TestClient]:
    """The shared sidecar, for a user of whom nothing is known yet."""
    service.headers["X-OpenViking-User"] = f"person-{uuid4().hex[:12]}"
    yield service
    del service.headers["X-OpenViking-User"]
