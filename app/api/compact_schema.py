"""The requests of `/compact` and of `/sessions`."""

from typing import Annotated, Any

from pydantic import Field, Strict

from app.api.schemas import MAX_TOKENS, BudgetedBody, ChatBody, Count, Flag, Millis, at_most


class CompactRequest(BudgetedBody):
    """`POST /compact`."""

    current_token_count: Count | None = Field(None, description="Tokens in use by the host's count.")
    force: Flag | None = Field(None, description="Taken and not needed: what is live is archived whatever its size.")
    compaction_target: Any = Field(None, description="Taken and not used: `keepRecentCount` says what stays.")
    custom_instructions: str | None = Field(
        None,
        description="What the summary is to keep, in words: of the archived messages the lines nearest to them stay in "
        "it. `details.instructionsUsed` says whether there were any. A chat model that writes the embedded backend's "
        "summaries is told them, too; OpenViking 0.5.2 takes none.",
    )
    keep_recent_count: Annotated[int, Strict(), Field(ge=0, le=10_000), at_most(MAX_TOKENS)] | None = Field(
        None, description="Messages to leave live, rounded up to turns; none if absent."
    )
    deadline_ms: Millis | None = Field(None, description="Longest time to the answer, milliseconds.")


class StartRequest(ChatBody):
    """`POST /sessions/start`."""

    available_tools: Any = Field(
        None, description="The host's tools, as with `/assemble`: they decide how a summary's guide is worded."
    )
    deadline_ms: Millis | None = Field(None, description="Longest time to the answer, milliseconds.")


class SessionRequest(BudgetedBody):
    """`POST /sessions/end` and `POST /sessions/reset`."""

    deadline_ms: Millis | None = Field(None, description="Longest time to the answer, milliseconds.")
