"""Why a recall came out as it did, as plain data: what `GET /recalls/{traceId}` and the response's ``recall`` show.

A trace holds no message text: names, numbers and reasons only. Query and memory text are in it when a setting says so;
`app.recall.explain` finds them where they are kept anyway.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from app.core.history.guards.cuts import GuardNote
from app.core.json.answers import answer

MAX_TRACED_CANDIDATES = 200
"""Candidates kept in one trace, best first; with a limit of 1,000 a recall has thousands."""


class Verdict(StrEnum):
    """What became of a candidate. The first rule that speaks against it names it."""

    KEPT = "kept"
    NOT_LEAF = "not_leaf"
    EMPTY = "empty"
    OTHER_PEER = "other_peer"
    IMPORTED = "imported"
    IS_EXPERIENCE = "is_experience"
    NOT_EXPERIENCE = "not_experience"
    MACHINE_RECORD = "machine_record"
    SAME_URI = "same_uri"
    SAME_TEXT = "same_text"
    SUPERSEDED = "superseded"
    BELOW_THRESHOLD = "below_threshold"
    BELOW_CUT = "below_cut"
    RESTING = "resting"
    SAID = "said"
    OVER_LIMIT = "over_limit"
    OVER_BUDGET = "over_budget"

    @property
    def meaning(self) -> str:
        """The verdict in words, for people."""
        return _MEANINGS[self]


_MEANINGS = {
    Verdict.KEPT: "injected",
    Verdict.NOT_LEAF: "a directory summary, not a memory",
    Verdict.EMPTY: "has no text",
    Verdict.OTHER_PEER: "belongs to another peer",
    Verdict.IMPORTED: "imported content, which a setting keeps out",
    Verdict.IS_EXPERIENCE: "an experience, which has its own section",
    Verdict.NOT_EXPERIENCE: "not an experience",
    Verdict.MACHINE_RECORD: "a record that the backend learns from, not meant to be read",
    Verdict.SAME_URI: "the same memory again",
    Verdict.SAME_TEXT: "says the same as a better one",
    Verdict.SUPERSEDED: "a later statement replaces it",
    Verdict.BELOW_THRESHOLD: "scores below the threshold",
    Verdict.BELOW_CUT: "too far behind the best",
    Verdict.SAID: "stands in the conversation that the model sees anyway",
    Verdict.RESTING: "shown in the last turns and still visible",
    Verdict.OVER_LIMIT: "enough others are better",
    Verdict.OVER_BUDGET: "does not fit in the space left",
}


@answer
@dataclass(frozen=True, slots=True)
class Gate:
    """What the experience gate decided: ``score`` is the probability of a task."""

    recall: bool = False
    trigger: str | None = None
    score: float = 0
    reason: str = ""


@answer
@dataclass(frozen=True, slots=True)
class GateTrace(Gate):
    """The decision, and what its score is made of."""

    parts: tuple[tuple[str, float], ...] = ()
    """Each reason with its points."""


@answer
@dataclass(frozen=True, slots=True)
class SearchTrace:
    """One search."""

    target: str
    how: str
    """`fresh`, `cached`, `joined`, `stale`, or the reason code of its failure."""
    hits: int
    ms: float
    """As long as the recall waited for it."""


@answer
@dataclass(slots=True)  # not frozen: each of many would take four times as long to make
class CandidateTrace:
    """One hit: where it came from, what its score is made of, and why it stayed or went."""

    uri: str
    section: str
    category: str
    origin: str
    """`self`, `peer` or `resource`."""
    score: float
    parts: Mapping[str, float]
    """The backend's score; each signal in log-odds; freshness as a factor. What is zero is left out."""
    verdict: Verdict
    chars: int
    text: str | None = None
    """Only when `SIDECAR_TRACE__TEXTS` is on."""
    replaced_by: str = ""
    """For `superseded`: URI of the candidate whose later statement takes its place."""


@answer
@dataclass(frozen=True, slots=True)
class CutTrace:
    """The scores that a candidate of a section had to reach."""

    section: str
    threshold: float
    relative: float
    """The share of the best score, as a score; 0 where that cut is off."""
    detail: str = ""
    """How much of each item is shown: `abstract`, `overview` or `full`; empty where the section knows no levels."""


@answer
@dataclass(frozen=True, slots=True)
class RecallTrace:
    """The whole story of one recall; times are milliseconds."""

    trace_id: str
    at: str
    """ISO 8601 in UTC."""
    account_key: str
    session: str
    agent: str
    reason: str
    query_chars: int
    inject: str
    gate: GateTrace = field(default_factory=GateTrace)
    searches: tuple[SearchTrace, ...] = ()
    cuts: tuple[CutTrace, ...] = ()
    candidates: tuple[CandidateTrace, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    block_chars: int = 0
    only: str = ""
    """Which memories a filter of categories and times admitted, in words; empty for any."""
    query: str | None = None
    """Only when `SIDECAR_TRACE__TEXTS` is on."""
    session_key: str | None = None
    """What the host calls the session, where it says so; ``session`` is the backend's name for it."""
    guards: tuple[GuardNote, ...] = ()
    """What was cut of the prompt; see the answer's ``guards``."""
    turns: tuple[int, ...] = (0,)
    """The user messages that the query is made of, counted back from the latest one, which is 0."""
    asked: str = ""
    """Fingerprint of the message that was asked about: tells which stored message it was, and nothing of its text."""

    @property
    def kept(self) -> int:
        """How many items were injected."""
        return sum(candidate.verdict is Verdict.KEPT for candidate in self.candidates)


class TraceSink(Protocol):
    """Takes traces to be kept; never blocks."""

    def record(self, make: Callable[[], RecallTrace]) -> None:
        """Make the trace and keep it, later."""
