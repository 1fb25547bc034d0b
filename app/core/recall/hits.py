"""What a search finds, whichever backend searched."""

from dataclasses import dataclass
from typing import NamedTuple

MACHINE_RECORDS = frozenset({"cases", "trajectories"})
"""Categories of what OpenViking's agent evolution learns experiences from: rubrics as JSON, and logs of steps."""


class Calibration(NamedTuple):
    """What a cosine with one question means, where that was learnt: log-odds that the text answers, rather than that
    nothing stored does."""

    scale: float
    offset: float

    def odds(self, cosine: float) -> float:
        """The log-odds for a text of this ``cosine``."""
        return self.scale * cosine - self.offset


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a backend that knows its whole index can say about one hit, beside a score. None where it does not know.

    None of it depends on the scale of an embedder once it is set against ``background``.
    """

    similarity: float | None = None
    """Cosine of the query and the piece that was found, -1 to 1."""
    background: tuple[float, float] | None = None
    """Mean and standard deviation of the cosines between this query and all of the tenant's pieces that may be seen."""
    words: float | None = None
    """Share, 0 to 1, of the query's content words that stand in the hit. Each word counts by its rarity: the inverse
    document frequency over the tenant's own pieces."""
    odds: float | None = None
    """Log-odds that the hit answers the query rather than nothing stored does, by its similarity (`Calibration`)."""
    pieces: int | None = None
    """How many pieces of text the search looked among: all that is stored for the tenant."""
    vector: bytes | None = None
    """The vector of all of the hit, 32-bit floats of unit length; None for what holds several pieces, or is long."""


class Hit(NamedTuple):
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
    evidence: Evidence | None = None
    """From a backend that knows more than a score; None from one that gives a score alone."""
    whole: str | None = None
    """All of what ``text`` is a passage of, from a backend that was opened to give it."""
    masked_uri: str | None = None
    """The URI as it may be shown, where the policy hides a part of it. What is shown alike is not the same."""

    @property
    def shown_uri(self) -> str:
        """The URI for everybody who reads it; ``uri`` tells hits apart."""
        return self.masked_uri or self.uri
