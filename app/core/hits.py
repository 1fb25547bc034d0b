"""What a search finds, whichever backend searched."""

from dataclasses import dataclass

MACHINE_RECORDS = frozenset({"cases", "trajectories"})
"""Categories of what OpenViking's agent evolution learns experiences from: rubrics as JSON, and logs of steps."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result. ``text`` is the full body of a memory, the summary of a resource."""

    uri: str
    text: str
    score: float
    level: int = 2
    category: str = ""
    """``profile``, ``preferences``, ``events``, ``entities``, ``experiences``, ``cases``, ... or ``resource``."""
    peer: str | None = None
    """The peer that this memory belongs to; None for the user's own and for resources."""
    updated_at: str | None = None
