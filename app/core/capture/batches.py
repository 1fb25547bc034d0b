"""Cutting a turn into batches that a backend takes in one call.

OpenViking takes at most 100 messages, 16 Mi characters and 100,000 values (parts, keys, list items) in one request, and
refuses the whole request beyond that (observed on 0.5.2). The limits here leave room below those.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart

MAX_MESSAGES = 100
MAX_CHARS = 12 * 1024 * 1024
MAX_VALUES = 50_000


def batches(messages: Iterable[CapturedMessage]) -> Iterator[tuple[CapturedMessage, ...]]:
    """``messages`` in order, in as few groups as the limits allow; one that is over a limit by itself is a group.

    Each is made when it is asked for: half a million messages take a second.
    """
    current: list[CapturedMessage] = []
    chars = values = 0
    for message in messages:
        more_chars, more_values = weight(message)
        full = len(current) == MAX_MESSAGES or chars + more_chars > MAX_CHARS or values + more_values > MAX_VALUES
        if current and full:
            yield tuple(current)
            current, chars, values = [], 0, 0
        current.append(message)
        chars, values = chars + more_chars, values + more_values
    if current:
        yield tuple(current)


def weight(message: CapturedMessage) -> tuple[int, int]:
    """Characters and values of a message."""
    chars = values = 0
    for part in message.parts:
        match part:
            case TextPart(text):
                chars, values = chars + len(text), values + 1
            case ToolPart():
                inside = extent(part.input)
                chars += len(part.name) + len(part.id) + len(part.output or "") + inside[0]
                values += 1 + inside[1]
    return chars, values


def extent(value: Any) -> tuple[int, int, int]:
    """Characters in all strings and keys of a JSON value, the number of values in it, and how deeply they nest."""
    chars = values = deepest = 0
    pending = [(value, 1)]
    while pending:
        item, depth = pending.pop()
        values += 1
        deepest = max(deepest, depth)
        if isinstance(item, str):
            chars += len(item)
        elif isinstance(item, Mapping):
            chars += sum(len(key) for key in item if isinstance(key, str))
            pending += [(child, depth + 1) for child in item.values()]
        elif isinstance(item, (list, tuple)):
            pending += [(child, depth + 1) for child in item]
    return chars, values, deepest
