"""What goes into and comes out of `/assemble`'s use cases. What comes out is the body of the answer, as it stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, InstanceOf, PlainSerializer, WithJsonSchema

from app.core.history.guards.cuts import GuardNote
from app.core.history.window import Flush
from app.core.identity import Scope
from app.core.injection import markers
from app.core.injection.inject import Mode
from app.core.json.answers import answer
from app.core.messages.host_message import HostMessage
from app.core.messages.validation import MESSAGE_SCHEMA
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, RecallFilter
from app.core.recall.tool_subject import ToolSubject
from app.core.recall.trace import Gate


@dataclass(slots=True)  # not frozen: every request makes one, in a third of the time
class AssembleInput:
    """An `/assemble` request without its transport. ``token_budget`` is positive; ``inject`` as in the contract."""

    messages: tuple[HostMessage, ...]
    prompt: str | None
    token_budget: int
    inject: Mode = Mode.MESSAGE
    trigger_hint: str | None = None
    scope: Scope = field(default_factory=Scope)
    bypassed: bool = False
    phase: Literal["preflight", "transform", "full"] = "transform"
    reads_archives: bool = False
    """The model has the tools that read what a summary stands for."""
    subject: ToolSubject | None = None
    """The tool call that is asked about: then only guidance for it is recalled."""
    skill: Hit | None = None
    """What is remembered of the skill that the call reads."""
    session_addition: str = ""
    """What the session began with: `preflight` and `full` answer it whatever becomes of the history."""
    keeps_cuts: bool = True
    """Whether what guards decide is kept: not of a prompt that goes to no model."""
    style: str | None = None
    """Whose rules the messages have to keep, one of `app.core.messages.providers.STYLES`; None: the host does."""
    tools: frozenset[str] | None = None
    """The tools that the model has, where the host says so."""
    guards: tuple[GuardNote, ...] = ()
    """What was cut of the messages before."""
    only: RecallFilter = ANY
    """The memories that the host wants recalled."""
    room: int | None = None
    """Tokens that recall may add to the prompt; None: as many as its settings allow."""

    @property
    def prompt_follows(self) -> bool:
        """Whether the host puts one more user message behind the messages."""
        return bool(self.prompt and self.prompt.strip())


def _name_the_sections(schema: dict[str, Any]) -> None:
    schema["enum"] = list(markers.sections())


@answer
@dataclass(slots=True)  # not frozen: each of many would take four times as long to make
class RecalledItem:
    """One item in the block."""

    uri: str
    section: Annotated[str, Field(json_schema_extra=_name_the_sections)]
    """The section of the block that it stands in, one of those that the registered sources declare."""
    category: str
    score: float
    chars: int


@answer
@dataclass(slots=True)  # not frozen: every request makes one, in a third of the time
class RecallReport:
    """How the recall came about; the whole story is at `/recalls/{traceId}`."""

    trace_id: str
    query: str
    gate: Gate = field(default_factory=Gate)
    items: tuple[RecalledItem, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()


def _status(assembled: bool) -> str:
    return "assembled" if assembled else "passthrough"


def _is_empty(text: str | None) -> bool:
    return not text


def _is_none(value: object) -> bool:
    return value is None


Status = Literal["assembled", "passthrough"]
Optional = Annotated[str | None, Field(exclude_if=_is_empty)]
"""A text that the answer leaves out where there is none."""


@answer
@dataclass(slots=True)  # not frozen: every request makes one, in a third of the time
class AssembleResult:
    """The context to use."""

    messages: Annotated[tuple[InstanceOf[HostMessage], ...], WithJsonSchema({"type": "array", "items": MESSAGE_SCHEMA})]
    estimated_tokens: int
    reason: Reason
    assembled: Annotated[bool, Field(serialization_alias="status"), PlainSerializer(_status, return_type=Status)]
    """`passthrough`: the messages are the host's own."""
    system_prompt_addition: Optional = None
    """Only when there is one."""
    context_block: Optional = None
    """Only when something was recalled."""
    flush: Annotated[Flush | None, Field(exclude_if=_is_none)] = None
    """Only when the window is nearly full, and once until the next `/compact`."""
    recall: RecallReport | None = None
    guards: tuple[GuardNote, ...] = ()
    """What was cut so that the messages fit: of tool outputs, and whole turns."""
