"""The serving process' side: a few child processes, started when they are needed and stopped when they are not."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import structlog

from app.core.deadline import Deadline
from app.observe.context import noted
from app.offload.link import Bytes, Link
from app.settings import Settings

log = structlog.get_logger(__name__)

IDLE_S = 600.0
"""How long a child without work is kept: the next large request need not wait for it to start."""
RETIRE_BYTES = 8 * 1024 * 1024
"""A child that has parsed this much holds memory that it never gives back, so it is replaced."""
_CALLS = frozenset(
    {
        ("audit", "wrote"),
        ("backend", "history"),
        ("backend", "archived_messages"),
        ("searches", "find"),
        ("store", "local_history"),
        ("store", "seen_fingerprints"),
        ("store", "recorded"),
        ("store", "noted"),
        ("store", "window"),
        ("store", "note_window"),
        ("store", "begin_flush"),
        ("store", "noted_request"),
        ("store", "keep_outputs"),
        ("store", "undelivered"),
        ("store", "accept_prepared"),
    }
)
"""What a child may call here."""


class ChildFailed(RuntimeError):
    """The child process ended before its answer: it was killed, or its memory did not suffice."""


class _Child:
    """One process and the link to it."""

    def __init__(self, process: "subprocess.Popen[bytes]", link: Link) -> None:
        self._process = process
        self._link = link
        self.retired = False

    @classmethod
    async def start(cls, settings: Settings) -> "_Child":
        ours, theirs = socket.socketpair()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with theirs:
            link = await Link.over(ours)  # before there is a process: who is cancelled here leaves none behind
            command = [sys.executable, "-m", "app.offload.runner", str(theirs.fileno())]
            process = subprocess.Popen(  # noqa: S603, ASYNC220 - our own program; it is over in a millisecond
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=environment
            )
        child = cls(process, link)
        try:
            await child._link.send(settings)
            await child._link.receive()
        except EOFError as error:
            child.kill()
            raise ChildFailed("the process for large requests did not start") from error
        except BaseException:
            child.kill()
            raise
        return child

    @property
    def lives(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    async def run(self, ports: Mapping[str, Any], name: str, *arguments: Any) -> tuple[str, Any]:
        """``done`` and the job's result, or ``failed`` and its error. The job's calls run here, side by side.

        Raises `ChildFailed` when there is neither.
        """
        calls: set[asyncio.Task[None]] = set()
        try:
            await self._link.send("job", name, noted(), *arguments)
            while True:
                kind, *rest = await self._link.receive()
                if kind != "call":
                    return kind, rest[0]
                call = asyncio.create_task(self._answer(ports, *rest))
                calls.add(call)
                call.add_done_callback(calls.discard)
        except (EOFError, ConnectionError) as error:
            raise ChildFailed("the process that handled a large request ended") from error
        finally:
            for call in calls:
                call.cancel()

    async def _answer(
        self,
        ports: Mapping[str, Any],
        number: int,
        port: str,
        method: str,
        arguments: tuple[Any, ...],
        named: dict[str, Any],
    ) -> None:
        value, failure = None, None
        try:
            if (port, method) not in _CALLS:
                raise PermissionError(f"a child may not call {port}.{method}")
            value = await getattr(ports[port], method)(*arguments, **named)
        except Exception as error:
            failure = error
        await self._link.send("reply", number, value, failure)

    def kill(self) -> None:
        """End the process at once; whatever it was doing is of no use any more."""
        self.retired = True
        self._process.kill()
        self._link.close()
        # The system takes its time to give back a gigabyte.
        threading.Thread(target=self._process.wait, daemon=True).start()


class OffloadPool:
    """Runs the jobs of `app.offload.jobs`, at most ``limit`` at once; others wait their turn.

    ``ports`` are what a job may call: audit, backend, searches and store.
    """

    def __init__(self, settings: Settings, ports: Mapping[str, Any], *, limit: int | None = None) -> None:
        self._settings = settings
        self._ports = ports
        self._turn = asyncio.Semaphore(limit or max(1, os.cpu_count() or 1))
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._reaper: asyncio.TimerHandle | None = None
        self._warming: asyncio.Task[None] | None = None

    async def run(
        self, name: str, raw: Sequence[bytes | memoryview], *arguments: Any, deadline: Deadline | None = None
    ) -> Any:
        """The result of the job ``name`` over the messages in ``raw``: JSON in pieces, for it may be large.

        Raises `TimeoutError` at the deadline (the child is killed then), `ChildFailed`, and what the job raises.
        """
        async with asyncio.timeout(deadline.remaining if deadline else None), self._turn, self._child() as child:
            child.retired = sum(map(len, raw)) > RETIRE_BYTES
            kind, value = await child.run(self._ports, name, tuple(map(Bytes, raw)), *arguments)
        if kind == "failed":
            raise value
        return value

    def warm(self) -> None:
        """Have a child ready soon, if there is none: a large request is to be expected."""
        if not self._all and self._warming is None:
            self._warming = asyncio.create_task(self._warm())

    async def _warm(self) -> None:
        try:
            async with self._turn, self._child():
                pass
        except (ChildFailed, OSError) as error:
            log.warning("child_not_started", error=str(error))
        finally:
            self._warming = None

    async def aclose(self) -> None:
        """Stop every child."""
        if self._warming:
            self._warming.cancel()
            await asyncio.wait({self._warming})
        if self._reaper:
            self._reaper.cancel()
        for child in list(self._all):
            self._stop(child)

    @asynccontextmanager
    async def _child(self) -> AsyncIterator[_Child]:
        child = self._rested() or await self._started()
        try:
            yield child
        except BaseException:
            self._stop(child)
            raise
        if child.retired:
            self._stop(child)
            return
        self._idle.append(child)
        if self._reaper:
            self._reaper.cancel()
        self._reaper = asyncio.get_running_loop().call_later(IDLE_S, self._reap)

    def _rested(self) -> _Child | None:
        """An idle child; those that were killed meanwhile, for their memory say, are left behind."""
        while self._idle:
            child = self._idle.pop()
            if child.lives:
                return child
            self._stop(child)
        return None

    async def _started(self) -> _Child:
        child = await _Child.start(self._settings)
        self._all.add(child)
        log.info("child_started", children=len(self._all))
        return child

    def _reap(self) -> None:
        while self._idle:
            self._stop(self._idle.pop())

    def _stop(self, child: _Child) -> None:
        self._all.discard(child)
        child.kill()
