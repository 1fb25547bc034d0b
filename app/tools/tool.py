"""What a tool is: a definition for the model, written once, and what it does.

A tool answers the model in text. A mistake of the model (`Mistake`) is an answer too, which says what to do instead.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, AliasGenerator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from app.core.capture.policy_line import PolicyLine
from app.core.cleaning.host_text import storable
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.injection.fence import wrap
from app.core.memories.naming import Homes
from app.core.reasons import Reason
from app.engine.archives import Archives
from app.engine.memories.browsing import ListMemories
from app.engine.memories.forgetting import ForgetMemory, SelectMemory
from app.engine.memories.keeping import StoreMemory
from app.engine.output_reading import ToolOutputs
from app.engine.resources.browse_resources import BrowseResources
from app.engine.resources.importing import ImportResource
from app.gathering.web import Fetching
from app.ports import ContextBackend

MAX_TEXT_CHARS = 20_000
"""Longest text that an argument may have."""


class Arguments(BaseModel):
    """The arguments of a tool: camelCase for the model, snake_case is taken as well, unknown ones are refused."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(to_camel), populate_by_name=True, extra="forbid", str_strip_whitespace=True
    )


def _said(text: str) -> str:
    """The text as every store takes it."""
    text = storable(text).strip()
    if not text:
        raise ValueError("it must say something")
    return text


Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS), AfterValidator(_said)]
Name = Annotated[str, Field(min_length=1, max_length=1024), AfterValidator(_said)]


def up_to(limit: int) -> BeforeValidator:
    """A model that asks for too much gets as much as there may be; some write numbers as text."""

    def read(value: Any) -> Any:
        if isinstance(value, str) and value.isascii() and value.isdigit():
            return min(int(value[:20]), limit)
        return min(value, limit) if isinstance(value, int) and not isinstance(value, bool) else value

    return BeforeValidator(read)


@dataclass(frozen=True, slots=True)
class Uses:
    """The use cases that tools are made of."""

    archives: Archives
    tool_outputs: ToolOutputs
    list_memories: ListMemories
    select_memory: SelectMemory
    store_memory: StoreMemory
    forget_memory: ForgetMemory
    backend: ContextBackend
    browse_resources: BrowseResources
    import_resource: ImportResource
    web: Fetching | None
    """How URLs are fetched; None where none is."""
    homes: Homes


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool, and until when an answer is of use."""

    who: Identity
    has_session: bool
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model is told, and the same for programs (``details``)."""

    text: str
    details: Mapping[str, Any] = field(default_factory=dict)
    ok: bool = True
    reason: Reason = Reason.OK
    policy: tuple[PolicyLine, ...] = ()
    """What the rules took out of the arguments."""


class Mistake(Exception):
    """The model asked for what can not be; the message tells it what to do instead."""

    def __init__(self, text: str, reason: Reason = Reason.NOT_FOUND, **details: Any) -> None:
        super().__init__(text)
        self.text = text
        self.reason = reason
        self.details = details


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool: what models are told of it, and what it does."""

    name: str
    description: str
    """For the model: what it does, and when to use it."""
    arguments: type[A]
    run: Callable[[Uses, Caller, A], Awaitable[Answer]]
    """Raises `Mistake`, `app.ports.BackendError`, and errors of `app.errors`."""
    alias: str | None = None
    """Another name that it is called by."""
    read_only: bool = True
    destructive: bool = False
    """It may remove something that can not be brought back."""


def quoted(*sections: str) -> str:
    """What was stored, marked as data: the model takes no orders from it, and capture does not store it again."""
    return wrap(sections)
