"""Sidecar processes that are killed, hosts that do not give up, and the account at the end."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.process import free_port

BATCHES_EVERY = 9
"""Every how many-th turn is so long that it goes in two batches."""
LONG_TURN = 130


class Sidecar:
    """``openviking-sidecar serve`` on a port of its own, to be killed and started again on the same data."""

    def __init__(self, data_dir: Path, *flags: str, **settings: str) -> None:
        self._command = [sys.executable, "-m", "app.cli", "serve", *flags]
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.kills = 0
        self._log = data_dir.parent / f"{data_dir.name}-{self.port}.log"
        self._env = {key: value for key, value in os.environ.items() if not key.startswith("SIDECAR_")}
        self._env |= {f"SIDECAR_{key}": value for key, value in settings.items()}
        self._env |= {"SIDECAR_DATA_DIR": str(data_dir), "SIDECAR_PORT": str(self.port)}
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.RLock()

    def __enter__(self) -> "Sidecar":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        with self._lock, self._log.open("ab") as out:
            self._process = subprocess.Popen(self._command, env=self._env, stdout=out, stderr=out)

    def kill(self) -> None:
        """SIGKILL, at once."""
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                self._process.send_signal(signal.SIGKILL)
                self._process.wait()
                self.kills += 1

    def terminate(self) -> None:
        """SIGTERM, and wait for the end, which must come by itself."""
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()
                self._process.wait(60)

    def kill_and_start(self) -> None:
        with self._lock:
            self.kill()
            self.start()

    def wait_up(self) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                if httpx.get(f"{self.url}/healthz", trust_env=False).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError(f"the sidecar does not come up:\n{self.log()[-3000:]}")

    def undelivered(self) -> list[dict[str, Any]]:
        """The turns that are on their way, as `/deliveries` tells."""
        found: list[dict[str, Any]] = []
        for state in ("pending", "sending"):
            answer = httpx.get(f"{self.url}/deliveries", params={"state": state}, trust_env=False, timeout=20)
            found += answer.raise_for_status().json()["deliveries"]
        return found

    def log(self) -> str:
        return self._log.read_text(errors="replace")


@contextmanager
def meanwhile(*works: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run each work in a thread until the block ends: it returns when the event is set."""
    over = threading.Event()
    threads = [threading.Thread(target=work, args=(over,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def messages_of(session: str, number: int) -> list[dict[str, str]]:
    """A turn that can be told from every other, mostly short, and not all ASCII."""
    length = LONG_TURN if number % BATCHES_EVERY == BATCHES_EVERY - 1 else 2
    roles = ("user", "assistant")
    return [{"role": roles[i % 2], "content": f"{session} turn {number} message {i}, 好, é"} for i in range(length)]


def expected_texts(session: str, turns: int) -> list[str]:
    return [message["content"] for number in range(turns) for message in messages_of(session, number)]


def talk(urls: Sequence[str], session: str, turns: int, token_budget: int, *, pause: float = 0.0) -> None:
    """A host: it sends its turns in order, each until somebody says that it is kept."""
    with httpx.Client(trust_env=False, timeout=10) as client:
        for number in range(turns):
            body: dict[str, Any] = {
                "sessionId": session,
                "advancementKey": f"{session}-{number}",
                "messages": messages_of(session, number),
                "prePromptMessageCount": 0,
                "tokenBudget": token_budget,
            }
            _insist(client, urls, body)
            time.sleep(pause)


def _insist(client: httpx.Client, urls: Sequence[str], body: dict[str, Any]) -> None:
    for attempt in range(2000):
        try:
            answer = client.post(f"{urls[attempt % len(urls)]}/after-turn", json=body)
        except httpx.TransportError:
            time.sleep(0.25)
            continue
        if answer.is_success:
            assert answer.json()["status"] in {"committed", "duplicate"}, answer.text
            return
        assert answer.status_code == 503, answer.text
        time.sleep(0.25)
    raise AssertionError("the turn was never accepted")


def talk_all(
    urls: Sequence[str], sessions: Sequence[str], turns: int, token_budget: int, pause: float = 0.0
) -> Callable[[], None]:
    """All sessions at once; the result waits for the hosts to end and raises what went wrong in them."""
    problems: list[BaseException] = []

    def one(session: str) -> None:
        try:
            talk(urls, session, turns, token_budget, pause=pause)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=one, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()

    def finish() -> None:
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]

    return finish


def drained(sidecars: Sequence[Sidecar], seconds: float) -> None:
    """Wait until nothing is on its way any more."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if not any(sidecar.undelivered() for sidecar in sidecars):
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    waiting = sidecars[0].undelivered()
    log = sidecars[0].log()[-3000:]
    raise AssertionError(f"{len(waiting)} turns are still on their way, such as {waiting[:3]}\n{log}")
