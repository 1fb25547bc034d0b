"""What the model sees anyway, read off the host's live messages: earlier recalls, and what was said.

No state to keep or to lose.
"""

import re
from collections.abc import Iterator, Sequence

from app.core import fence
from app.core.messages import Message, Role, role_of, text_of, tool_results
from app.core.summary import is_summary

MAX_SAID_CHARS = 64 * 1024
"""How much of the live messages is compared, newest first, in characters without white space."""
MIN_LINE_CHARS = 12
"""Shorter lines prove nothing: "ok" stands in every conversation."""

_LABEL = re.compile(r"[-*\s]{0,8}(?:\d{4}-\d{2}-\d{2}\s)?(?:(?:user|assistant):\s)?")
"""What a memory puts in front of words: a bullet, the date, who spoke."""


def said_before(messages: Sequence[Message]) -> str:
    """The words of the live messages before the latest one, newest first, without white space."""
    pieces: list[str] = []
    room = MAX_SAID_CHARS
    for message in reversed(messages[:-1]):
        if room <= 0:
            break
        if is_summary(message):  # it sums up, and what it sums up may be wanted word for word
            continue
        pieces.append(_squeezed(fence.strip_blocks(text_of(message)))[:room])
        room -= len(pieces[-1])
    return "\n".join(pieces)


def is_said(memory: str, said: str) -> bool:
    """Whether every line of ``memory`` that is long enough to tell stands in ``said`` (`said_before`)."""
    lines = [_squeezed(line[len(found[0]) :] if (found := _LABEL.match(line)) else line) for line in memory.split("\n")]
    telling = [line for line in lines if len(line) >= MIN_LINE_CHARS]
    return bool(telling) and all(line in said for line in telling)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def shown_items(messages: Sequence[Message], turns: int) -> frozenset[str]:
    """The memory items, as they were rendered, in blocks of the last ``turns`` user turns before the latest message.

    A block may stand in a user message or in the result of a simulated call.
    """
    return frozenset(
        item for text in _texts(messages[:-1], turns) if fence.MEMORIES_HEADING in text for item in _items(text)
    )


def _texts(messages: Sequence[Message], turns: int) -> Iterator[str]:
    left = turns
    for message in reversed(messages):
        if left <= 0:
            return
        role = role_of(message)
        if role is Role.USER:
            left -= 1
            yield text_of(message)
        elif role is Role.TOOL:
            yield from (result.text for result in tool_results(message))


def _items(text: str) -> Iterator[str]:
    """The items of every memory section: a line ``- [...``, with the lines below it that are indented or empty."""
    _, *sections = text.split(f"{fence.MEMORIES_INTRO}\n")
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
