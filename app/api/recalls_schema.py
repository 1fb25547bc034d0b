"""The answer of `GET /recalls`: a line for each recall; `GET /recalls/{traceId}` answers with the trace itself."""

from pydantic import Field

from app.api.schemas import Wire
from app.core.recall.trace import RecallTrace


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

    @classmethod
    def of(cls, trace: RecallTrace) -> "RecallLine":
        """The line of a trace."""
        return cls(
            trace_id=trace.trace_id,
            at=trace.at,
            session=trace.session,
            session_key=trace.session_key,
            agent=trace.agent,
            reason=trace.reason,
            inject=trace.inject,
            kept=trace.kept,
            candidates=len(trace.candidates),
            experiences=trace.gate.recall,
            total_ms=trace.timings_ms.get("total", 0.0),
            degraded=list(trace.degraded),
        )


class RecallList(Wire):
    """A page of recalls, newest first."""

    recalls: list[RecallLine]
    next_cursor: str | None = Field(description="Give it as `cursor` for the next page; null on the last one.")
