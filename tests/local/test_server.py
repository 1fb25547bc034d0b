"""OpenViking as a child process: started, watched, moved, restarted and ended, with a stand-in for it."""

import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import structlog

from app.errors import CanNotStart
from app.local import child, processes
from app.local.command import environment, find_command, next_free_port
from app.local.supervised_server import LocalServer
from app.settings import LocalSettings
from tests.local.conftest import Installed
from tests.process import free_port

pytestmark = pytest.mark.anyio
WITHIN_S = 30


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Watched:
    """A `LocalServer` and all that it logs."""

    def __init__(self, installed: Installed, logs: "Logs", port: int = 0, **settings: Any) -> None:
        values = {"python": str(installed.program), "config": str(installed.config), "stop_ms": 10_000, **settings}
        self.urls: list[str] = []
        self.logs = logs
        self.data_dir = installed.program.parent / "data"
        self.server = LocalServer(LocalSettings(**values), port or free_port(), self.data_dir, self.urls.append)

    async def until(self, event: str, count: int = 1) -> dict[str, Any]:
        """The ``count``-th line of this event."""
        with anyio.fail_after(WITHIN_S):
            while len(found := self.logs.of(event)) < count:
                await self.logs.next_line.wait()
        return found[count - 1]


class Logs:
    """What is logged, in place of structlog's output."""

    def __init__(self) -> None:
        self.lines: list[structlog.types.EventDict] = []
        self.next_line = anyio.Event()

    def __call__(self, _logger: object, _method: str, line: structlog.types.EventDict) -> structlog.types.EventDict:
        self.lines.append(line)
        self.next_line.set()
        self.next_line = anyio.Event()
        raise structlog.DropEvent

    def of(self, event: str) -> list[structlog.types.EventDict]:
        return [line for line in self.lines if line["event"] == event]


@pytest.fixture
def watched(installed: Installed) -> Iterator[Callable[..., Watched]]:
    before, logs = structlog.get_config(), Logs()
    structlog.reset_defaults()  # a sidecar that ran in this process before may have left a higher level
    structlog.configure(processors=[logs])
    yield lambda **settings: Watched(installed, logs, **settings)
    structlog.configure(**before)


async def ended(name: str) -> None:
    """Wait for the end of a process that is no child of ours."""
    with anyio.fail_after(WITHIN_S), processes.handle(name) as handle:
        if handle is not None:
            await anyio.wait_readable(handle)


