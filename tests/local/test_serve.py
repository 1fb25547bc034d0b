"""``serve --with-openviking`` as an operator runs it, with a stand-in for OpenViking: up, killed, up again, down."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any

import pytest

from app.local import processes
from tests.local.conftest import Installed
from tests.process import free_port

WITHIN_S = 60


class Served:
    """The command in a process of its own, and what it logs."""

    def __init__(self, env: dict[str, str]) -> None:
        command = [sys.executable, "-m", "app.cli", "serve", "--with-openviking"]
        self.process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)

    def until(self, event: str) -> dict[str, Any]:
        """The next line of this event."""
        assert self.process.stderr is not None
        for text in self.process.stderr:
            line: dict[str, Any] = json.loads(text)
            if line["event"] == event:
                return line
        raise AssertionError(f"it ended without {event}")

    def end(self, signum: signal.Signals) -> int:
        self.process.send_signal(signum)
        self.process.communicate(timeout=WITHIN_S)
        return self.process.returncode


@pytest.fixture
def env(installed: Installed, tmp_path: Path) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("SIDECAR_")}
    return plain | {
        "SIDECAR_DATA_DIR": str(tmp_path / "data"),
        "SIDECAR_PORT": "0",
        "SIDECAR_OPENVIKING__URL": f"http://127.0.0.1:{free_port()}",
        "SIDECAR_LOCAL__PYTHON": str(installed.program),
        "SIDECAR_LOCAL__CONFIG": str(installed.config),
    }


@contextmanager
def served(env: dict[str, str]) -> Iterator[Served]:
    running = Served(env)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.end(signal.SIGKILL)


def ends(name: str) -> bool:
    """Whether the process ends in time."""
    with processes.handle(name) as handle:
        return handle is None or bool(select([handle], [], [], WITHIN_S)[0])


def test_neither_outlives_the_other_however_it_ends(env: dict[str, str]) -> None:
    with served(env) as first:
        child = processes.name_of(first.until("openviking_ready")["pid"])
        assert first.end(signal.SIGKILL) == -signal.SIGKILL
        assert ends(child)
    with served(env) as second:
        child = processes.name_of(second.until("openviking_ready")["pid"])
        assert second.end(signal.SIGTERM) in (0, -signal.SIGTERM)
        assert processes.is_gone(child)


def test_one_that_outlives_its_sidecar_is_stopped_by_the_next(installed: Installed, env: dict[str, str]) -> None:
    installed.behave(stubborn=True)
    env["SIDECAR_LOCAL__STOP_MS"] = "100"
    with served(env) as first:
        child = processes.name_of(first.until("openviking_ready")["pid"])
        first.end(signal.SIGKILL)
        assert processes.is_running(child), "it was to ignore the signal"
    with served(env) as second:
        assert second.until("openviking_left_over")["process"] == child
        ready = second.until("openviking_ready")
        assert processes.is_gone(child) and ready["url"] == env["SIDECAR_OPENVIKING__URL"]
        second.end(signal.SIGTERM)


def test_the_doctor_asks_the_one_that_runs(env: dict[str, str]) -> None:
    with served(env) as running:
        ready = running.until("openviking_ready")
        report = doctor(env)
        assert report["backend"]["ok"] and report["backend"]["local"] == "running"
        assert report["backend"]["url"] == ready["url"]
        running.end(signal.SIGTERM)
    report = doctor(env)
    assert not report["backend"]["ok"] and "serve --with-openviking" in report["backend"]["local"]


def test_without_an_openviking_it_says_in_one_line_what_to_do(env: dict[str, str]) -> None:
    env["SIDECAR_LOCAL__PYTHON"] = "/nowhere/python"
    with served(env) as refused:
        said = refused.process.communicate(timeout=WITHIN_S)[1]
    assert refused.process.returncode not in (0, None)
    assert "SIDECAR_LOCAL__PYTHON: there is no program /nowhere/python" in said and "Traceback" not in said


def doctor(env: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "app.cli", "doctor", "--with-openviking"]
    asked = subprocess.run(command, env=env, capture_output=True, text=True, timeout=WITHIN_S)
    report: dict[str, Any] = json.loads(asked.stdout)
    return report
