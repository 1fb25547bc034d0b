"""One child process: tied to this one, its log passed on, stopped for certain."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT

import anyio
import structlog
from anyio.abc import Process

from app.local import processes
from app.local.command import environment

MAX_LINE_CHARS = 8_192
"""A longer line of the child's log is passed on in pieces."""
KILLED_S = 10.0
"""Longest wait for the end of a process that was killed; only a stuck disk takes so long."""
DRAIN_S = 1.0
"""How long the log of a child that ended is still read."""
_TETHER = Path(__file__).with_name("tether.py")

log = structlog.get_logger("openviking")


@asynccontextmanager
async def started(command: Sequence[str], *, stop_s: float) -> AsyncIterator[Process]:
    """``command`` as a child that dies with this process; it is stopped when the block ends.

    It leads a session of its own, so that Ctrl-C in the terminal is ours to hand on, once all turns are safe.
    """
    tied = [sys.executable, "-I", "-S", str(_TETHER), str(os.getpid()), *command]
    process = await anyio.open_process(
        tied, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, env=environment(os.environ), start_new_session=True
    )
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as last_words:  # a full pipe would keep it from ending
                last_words.start_soon(pass_log_on, process)
                await stop(process, stop_s)
                last_words.cancel_scope.deadline = anyio.current_time() + DRAIN_S
            await process.aclose()


async def stop(process: Process, patience_s: float) -> None:
    """SIGTERM, and SIGKILL when it has not ended within ``patience_s``; also for what it started itself."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.terminate()
        with anyio.move_on_after(patience_s):
            await process.wait()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def stop_named(name: str, patience_s: float) -> None:
    """Likewise for what is no child of ours, named as in `app.local.processes`; nothing when it does not run."""
    with processes.handle(name) as handle:
        if handle is None:
            return
        for signum, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, KILLED_S)):
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signum)
            with anyio.move_on_after(wait_s):
                await anyio.wait_readable(handle)
                return


async def pass_log_on(process: Process) -> None:
    """Each line that the child writes as a line of our log, until it closes its output."""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    rest = b""
    try:
        async for chunk in process.stdout:
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                _say(line)
            if len(rest) > MAX_LINE_CHARS:
                _say(rest)
                rest = b""
    finally:
        _say(rest)


def _say(line: bytes) -> None:
    text = line.decode("utf-8", "replace").strip()
    for start in range(0, len(text), MAX_LINE_CHARS):
        log.info("openviking_log", line=text[start : start + MAX_LINE_CHARS])
