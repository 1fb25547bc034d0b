"""The other process: ``python -m app.offload.runner <socket descriptor>``. It ends when its parent does."""

import asyncio
import gc
import os
import pickle
import select
import socket
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from itertools import count
from typing import Any

from app.engine.policy.names import shown_path
from app.observe.context import go_on_with
from app.observe.logging import configure_logging
from app.offload.link import Link

NICE = 5
"""The serving process goes first where both want the same processor."""


class _Caller:
    """Calls into the serving process that wait for their replies."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    async def call(self, port: str, method: str, *arguments: Any, **named: Any) -> Any:
        number = next(self._numbers)
        reply = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._link.send("call", number, port, method, arguments, named)
            return await reply
        finally:
            del self._waiting[number]

    def replied(self, number: int, value: Any, error: BaseException | None) -> None:
        reply = self._waiting.get(number)
        if reply is None or reply.done():
            return
        if error is not None:
            reply.set_exception(error)
        else:
            reply.set_result(value)


async def serve(end: socket.socket) -> None:
    """Run one job after the other until the other end is gone."""
    from app.offload import jobs as work  # most of what is loaded; see `main`

    link = await Link.over(end)
    [settings] = await link.receive()
    configure_logging(settings.log_level, partial(shown_path, settings.policy.policy().text))
    caller = _Caller(link)
    jobs: set[asyncio.Task[None]] = set()
    await link.send("ready")
    try:
        while True:
            kind, *rest = await link.receive()
            if kind == "job":
                job = asyncio.create_task(_run(link, work.JOBS, work.Ports(caller.call), settings, *rest))
                jobs.add(job)
                job.add_done_callback(jobs.discard)
            else:
                caller.replied(*rest)
    except EOFError:
        link.close()


async def _run(
    link: Link,
    jobs: Mapping[str, Callable[..., Awaitable[Any]]],
    ports: Any,
    settings: Any,
    name: str,
    context: dict[str, Any],
    *arguments: Any,
) -> None:
    go_on_with(context)
    try:
        value = await jobs[name](ports, settings, *arguments)
    except Exception as error:
        await link.send("failed", _portable(error))
    else:
        await link.send("done", value)
        del value
    gc.collect()


def _portable(error: Exception) -> Exception:
    """The error, if it can be sent; a bug's is told by name and place."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - what was just made here
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


def end_with_parent(end: int) -> None:
    """End this process as soon as the other end of the link is closed, whatever other threads are doing."""
    hung_up = select.poll()
    hung_up.register(end, 0)
    hung_up.poll()
    os._exit(1)


def main() -> None:
    """Run the process."""
    gc.disable()  # what is loaded stays, and one job's objects are all alive until it ends
    os.nice(NICE)
    end = socket.socket(fileno=int(sys.argv[1]))
    # A job that computes would keep the loop from noticing, and a thread of a job the process from ending.
    threading.Thread(target=end_with_parent, args=(end.fileno(),), daemon=True).start()
    asyncio.run(serve(end))


if __name__ == "__main__":
    main()
