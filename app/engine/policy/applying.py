"""The policy over all texts of one call: where they are many or long it is applied in a thread, for others wait."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.engine import bounded_waits
from app.policy.policy import Policy

AT_ONCE_CHARS = 20_000
"""Text that is not longer is read faster than a thread is woken and others notice."""
TEXT_CHARS = 100
"""What one text costs besides, however short: as much as so many characters of a long one."""

T = TypeVar("T")


async def under(policy: Policy, work: Callable[[], T], *texts: object) -> T:
    """What ``work`` makes of ``texts`` (JSON data) under the policy."""
    return await bounded_waits.read(work, large=bool(policy.guards) and is_long(texts))


def is_long(texts: object) -> bool:
    """Whether applying a policy to JSON data takes long enough for others to notice."""
    return bounded_waits.is_much(texts, AT_ONCE_CHARS, per_value=TEXT_CHARS)


def texts_of(messages: Iterable[CapturedMessage]) -> list[object]:
    """What of stored messages is under the policy, as JSON data."""
    return [
        part.text if isinstance(part, TextPart) else [part.input, part.output]
        for message in messages
        for part in message.parts
    ]
