"""How a session began, as far as a summary must not lose it: what its first turns told, word for word."""

import re
from collections.abc import Iterable, Sequence

from app.core.capture.captured_message import CapturedMessage
from app.core.history.lines import Line, specifics_in
from app.core.history.notes import NotesOn, notes_on, spoken
from app.core.history.summary_message import cut_to_tokens
from app.core.messages.tokens import estimate_tokens

OPENING_CHARS = 3_000
"""How much of a session's beginning is kept word for word."""
OPENING_TURNS = 16
"""Of how many turns. Both bounds are reached early, so that what is kept soon stays the same (provider caches)."""
LEAST_SPECIFICS = 2
"""An assistant says much; a line of it is a fact worth a place when it names this many names, numbers or dates."""
_OPENING = "## How it began"
_SPEAKER = re.compile(r"^- (?:(?:user|assistant): )?")


def told_by(messages: Iterable[CapturedMessage], notes: NotesOn = notes_on) -> list[str]:
    """What ``messages`` tell that a summary of the session's beginning must not lose, a line each, in order.

    All that the user says but acknowledgements and requests without anything specific; of the assistant, what names
    names, numbers or dates.
    """
    told = [
        bullet(message, line)
        for message in messages
        for line in notes(message).lines(message)
        if line.specifics >= (LEAST_SPECIFICS if message.role == "assistant" else int(line.asks))
    ]
    return list(dict.fromkeys(told))


def told_in(turn: Sequence[CapturedMessage]) -> str:
    """What a turn tells, as much of it as an opening may take."""
    return "\n".join(told_by(turn))[:OPENING_CHARS]


def longer_opening(opening: tuple[str, ...], told: str) -> tuple[str, ...]:
    """What a session's first turns told, a text each, with that of its next turn (`told_in`); complete ones stay."""
    room = OPENING_CHARS - sum(map(len, opening))
    if len(opening) >= OPENING_TURNS or room <= 0:
        return opening
    return (*opening, cut_to_tokens(told[:room], room))


def opening_lines(told: Iterable[str], max_tokens: int, said: str = "") -> str:
    """The lines of a session's beginning that do not stand in ``said``, within ``max_tokens``; specific ones first."""
    lines = [line for line in dict.fromkeys(told) if content_of(line) not in said]
    order = sorted(range(len(lines)), key=lambda index: not specifics_in(lines[index]))
    kept: list[int] = []
    left = max_tokens - estimate_tokens(_OPENING) - 1
    for index in order:
        left -= estimate_tokens(lines[index]) + 1
        if left < 0:
            break
        kept.append(index)
    return "\n".join([_OPENING, *(lines[index] for index in sorted(kept))]) if kept else ""


def bullet(message: CapturedMessage, line: Line) -> str:
    """The line in a list, with who said it unless it was the user."""
    return spoken(message, line.text)


def content_of(line: str) -> str:
    """The line without its bullet, without who spoke, and without the mark that ends it."""
    return _SPEAKER.sub("", line, count=1).rstrip(".!?。！？")
