"""Bodies of `/after-turn`."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas import Count, Flag, MessagesBody, Millis, Wire
from app.core.reasons import Reason


class AfterTurnRequest(MessagesBody):
    """`POST /after-turn`."""

    pre_prompt_message_count: Count | None = Field(None, description="Messages before it are history.")
    advancement_key: Annotated[str, Field(min_length=1, max_length=512)] | None = Field(
        None, description="Names this turn; the `Idempotency-Key` header does the same."
    )
    is_heartbeat: Flag | None = Field(None, description="A heartbeat turn is not captured.")
    wait: Flag | None = Field(None, description="Wait until the turn is delivered, bounded by `deadlineMs`.")
    deadline_ms: Millis | None = Field(None, description="Longest wait, milliseconds.")


class RangeBody(Wire):
    """Messages of the session by running number, both ends included."""

    start: int
    end: int


class CompactionBody(Wire):
    """The background upload of a long session."""

    state: Literal["idle", "uploading", "uploaded", "forced"]
    upload_id: str | None
    message_range: RangeBody | None
    clear: RangeBody | None


class AfterTurnResponse(Wire):
    """The turn is on disk."""

    status: Literal["committed", "duplicate", "skipped"]
    reason: Reason
    turn_id: str
    captured: int
    delivery: Literal["queued", "delivered"]
    pending_tokens: int
    compaction: CompactionBody
