"""The request of `/after-turn`."""

from typing import Annotated, Any

from pydantic import Field

from app.api.schemas import ChatBody, Count, Flag, MessagesBody, Millis


class AfterTurnRequest(MessagesBody, ChatBody):
    """`POST /after-turn`."""

    pre_prompt_message_count: Count | None = Field(None, description="Messages before it are history.")
    advancement_key: Annotated[str, Field(min_length=1, max_length=512)] | None = Field(
        None, description="Names this turn; the `Idempotency-Key` header does the same."
    )
    is_heartbeat: Flag | None = Field(None, description="A heartbeat turn is not captured.")
    usage: dict[str, Any] | None = Field(
        None,
        description="What the model really used for the turn's last request, as its provider words it: `inputTokens` "
        "(`input_tokens`, `prompt_tokens`, `input`), what was cached, `outputTokens`. Replies may carry their own.",
    )
    wait: Flag | None = Field(None, description="Wait until the turn is delivered, bounded by `deadlineMs`.")
    deadline_ms: Millis | None = Field(None, description="Longest wait, milliseconds.")
