"""Bodies of requests and answers. Names are camelCase on the wire; snake_case is taken on input as well."""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import AliasGenerator, BaseModel, ConfigDict, Field, WithJsonSchema, field_validator
from pydantic.alias_generators import to_camel, to_snake
from pydantic_core import PydanticCustomError

from app.api.wire import MAX_PROBLEMS, WRONG_ITEMS
from app.core.identity import MAX_ID_CHARS, Scope
from app.core.reasons import Reason

Id = Annotated[str, Field(max_length=MAX_ID_CHARS)]
HostMessage = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "required": ["role"],
            "properties": {"role": {"type": "string"}, "content": {}, "timestamp": {}},
            "additionalProperties": True,
        }
    ),
]
"""A message as the host writes it; only ``role`` is required, and everything unknown comes back unchanged."""
DEFAULT_TOKEN_BUDGET = 128_000
MAX_TOKENS = 1_000_000_000


class Wire(BaseModel):
    """A body: camelCase outside, snake_case inside, unknown fields ignored."""

    model_config = ConfigDict(alias_generator=AliasGenerator(to_camel), populate_by_name=True, extra="ignore")


class ScopeBody(Wire):
    """Who and which session. ``runtimeContext`` fills in what the top level leaves out."""

    session_id: Id | None = Field(None, description="The host's session id.")
    session_key: Id | None = Field(None, description="The host's stable key, such as `agent:main:chat`.")
    agent_id: Id | None = Field(None, description="The agent that talks.")
    sender_id: Id | None = Field(None, description="The person that talks.")
    runtime_context: dict[str, Any] | None = Field(None, description="What the host knows about the run.")

    def scope(self) -> Scope:
        """The scope with ``runtimeContext`` folded in; values of the wrong type in there are taken as missing."""
        return Scope(
            session_id=self.session_id or self._context_text("sessionId"),
            session_key=self.session_key or self._context_text("sessionKey"),
            agent_id=self.agent_id or self._context_text("agentId"),
            sender_id=self.sender_id or self._context_text("senderId"),
            is_cron=self._in_context("isCron") is True,
            automation_kind=self._context_text("automationKind"),
        )

    def _context_text(self, key: str) -> str | None:
        value = self._in_context(key)
        return value if isinstance(value, str) and len(value) <= MAX_ID_CHARS else None

    def _in_context(self, key: str) -> Any:
        """What ``runtimeContext`` says under a name in camelCase, or under the same in snake_case."""
        context = self.runtime_context or {}
        return context.get(key, context.get(to_snake(key)))


class _Budgeted(ScopeBody):
    token_budget: int | None = Field(
        None,
        gt=0,
        le=MAX_TOKENS,
        description=f"Tokens of the model's context window; {DEFAULT_TOKEN_BUDGET} if absent.",
    )

    @property
    def budget(self) -> int:
        """The token budget: the body's, ``runtimeContext.tokenBudget``, or the default."""
        if self.token_budget is not None:
            return self.token_budget
        value = self._in_context("tokenBudget")
        usable = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_TOKENS
        return value if usable else DEFAULT_TOKEN_BUDGET


class _WithMessages(_Budgeted):
    messages: list[HostMessage] = Field(default_factory=list, description="The host's messages, oldest first.")

    @field_validator("messages", mode="before")
    @classmethod
    def _are_messages(cls, messages: Any) -> Any:
        """Before Pydantic looks at each: it would keep an error, a kilobyte, for every item of a senseless list."""
        wrong = list(islice(_not_messages(messages), MAX_PROBLEMS)) if isinstance(messages, list) else ()
        if wrong:
            raise PydanticCustomError(WRONG_ITEMS, "{items}", {"items": wrong})
        return messages


def _not_messages(items: list[Any]) -> Iterator[tuple[str, str]]:
    """The place of each item that is no message, and what is wrong there."""
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            yield f"{index}", "Input should be an object"
        elif not isinstance(item.get("role"), str):
            yield f"{index}.role", "Input should be a string"


class Phase(StrEnum):
    """What `/assemble` does."""

    PREFLIGHT = "preflight"
    TRANSFORM = "transform"
    FULL = "full"


class Inject(StrEnum):
    """Where recall goes."""

    MESSAGE = "message"
    BLOCK = "block"
    TOOL_CALL = "tool_call"
    SYSTEM = "system"


