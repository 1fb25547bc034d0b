"""SIGKILL at random moments and at every step, with a backend that breaks too: each turn is there once, in order."""

import random
import threading
import time
from pathlib import Path

import pytest

from tests.crash.harness import Sidecar, drained, expected_texts, talk_all
from tests.crash.standin import StandIn
from tests.postgres import NoPostgres, postgres

CHANCES = {
    "ok": 0.8,
    "drop before": 0.04,
    "drop after": 0.04,
    "503 before": 0.03,
    "503 after": 0.03,
    "hang": 0.03,
    "late": 0.03,
}
STEPS = [
    "append received",
    "append applied",
    "append answered",
    "commit received",
    "commit applied",
    "commit answered",
    "grep",
    "task",
    "context",
]
QUICK = {
    "BACKEND": "openviking",
    "OPENVIKING__TIMEOUT_MS": "400",
    "OPENVIKING__BREAKER_RESET_MS": "200",
    "DELIVERY__SETTLE_MS": "1500",
    "DELIVERY__BACKOFF_MS": "50",
    "DELIVERY__MAX_BACKOFF_MS": "400",
    "DELIVERY__LEASE_MS": "3000",
    "LOG_LEVEL": "warning",
}


class Killer:
    """Kills the sidecar at the next step of a kind, inside the backend's handler, before that goes on."""

    def __init__(self, sidecar: Sidecar) -> None:
        self.sidecar = sidecar
        self.done: list[str] = []
        self._waiting_for: str | None = None
        self._killed = threading.Event()
        self._lock = threading.Lock()

    def kill_at(self, step: str) -> None:
        """Have the sidecar killed at the next such step, and started again."""
        self._killed.clear()
        self._waiting_for = step
        if not self._killed.wait(60):
            raise AssertionError(f"the step {step!r} never came")
        self.sidecar.start()

    def __call__(self, event: str) -> None:
        with self._lock:
            if event == self._waiting_for:
                self._waiting_for = None
                self.sidecar.kill()
                self.done.append(event)
                self._killed.set()


def test_five_hundred_turns_survive_every_kind_of_death(tmp_path: Path) -> None:
    sessions, turns = [f"session-{n}" for n in range(20)], 25
    chance = random.Random(7)
    with (
        StandIn(CHANCES, seed=7) as backend,
        Sidecar(tmp_path / "data", OPENVIKING__URL=backend.url, **QUICK) as sidecar,
    ):
        killer = Killer(sidecar)
        backend.on_event = killer
        sidecar.wait_up()
        finish = talk_all([sidecar.url], sessions, turns, token_budget=300, pause=0.2)
        for step in [*STEPS, *["at random"] * 4]:
            time.sleep(chance.uniform(0.0, 0.6))
            if step == "at random":
                sidecar.kill_and_start()
            else:
                killer.kill_at(step)
            if step in {"append answered", "commit answered"}:
                restart(backend)
            sidecar.wait_up()
        finish()
        drained([sidecar], 120)
        for session in sessions:
            assert backend.texts(session) == expected_texts(session, turns), session
        print(f"{sidecar.kills} kills, at {killer.done}; writes: {backend.faults}")
        assert set(killer.done) == set(STEPS)
        assert any(stored.archives for stored in backend.sessions.values())


@pytest.mark.postgres
def test_two_processes_share_one_postgresql_and_one_dies(tmp_path: Path) -> None:
    try:
        with postgres() as url:
            _two_on_one_store(tmp_path, url)
    except NoPostgres as reason:
        pytest.skip(str(reason))


def test_two_processes_share_one_sqlite_file_and_one_dies(tmp_path: Path) -> None:
    _two_on_one_store(tmp_path, f"sqlite:///{tmp_path / 'shared' / 'turns.db'}")


def _two_on_one_store(tmp_path: Path, url: str) -> None:
    sessions, turns = [f"session-{n}" for n in range(16)], 8
    with StandIn({"ok": 0.9, "drop after": 0.05, "late": 0.05}, seed=3) as backend:
        settings = {**QUICK, "OPENVIKING__URL": backend.url, "STORE__URL": url}
        with Sidecar(tmp_path / "first", **settings) as first, Sidecar(tmp_path / "second", **settings) as second:
            first.wait_up()
            second.wait_up()
            finish = talk_all([first.url, second.url], sessions, turns, token_budget=300, pause=0.3)
            while sum(len(backend.texts(session)) for session in sessions) < len(sessions) * turns:
                time.sleep(0.05)
            first.kill()
            finish()
            drained([second], 90)
        for session in sessions:
            assert backend.texts(session) == expected_texts(session, turns), session


@pytest.mark.parametrize("how", ["SIGTERM", "SIGKILL"])
def test_a_slow_append_goes_on_while_the_process_is_replaced(tmp_path: Path, how: str) -> None:
    """The write is applied only after the process was told to end, and then the next one has begun to look for it."""
    settings = {**QUICK, "OPENVIKING__TIMEOUT_MS": "3000", "DELIVERY__LEASE_MS": "6000"}
    with (
        StandIn(seed=1) as backend,
        Sidecar(tmp_path / "data", OPENVIKING__URL=backend.url, **settings) as sidecar,
    ):
        received, go_on = threading.Event(), threading.Event()

        def hold(event: str) -> None:
            if event == "append received" and not received.is_set():
                received.set()
                go_on.wait(20)

        backend.on_event = hold
        sidecar.wait_up()
        finish = talk_all([sidecar.url], ["slow"], 1, token_budget=100_000)
        assert received.wait(20)
        finish()
        if how == "SIGTERM":
            threading.Timer(0.5, go_on.set).start()
            sidecar.terminate()
            assert backend.texts("slow") == expected_texts("slow", 1)
        else:
            sidecar.kill()
            threading.Timer(2.0, go_on.set).start()  # more than ``settle_ms``, less than the call could have taken
        sidecar.start()
        sidecar.wait_up()
        drained([sidecar], 30)
        assert backend.texts("slow") == expected_texts("slow", 1)


def restart(backend: StandIn) -> None:
    """The backend is away for a moment, and every connection to it is cut."""
    backend.stop()
    time.sleep(0.3)
    backend.start()
