"""What must not hold up an answer: large messages are read in a thread, and the store is waited for with a limit."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from app.core.deadline import Deadline
from app.errors import StoreUnavailable

T = TypeVar("T")


async def read(work: Callable[[], T], *, large: bool, deadline: Deadline | None = None) -> T:
    """What ``work`` makes of messages, in a thread if they are large; `TimeoutError` when that is not done in time."""
    if not large:
        return work()
    return await asyncio.wait_for(asyncio.to_thread(work), deadline.remaining if deadline else None)


async def in_time(reading: Coroutine[Any, Any, T], deadline: Deadline) -> T:
    """What is read from the store; `StoreUnavailable` when that is late. The read itself ends later, unnoticed."""
    task = asyncio.ensure_future(reading)
    try:
        await asyncio.wait({task}, timeout=deadline.remaining)
        if task.done():
            return task.result()
    finally:
        if not task.done():
            task.add_done_callback(_let_go)
    raise StoreUnavailable("the turn store did not answer in time")


def _let_go(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled():
        task.exception()


def is_much(value: object, chars: int, *, per_value: int = 0) -> bool:
    """Whether JSON data holds more text than ``chars`` characters, names included, wherever it stands.

    Each value counts as ``per_value`` characters besides, for what reading one costs however short it is.
    """
    left = chars
    values: list[object] = [value]
    while values:
        one = values.pop()
        left -= per_value
        if isinstance(one, str):
            left -= len(one)
        elif isinstance(one, dict):
            left -= sum(map(len, one))
            values += one.values()
        elif isinstance(one, list | tuple):
            values += one
        if left < 0:
            return True
    return False
