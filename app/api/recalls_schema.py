"""The answers of `GET /recalls` and `GET /recalls/{traceId}` for the OpenAPI document; see `core.recall.trace`."""

from pydantic import Field

from app.api.schemas import Wire


class RecallLine(Wire):
    """One recall in the list."""

    trace_id: str
    at: str = Field(description="ISO 8601 in UTC.")
    session: str
    session_key: str | None = Field(description="What the host calls the session, where it says so.")
    agent: str
    reason: str
    inject: str
    kept: int = Field(description="Items that were injected.")
    candidates: int
    experiences: bool = Field(description="Whether experiences were looked up.")
    total_ms: float
    degraded: list[str]


class RecallList(Wire):
    """A page of recalls, newest first."""

    recalls: list[RecallLine]
    next_cursor: str | None = Field(description="Give it as `cursor` for the next page; null on the last one.")


class RecallGate(Wire):
    """The experience gate."""

    recall: bool
    trigger: str | None
    score: float
    reason: str
    parts: list[tuple[str, float]] = Field(description="Each reason with its points.")


class RecallSearch(Wire):
    """One search."""

    target: str
    how: str = Field(description="`fresh`, `cached`, `joined`, `stale`, or the reason code of its failure.")
    hits: int
    ms: float


class RecallCut(Wire):
    """What a candidate of a section had to reach."""

    section: str
    threshold: float
    relative: float


class RecallCandidate(Wire):
    """One hit and what became of it."""

    uri: str
    section: str
    category: str
    origin: str = Field(description="`self`, `peer` or `resource`.")
    score: float
    parts: dict[str, float] = Field(description="The backend's score; each signal in log-odds; freshness as a factor.")
    verdict: str
    chars: int
    text: str | None = Field(description="Only when `SIDECAR_TRACE__TEXTS` is on.")


class RecallDetail(Wire):
    """The whole story of one recall."""

    trace_id: str
    at: str
    account_key: str
    session: str
    agent: str
    reason: str
    query_chars: int
    inject: str
    gate: RecallGate
    searches: list[RecallSearch]
    cuts: list[RecallCut]
    candidates: list[RecallCandidate]
    timings_ms: dict[str, float]
    degraded: list[str]
    block_chars: int
    query: str | None = Field(description="Only when `SIDECAR_TRACE__TEXTS` is on.")
    session_key: str | None = Field(description="What the host calls the session, where it says so.")
    asked: str = Field(description="Fingerprint of the message that was asked about.")
