"""What the memory tools have in common: whose memories a caller sees, and how one is shown on a line."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from app.core.injection.fence import neutralise_line
from app.core.memories.memory import Memory
from app.core.reasons import Reason
from app.text.dates import iso, moment_of
from app.tools.tool import Caller, Mistake, quoted

MAX_LINE_CHARS = 1_000
"""Of a memory on a line; `ov_ls` with its URI shows all of it."""
MAX_CATEGORY_CHARS = 40
_DAY_CHARS = len("2026-01-01")


def peers_seen_by(caller: Caller) -> frozenset[str]:
    """The peers whose memories the caller sees beside the user's own.

    Raises `Mistake` where peers are people and nobody knows who speaks: any memory could be another person's.
    """
    if caller.who.lacks_sender:
        text = "It is not known who is speaking, so nobody's memories are shown or changed. Go on without them."
        raise Mistake(text, Reason.MISSING_SENDER)
    return frozenset({caller.who.actor_peer} if caller.who.actor_peer else ())


def lines_of(memories: Iterable[Memory]) -> str:
    """A line a memory, as data: id, day, category, text."""
    return quoted("\n".join(map(line_of, memories)))


def line_of(memory: Memory) -> str:
    """``- [id] day, category: text``."""
    text = neutralise_line(memory.text)
    shown = text if len(text) <= MAX_LINE_CHARS else f"{text[:MAX_LINE_CHARS]} ..."
    return f"- [{memory.id}] {memory.created_at[:_DAY_CHARS]}, {category_of(memory)}: {shown}"


def category_of(memory: Memory) -> str:
    """The category as it may stand on a line."""
    return neutralise_line(memory.category[:MAX_CATEGORY_CHARS])


def details_of(memory: Memory, score: float | None = None) -> dict[str, Any]:
    """A memory for programs; its text is in the answer's text."""
    scored = {} if score is None else {"score": round(score, 4)}
    return {
        "id": memory.id,
        "uri": memory.uri,
        "category": memory.category,
        "createdAt": memory.created_at,
        **scored,
    }


def moment(name: str, text: str | None, *, ends: bool = False) -> str | None:
    """An argument's date or time as memories are dated; ``ends``: a day means its end. Raises `Mistake`."""
    if text is None:
        return None
    found = moment_of(text)
    try:
        if found is not None and ends and len(text.strip()) == _DAY_CHARS:
            found += timedelta(days=1, milliseconds=-1)
        if found is not None:
            return iso(found)
    except OverflowError:
        pass
    problem = f"{name} is no date. Write it as 2026-03-04 or 2026-03-04T10:00:00Z."
    raise Mistake(problem, Reason.INVALID_ARGUMENTS)