@contextmanager
def listening() -> Iterator[int]:
    """Another program on a port."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@asynccontextmanager
async def left_over(installed: Installed, watched: Watched) -> AsyncIterator[int]:
    """A child whose sidecar is gone: it runs, and only the record tells of it."""
    process = await anyio.open_process([str(installed.program), "--host", "127.0.0.1", "--port", str(free_port())])
    try:
        watched.data_dir.mkdir(exist_ok=True)
        watched.server._write_down(process, "http://127.0.0.1:1")
        yield process.pid
    finally:
        if process.returncode is None:
            process.kill()
        await process.aclose()


def is_there(pid: int) -> bool:
    return processes.is_running(processes.name_of(pid))


async def test_up_its_log_is_passed_on_and_down_again(watched: Callable[..., Watched]) -> None:
    port = free_port()
    local = watched(port=port)
    async with local.server.running():
        ready = await local.until("openviking_ready")
        assert is_there(ready["pid"]) and ready["url"] == local.urls[0] == f"http://127.0.0.1:{port}"
        assert (await local.until("openviking_log"))["line"] == f"the stand-in was started on {port}"
        assert local.server.look()["local"] == "running"
    assert not is_there(ready["pid"])
    assert local.server.look()["local"].startswith("not running")


async def test_it_is_started_again_when_it_dies(watched: Callable[..., Watched]) -> None:
    local = watched()
    async with local.server.running():
        first = await local.until("openviking_ready")
        os.kill(first["pid"], signal.SIGKILL)
        assert (await local.until("openviking_ended"))["status"] == -signal.SIGKILL
        second = await local.until("openviking_ready", 2)
        assert second["pid"] != first["pid"]


async def test_the_next_port_when_another_program_has_the_configured_one(watched: Callable[..., Watched]) -> None:
    with listening() as taken:
        local = watched(port=taken)
        async with local.server.running():
            await local.until("openviking_ready")
            moved = await local.until("openviking_port_taken")
    assert moved["port"] == taken and local.urls == [f"http://127.0.0.1:{moved['instead']}"]


async def test_one_that_never_answers_is_stopped_and_tried_again(
    installed: Installed, watched: Callable[..., Watched]
) -> None:
    installed.behave(deaf=True)
    local = watched(start_ms=300)
    async with local.server.running():
        deaf = await local.until("openviking_does_not_answer")
        await local.until("openviking_ended")
        assert not is_there(deaf["pid"])
        assert (await local.until("openviking_started", 2))["pid"] != deaf["pid"]
    assert not local.logs.of("openviking_ready")


async def test_pauses_grow_while_it_can_not_start_and_end_when_it_can(
    installed: Installed, watched: Callable[..., Watched]
) -> None:
    installed.behave(exit=3)
    local = watched()
    async with local.server.running():
        pauses = [(await local.until("openviking_will_be_started", n))["in_s"] for n in (1, 2)]
        assert pauses == sorted(pauses) and pauses[0] < pauses[1]
        assert (await local.until("openviking_ended"))["status"] == 3
        installed.behave()
        await local.until("openviking_ready")


async def test_sigterm_is_not_waited_for_for_ever(installed: Installed, watched: Callable[..., Watched]) -> None:
    installed.behave(stubborn=True)
    local = watched(stop_ms=100)
    async with local.server.running():
        ready = await local.until("openviking_ready")
    assert not is_there(ready["pid"])


async def test_what_the_child_started_itself_ends_too(
    installed: Installed, watched: Callable[..., Watched], tmp_path: Path
) -> None:
    installed.behave(leaves=str(tmp_path / "grandchild"))
    local = watched()
    async with local.server.running():
        first = await local.until("openviking_ready")
        grandchild = processes.name_of(int((tmp_path / "grandchild").read_text()))
        assert processes.is_running(grandchild)
        os.kill(first["pid"], signal.SIGKILL)  # the grandchild still holds the pipe of the log
        await local.until("openviking_ready", 2)
        await ended(grandchild)


async def test_a_child_that_was_left_over_is_stopped_first(
    installed: Installed, watched: Callable[..., Watched]
) -> None:
    local = watched()
    async with left_over(installed, local) as orphan:
        async with local.server.running():
            ready = await local.until("openviking_ready")
            assert not is_there(orphan)
        assert len(local.logs.of("openviking_left_over")) == 1
        assert ready["pid"] != orphan


@pytest.mark.parametrize("what", ["number", "start", "nonsense"])
async def test_a_foreign_process_is_never_touched(
    installed: Installed, watched: Callable[..., Watched], what: str
) -> None:
    local = watched()
    async with left_over(installed, local) as foreign:
        name = processes.name_of(foreign)
        realm, pid, started = name.split("/")
        others = {"number": f"{realm}/{os.getppid()}/{started}", "start": f"{realm}/{pid}/1", "nonsense": "[]"}
        (local.data_dir / "openviking.json").write_text(f'{{"process": "{others[what]}", "url": "http://127.0.0.1:1"}}')
        async with local.server.running():
            await local.until("openviking_ready")
        assert is_there(foreign) and is_there(os.getppid())
        assert not local.logs.of("openviking_left_over")


async def test_stopping_by_name_ends_what_ignores_sigterm(
    installed: Installed, watched: Callable[..., Watched]
) -> None:
    installed.behave(stubborn=True)
    local = watched()
    async with local.server.running():
        ready = await local.until("openviking_ready")
        name = processes.name_of(ready["pid"])
        await child.stop_named(name, 0.1)
        assert processes.is_gone(name)
        await child.stop_named(name, 0.1)


async def test_two_sidecars_do_not_run_one_from_the_same_directory(watched: Callable[..., Watched]) -> None:
    local, second = watched(), watched()
    async with local.server.running():
        ready = await local.until("openviking_ready")
        with pytest.raises(CanNotStart, match="another sidecar"):
            async with second.server.running():
                raise AssertionError("it ran")
        assert is_there(ready["pid"])


def test_the_command_is_that_of_the_settings_or_of_the_path(
    installed: Installed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = str(installed.program)
    assert find_command(LocalSettings(python=program)) == [program]
    monkeypatch.setenv("PATH", str(installed.program.parent), prepend=os.pathsep)
    assert find_command(LocalSettings()) == [program]
    with_config = find_command(LocalSettings(config=str(installed.config)))
    assert with_config == [program, "--config", str(installed.config)]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"python": "/nowhere/python"}, "SIDECAR_LOCAL__PYTHON: there is no program /nowhere/python"),
        ({"python": "python3"}, "SIDECAR_LOCAL__PYTHON: OpenViking is not installed for "),
        ({"config": "/nowhere/ov.conf"}, "SIDECAR_LOCAL__CONFIG: there is no file /nowhere/ov.conf"),
        ({}, "no OpenViking was found on this machine"),
    ],
)
def test_what_is_missing_is_named(
    installed: Installed, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], said: str
) -> None:
    if "config" in settings:
        settings = {**settings, "python": str(installed.program)}
    if not settings:
        monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CanNotStart) as refused:
        find_command(LocalSettings(**settings))
    assert str(refused.value).startswith(said)


def test_the_child_gets_no_key_of_ours() -> None:
    kept = environment({"HOME": "/root", "SIDECAR_AUTH__TOKENS": "hush", "sidecar_openviking__api_key": "hush"})
    assert kept == {"HOME": "/root", "PYTHONUNBUFFERED": "1"}


def test_no_port_is_an_error_and_no_endless_search() -> None:
    with listening() as taken:
        assert next_free_port(taken) > taken
    with pytest.raises(OSError, match="no port"):
        next_free_port(65_536)