class TriggerHint(StrEnum):
    """Why the host asks; anything but ``task_start`` recalls experiences without asking the gate."""

    TASK_START = "task_start"
    SKILL_LOAD = "skill_load"
    SUBAGENT_START = "subagent_start"
    WRITE_PREFLIGHT = "write_preflight"
    CRON_START = "cron_start"


class AssembleRequest(_WithMessages):
    """`POST /assemble`."""

    prompt: str | None = Field(None, description="The user's words when they are not in `messages` yet.")
    model: str | None = Field(None, description="The model's name.")
    available_tools: Any = Field(None, description="The host's tools; their presence alone means `preflight`.")
    citations_mode: Any = Field(None, description="Its presence alone means `preflight`.")
    phase: Phase | None = Field(None, description="Chosen from the other fields when absent.")
    inject: Inject = Field(Inject.MESSAGE, description="Where recall goes.")
    trigger_hint: TriggerHint | None = Field(None, description="Why the host asks.")
    deadline_ms: int | None = Field(None, gt=0, le=120_000, description="Longest time to the answer, milliseconds.")

    @property
    def chosen_phase(self) -> Phase:
        """The phase asked for, or the one that the other fields mean."""
        if self.phase is not None:
            return self.phase
        hinted = self.prompt is not None or self.available_tools is not None or self.citations_mode is not None
        return Phase.PREFLIGHT if hinted else Phase.TRANSFORM


class GateBody(Wire):
    """What the experience gate decided."""

    recall: bool
    trigger: str | None
    score: float
    reason: str


class RecalledItem(Wire):
    """One item in the block."""

    uri: str
    section: Literal["experiences", "memories"]
    category: str
    score: float
    chars: int


class RecallBody(Wire):
    """How the recall came about; the whole story is at `/recalls/{traceId}`."""

    trace_id: str
    query: str
    gate: GateBody
    items: list[RecalledItem]
    timings_ms: dict[str, float]
    degraded: list[str]


class AssembleResponse(Wire):
    """The context to use."""

    messages: list[HostMessage]
    estimated_tokens: int
    system_prompt_addition: str | None = Field(None, description="Only when there is one.")
    context_block: str | None = Field(None, description="Only when something was recalled.")
    status: Literal["assembled", "passthrough"]
    reason: Reason
    recall: RecallBody | None = None


class AfterTurnRequest(_WithMessages):
    """`POST /after-turn`."""

    pre_prompt_message_count: int | None = Field(None, ge=0, description="Messages before it are history.")
    advancement_key: Annotated[str, Field(min_length=1, max_length=512)] | None = Field(
        None, description="Names this turn; the `Idempotency-Key` header does the same."
    )
    is_heartbeat: bool = Field(False, description="A heartbeat turn is not captured.")
    wait: bool = Field(False, description="Wait until the turn is delivered, bounded by `deadlineMs`.")
    deadline_ms: int | None = Field(None, gt=0, le=600_000, description="Longest wait, milliseconds.")


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


class CompactRequest(_Budgeted):
    """`POST /compact`."""

    current_token_count: int | None = Field(None, ge=0, le=MAX_TOKENS, description="Tokens in use by the host's count.")
    force: bool = Field(False, description="Compact although no threshold is reached.")
    compaction_target: Any = Field(None, description="The host's target, passed through.")
    custom_instructions: str | None = Field(None, max_length=20_000, description="What the summary should keep.")
    keep_recent_count: int = Field(0, ge=0, le=10_000, description="Messages to leave live.")
    deadline_ms: int | None = Field(None, gt=0, le=900_000, description="Longest time to the answer, milliseconds.")


class CompactResult(Wire):
    """The host's own result shape."""

    summary: str
    first_kept_entry_id: str
    tokens_before: int
    tokens_after: int
    details: dict[str, Any]


class CompactResponse(Wire):
    """How the compaction went."""

    ok: bool
    compacted: bool
    reason: Reason
    result: CompactResult | None
    task_id: str | None


class SessionRequest(_Budgeted):
    """`POST /sessions/end` and `POST /sessions/reset`."""

    deadline_ms: int | None = Field(None, gt=0, le=600_000, description="Longest time to the answer, milliseconds.")


class SessionResponse(Wire):
    """What became of the session."""

    ok: bool
    reason: Reason
    task_id: str | None


class ProblemField(Wire):
    """One thing wrong with the request."""

    field: str
    message: str


class Problem(Wire):
    """RFC 9457 problem document."""

    type: str
    title: str
    status: int
    detail: str
    code: Reason
    request_id: str
    errors: list[ProblemField] | None = None
