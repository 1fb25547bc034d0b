"""What the model sees anyway, read off the host's live messages: earlier recalls, and what was said.

No state to keep or to lose.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from app.core.history.summary_message import is_summary
from app.core.messages.host_message import Messages, Role
from app.recall.block import Section

MAX_SAID_CHARS = 64 * 1024
"""How much of the live messages is compared, newest first, in characters without white space."""
MIN_LINE_CHARS = 12
"""Shorter lines prove nothing: "ok" stands in every conversation."""

MAX_REMEMBERED_CHARS = 2_000
"""Longest memory whose lines are kept for the next time it comes up."""

_LABEL = re.compile(r"[-*\s]{0,8}(?:\d{4}-\d{2}-\d{2}\s)?(?:(?:user|assistant):\s)?")
"""What a memory puts in front of words: a bullet, the date, who spoke."""


def said_before(messages: Messages) -> str:
    """What the live messages before the latest one say, newest first, without white space and injected blocks.

    Nothing of a summary: it sums up, and what it sums up may be wanted word for word.
    """
    pieces: list[str] = []
    room = MAX_SAID_CHARS
    for message in reversed(messages[:-1]):
        if message.role is Role.USER and is_summary(message):
            continue
        text = message.unspaced
        room -= len(text)
        if room <= 0:
            pieces.append(text[:room] if room else text)
            break
        pieces.append(text)
    return "\n".join(pieces)


def is_said(memory: str, said: str) -> bool:
    """Whether every line of ``memory`` that is long enough to tell stands in ``said`` (`said_before`)."""
    telling = _telling(memory) if len(memory) <= MAX_REMEMBERED_CHARS else _telling.__wrapped__(memory)
    return bool(telling) and all(line in said for line in telling)


@lru_cache(maxsize=2048)
def _telling(memory: str) -> list[str]:
    unlabelled = [line[len(found[0]) :] if (found := _LABEL.match(line)) else line for line in memory.split("\n")]
    lines = ["".join(line.split()) for line in unlabelled]
    return [line for line in lines if len(line) >= MIN_LINE_CHARS]


def shown_items(messages: Messages, turns: int, section: Section) -> frozenset[str]:
    """The items of a section, as they were rendered, in the last ``turns`` user turns before the latest message.

    Each begins with ``- [``. A block may stand in a user message or in the result of a simulated call.
    """
    if turns <= 0:
        return frozenset()
    heading, last = section.frame[0], section.frame[-1]
    return frozenset(
        item for text in _texts(messages[:-1], turns) if heading in text for item in _items(text, f"{last}\n")
    )


def _texts(messages: Messages, turns: int) -> Iterator[str]:
    left = turns
    for message in reversed(messages):
        if left <= 0:
            return
        if message.role is Role.USER:
            left -= 1
            yield message.text
        elif message.role is Role.TOOL:
            yield from (result.text for result in message.results)


def _items(text: str, frame_end: str) -> Iterator[str]:
    """The items behind every ``frame_end``: a line ``- [...``, with the lines below it that are indented or empty."""
    _, *sections = text.split(frame_end)
    for section in sections:
        item: list[str] = []
        for line in section.split("\n"):
            if item and (line.startswith("  ") or not line):
                item.append(line)
                continue
            if item:
                yield "\n".join(item).rstrip("\n")
            if not line.startswith("- ["):
                break
            item = [line]
        else:
            yield "\n".join(item).rstrip("\n")
