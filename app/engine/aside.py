"""Reading large messages in a thread: milliseconds here would be milliseconds of everybody else's answers."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from app.core.deadline import Deadline
from app.core.messages import Message

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
    left = AT_ONCE_CHARS
    for message in messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else (content,):
            if isinstance(part, str):
                left -= len(part)
            elif isinstance(part, dict):
                left -= sum([len(text) for text in part.values() if isinstance(text, str)])
        if left < 0:
            return True
    return False
