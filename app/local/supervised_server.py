"""Keeps an OpenViking running beside the service: one child at a time, started again when it dies.

The service does not wait for it: turns are kept and replies go out without recall until it answers, as in any outage.
"""

import fcntl
import json
import os
import shlex
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio
import httpx
import structlog
from anyio.abc import Process

from app.errors import CanNotStart
from app.local import child, processes
from app.local.command import HOST, find_command, next_free_port
from app.settings import LocalSettings

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
"""Pauses before a new start; they double while no start leads to an answer."""
LOOK_EVERY_S = 0.2
LOOK_S = 2.0
"""Longest wait for one answer of ``/health``."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Record:
    """The child as the next start finds it: its name (see `app.local.processes`) and where it listens."""

    process: str
    url: str


class LocalServer:
    """An OpenViking of this data directory's own. ``moved`` is told its URL: another one when the port is taken."""

    def __init__(self, settings: LocalSettings, port: int, data_dir: Path, moved: Callable[[str], None]) -> None:
        self._settings = settings
        self._port = port
        self._data_dir = data_dir
        self._record_path = data_dir / "openviking.json"
        self._moved = moved

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep it running until the block ends, and stop it then. Raises `CanNotStart` when it never could run."""
        command = find_command(self._settings)
        with self._alone():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._keep_running, command)
                yield
                tasks.cancel_scope.cancel()

    def look(self) -> dict[str, str]:
        """What `doctor` tells of the one that ``serve`` runs, which it asks. Raises `CanNotStart` when none can run."""
        command = shlex.join(find_command(self._settings))
        record = self._found()
        if record is None:
            return {"command": command, "local": "not running; serve --with-openviking starts it"}
        self._moved(record.url)
        return {"command": command, "local": "running"}

    def _found(self) -> Record | None:
        """The child that some process runs from this data directory; None when none does."""
        try:
            record = Record(**json.loads(self._record_path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return record if processes.is_running(record.process) else None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the data directory for one sidecar: two would take each other's child for one that was left over."""
        self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self._data_dir / "openviking.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CanNotStart(
                    f"another sidecar runs OpenViking from {self._data_dir}: give this one a SIDECAR_DATA_DIR of its "
                    "own, or connect it to that OpenViking by SIDECAR_OPENVIKING__URL, without --with-openviking"
                ) from None
            yield
        finally:
            os.close(lock)

    async def _keep_running(self, command: list[str]) -> None:
        await self._stop_left_over()
        failures = 0
        while True:
            answered = False
            try:
                answered = await self._live_once(command)
            except Exception:  # whatever it is: the next try may fare better, and turns wait for it
                log.exception("openviking_not_started")
            failures = 0 if answered else failures + 1
            pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(failures, 10))
            log.warning("openviking_will_be_started", in_s=pause)
            await anyio.sleep(pause)

    async def _stop_left_over(self) -> None:
        """End a child whose sidecar was killed. Its name says that it is ours: nothing else is ever signalled."""
        if left_over := self._found():
            log.warning("openviking_left_over", process=left_over.process, url=left_over.url)
            await child.stop_named(left_over.process, self._settings.stop_ms / 1000)
        self._record_path.unlink(missing_ok=True)

    async def _live_once(self, command: list[str]) -> bool:
        """Start the child and stay with it until it ends; whether it ever answered."""
        port = next_free_port(self._port)
        if port != self._port:
            log.warning("openviking_port_taken", port=self._port, instead=port)
        url = f"http://{HOST}:{port}"
        stop_s = self._settings.stop_ms / 1000
        answered = anyio.Event()
        try:
            async with child.started([*command, "--host", HOST, "--port", str(port)], stop_s=stop_s) as process:
                self._write_down(process, url)
                self._moved(url)
                log.info("openviking_started", pid=process.pid, url=url)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(child.pass_log_on, process)
                    tasks.start_soon(self._watch_start, process, url, answered)
                    status = await process.wait()
                    tasks.cancel_scope.cancel()
        finally:
            self._record_path.unlink(missing_ok=True)
        log.error("openviking_ended", pid=process.pid, status=status)
        return answered.is_set()

    async def _watch_start(self, process: Process, url: str, answered: anyio.Event) -> None:
        """Wait for ``/health``; a child that does not answer in time is stopped, and so started again."""
        began = time.monotonic()
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=LOOK_S) as client:
            with anyio.move_on_after(self._settings.start_ms / 1000):
                while not await _answers(client):  # noqa: ASYNC110 - it does not tell when it is ready
                    await anyio.sleep(LOOK_EVERY_S)
                answered.set()
                log.info("openviking_ready", pid=process.pid, url=url, seconds=round(time.monotonic() - began, 1))
                return
        log.error("openviking_does_not_answer", pid=process.pid, within_ms=self._settings.start_ms)
        await child.stop(process, self._settings.stop_ms / 1000)

    def _write_down(self, process: Process, url: str) -> None:
        """Replace the record in one go: a half-written one would hide the child from the next start."""
        record = Record(processes.name_of(process.pid), url)
        beside = self._record_path.with_suffix(".tmp")
        beside.write_text(json.dumps(asdict(record)), encoding="utf-8")
        beside.replace(self._record_path)


async def _answers(client: httpx.AsyncClient) -> bool:
    with suppress(httpx.HTTPError):
        return (await client.get("/health")).status_code == httpx.codes.OK
    return False
