"""Reading large messages in a thread: milliseconds here would be milliseconds of everybody else's answers."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from app.core.deadline import Deadline
from app.core.messages import Message, blocks_of

AT_ONCE_CHARS = 200_000
AT_ONCE_MESSAGES = 500
"""What is not larger is read faster than a thread is woken."""

T = TypeVar("T")


async def read(work: Callable[[], T], *, large: bool, deadline: Deadline | None = None) -> T:
    """What ``work`` makes of messages, in a thread if they are large; `TimeoutError` when that is not done in time."""
    if not large:
        return work()
    return await asyncio.wait_for(asyncio.to_thread(work), deadline.remaining if deadline else None)


def are_large(messages: Sequence[Message], prompt: str | None = None) -> bool:
    """Whether reading the messages takes long enough for others to notice."""
    if len(messages) > AT_ONCE_MESSAGES or len(prompt or "") > AT_ONCE_CHARS:
        return True
    blocks = (block for message in messages for block in blocks_of(message))
    return sum(len(text) for block in blocks for text in block.values() if isinstance(text, str)) > AT_ONCE_CHARS
