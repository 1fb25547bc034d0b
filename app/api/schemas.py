"""What all bodies have in common. Names are camelCase on the wire; snake_case is taken on input as well."""

from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import (
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    WithJsonSchema,
    field_validator,
)
from pydantic.alias_generators import to_camel, to_snake
from pydantic_core import PydanticCustomError

from app.api.wire import MAX_PROBLEMS, WRONG_ITEMS
from app.core.identity import MAX_ID_CHARS, Scope
from app.core.injection.session_start.section import ChatType, chat_type
from app.core.messages.validation import MESSAGE_SCHEMA, wrong_messages
from app.core.reasons import Reason

Id = Annotated[str, Field(max_length=MAX_ID_CHARS)]
Message = Annotated[dict[str, Any], WithJsonSchema(MESSAGE_SCHEMA)]
"""A message as the host writes it; only ``role`` is required, and everything unknown comes back unchanged."""
DEFAULT_TOKEN_BUDGET = 128_000
MAX_TOKENS = 1_000_000_000
MAX_DEADLINE_MS = 900_000


def at_most(limit: int) -> BeforeValidator:
    """Some hosts write every number with a point; and more than ``limit`` means no limit, so it is as good as that."""

    def read(value: Any) -> Any:
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        return min(whole, limit) if type(whole) is int else whole

    return BeforeValidator(read)


Count = Annotated[int, Strict(), Field(ge=0), at_most(MAX_TOKENS)]
"""A whole number; neither a text nor true or false passes for one."""
Tokens = Annotated[int, Strict(), Field(gt=0), at_most(MAX_TOKENS)]
Millis = Annotated[int, Strict(), Field(gt=0), at_most(MAX_DEADLINE_MS)]
Flag = Annotated[bool, Strict()]


class Wire(BaseModel):
    """A body: camelCase outside, snake_case inside, unknown fields ignored."""

    model_config = ConfigDict(alias_generator=AliasGenerator(to_camel), populate_by_name=True, extra="ignore")


class PolicyLineBody(Wire):
    """How often a class was found in a text, and what was done."""

    kind: str = Field(alias="class")
    action: Literal["mask", "drop"]
    count: int


class AutomationBody(Wire):
    """A scheduled run."""

    name: Id | None = Field(None, description="What the run is called.")
    last_error: str | None = Field(None, description="How the run before it failed.")


class ScopeBody(Wire):
    """Who and which session. ``runtimeContext`` fills in what the top level leaves out."""

    session_id: Id | None = Field(None, description="The host's session id.")
    session_key: Id | None = Field(None, description="The host's stable key, such as `agent:main:chat`.")
    agent_id: Id | None = Field(None, description="The agent that talks.")
    sender_id: Id | None = Field(None, description="The person that talks.")
    parent_session: Id | None = Field(None, description="The session that this one was begun from, if there is one.")
    automation: AutomationBody | None = Field(None, description="Joins the query of a scheduled run.")
    runtime_context: dict[str, Any] | None = Field(None, description="What the host knows about the run.")

    @cached_property
    def scope(self) -> Scope:
        """The scope with ``runtimeContext`` folded in; values of the wrong type in there are taken as missing."""
        return Scope(
            session_id=self.session_id or self._context_text("sessionId"),
            session_key=self.session_key or self._context_text("sessionKey"),
            agent_id=self.agent_id or self._context_text("agentId"),
            sender_id=self.sender_id or self._context_text("senderId"),
            is_cron=self._in_context("isCron") is True,
            automation_kind=self._context_text("automationKind"),
            parent_session=self.parent_session or self._context_text("parentSession"),
            chat_type=self._chat_type,
            automation_name=self.automation.name if self.automation else None,
            last_error=self.automation.last_error if self.automation else None,
        )

    @property
    def _chat_type(self) -> str | None:
        """The kind of chat as the host names it."""
        return self._context_text("chatType")

    def _context_text(self, key: str) -> str | None:
        value = self._in_context(key)
        return value if isinstance(value, str) and len(value) <= MAX_ID_CHARS else None

    def _in_context(self, key: str) -> Any:
        """What ``runtimeContext`` says under a name in camelCase, or under the same in snake_case."""
        context = self.runtime_context
        return context.get(key, context.get(to_snake(key))) if context else None


class BudgetedBody(ScopeBody):
    """A scope, and how much the model's context holds."""

    token_budget: Tokens | None = Field(
        None, description=f"Tokens of the model's context window; {DEFAULT_TOKEN_BUDGET} if absent."
    )

    @property
    def budget(self) -> int:
        """The token budget: the body's, ``runtimeContext.tokenBudget``, or the default."""
        if self.token_budget is not None:
            return self.token_budget
        value = self._in_context("tokenBudget")
        usable = isinstance(value, int) and not isinstance(value, bool) and value > 0
        return min(value, MAX_TOKENS) if usable else DEFAULT_TOKEN_BUDGET


class ChatBody(BudgetedBody):
    """The above, and who reads along."""

    chat_type: Annotated[str, Field(max_length=64)] | None = Field(
        None, description="`group` leaves out what is private; anything else, or nothing, is a private chat."
    )

    @property
    def _chat_type(self) -> str | None:
        return self.chat_type or super()._chat_type

    @property
    def chat(self) -> ChatType:
        """The kind of chat: the body's, or that of ``runtimeContext``."""
        return chat_type(self._chat_type)


class MessagesBody(BudgetedBody):
    """The above, and the conversation."""

    messages: list[Message] = Field(default_factory=list, description="The host's messages, oldest first.")

    @field_validator("messages", mode="before")
    @classmethod
    def _are_messages(cls, messages: Any) -> Any:
        """Before Pydantic looks at each: it would keep an error, a kilobyte, for every item of a senseless list."""
        wrong = list(islice(wrong_messages(messages), MAX_PROBLEMS)) if isinstance(messages, list) else ()
        if wrong:
            raise PydanticCustomError(WRONG_ITEMS, "{items}", {"items": wrong})
        return messages


class ProblemField(Wire):
    """One thing wrong with the request."""

    field: str
    message: str


class Candidate(Wire):
    """A memory that could be meant."""

    id: str
    uri: str
    category: str


class Problem(Wire):
    """RFC 9457 problem document."""

    type: str
    title: str
    status: int
    detail: str
    code: Reason
    request_id: str
    errors: list[ProblemField] | None = None
    candidates: list[Candidate] | None = None
