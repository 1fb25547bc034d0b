"""A whole sidecar in this process, on the embedded backend unless a test says otherwise."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.factory import create_app
from app.ports import ContextBackend
from app.settings import Settings

Start = Callable[..., TestClient]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a sidecar with these settings; it is stopped when the test ends."""
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:

        def started(port: ContextBackend | None = None, **values: Any) -> TestClient:
            settings = Settings(_env_file=None, **{"data_dir": tmp_path / "data", "log_level": "error", **values})
            return stack.enter_context(TestClient(create_app(settings, backend=port)))

        yield started


@pytest.fixture
def client(start: Start) -> TestClient:
    return start()
