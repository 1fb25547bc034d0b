"""The request of `/assemble`."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, field_validator

from app.api.memory_listing import MAX_DATE_CHARS
from app.api.schemas import ChatBody, Id, MessagesBody, Millis, Wire
from app.core.history.summary_message import ARCHIVE_EXPAND, ARCHIVE_SEARCH
from app.core.injection.inject import Mode
from app.core.messages.host_message import Messages
from app.core.messages.providers import STYLES
from app.core.recall.recall_filter import RecallFilter
from app.core.recall.tool_subject import HINTS, ToolSubject, subject_of
from app.text.dates import moment_of


class Phase(StrEnum):
    """What `/assemble` does."""

    PREFLIGHT = "preflight"
    TRANSFORM = "transform"
    FULL = "full"


class TriggerHint(StrEnum):
    """Why the host asks; anything but ``task_start`` recalls experiences without asking the gate."""

    TASK_START = "task_start"
    SKILL_LOAD = "skill_load"
    SUBAGENT_START = "subagent_start"
    WRITE_PREFLIGHT = "write_preflight"
    CRON_START = "cron_start"


StyleName = StrEnum("StyleName", {name.upper(): name for name in STYLES})  # type: ignore[misc]
"""Whose rules the answer's messages keep."""


class ToolCallBody(Wire):
    """A tool call that is asked about."""

    name: Id = Field("", description="The tool; without it the result at the end of the messages counts.")
    arguments: Any = Field(None, description="What it is called with.")


Category = Annotated[str, Field(min_length=1, max_length=40)]
Moment = Annotated[str, Field(max_length=MAX_DATE_CHARS)]


class RecallFilterBody(Wire):
    """Which memories may be recalled, besides what settings keep out."""

    categories: list[Category] | None = Field(None, max_length=50, description="Only these; if absent, any.")
    excluded_categories: list[Category] = Field(default_factory=list, max_length=50, description="Not these.")
    since: Moment | None = Field(None, description="Said or first stored at or after this, ISO 8601.")
    until: Moment | None = Field(None, description="Said or first stored at or before this, ISO 8601.")

    @field_validator("since", "until")
    @classmethod
    def _is_a_moment(cls, text: str | None) -> str | None:
        if text is not None and moment_of(text) is None:
            raise ValueError("is no date or time in ISO 8601")
        return text

    @property
    def filter(self) -> RecallFilter:
        """The filter that is meant."""
        return RecallFilter(
            None if self.categories is None else frozenset(one.lower() for one in self.categories),
            frozenset(one.lower() for one in self.excluded_categories),
            moment_of(self.since or ""),
            moment_of(self.until or ""),
        )


class AssembleRequest(MessagesBody, ChatBody):
    """`POST /assemble`."""

    prompt: str | None = Field(None, description="The user's words when they are not in `messages` yet.")
    model: str | None = Field(None, description="The model's name.")
    available_tools: Any = Field(
        None,
        description="The host's tools, by name or as definitions; their presence alone means `preflight`. With "
        "`ov_archive_search` and `ov_archive_expand` among them the model is told to look things up there.",
    )
    citations_mode: Any = Field(None, description="Its presence alone means `preflight`.")
    phase: Phase | None = Field(None, description="Chosen from the other fields when absent.")
    inject: Mode | None = Field(None, description="Where recall goes; `message` if absent.")
    trigger_hint: TriggerHint | None = Field(None, description="Why the host asks.")
    style: StyleName | None = Field(
        None,
        description="Have the messages mended for this provider: roles in turn, every call answered, reasoning of old "
        "turns out. Absent or `openclaw`: they are left as they are, the host sees to it.",
    )
    tool_call: ToolCallBody | None = Field(
        None,
        description="With `skill_load` or `write_preflight`: the call that is asked about; if absent, that of the "
        "result at the end of the messages.",
    )
    recall_filter: RecallFilterBody | None = Field(
        None, description="Narrows what is recalled of the long-term memories; experiences and documents are not."
    )
    deadline_ms: Millis | None = Field(None, description="Longest time to the answer, milliseconds.")

    @property
    def chosen_phase(self) -> Phase:
        """The phase asked for, or the one that the other fields mean."""
        if self.phase is not None:
            return self.phase
        hinted = self.prompt is not None or self.available_tools is not None or self.citations_mode is not None
        return Phase.PREFLIGHT if hinted else Phase.TRANSFORM

    def subject(self, messages: Messages) -> ToolSubject | None:
        """The tool call that is asked about, with a hint that says so."""
        if self.trigger_hint is None or self.trigger_hint.value not in HINTS:
            return None
        called = self.tool_call
        return subject_of(called.name if called else "", called.arguments if called else None, messages)

    @property
    def reads_archives(self) -> bool:
        """Whether the model has the tools that read archives."""
        return names_tools(self.available_tools, ARCHIVE_SEARCH, ARCHIVE_EXPAND)

    @property
    def tool_names(self) -> frozenset[str] | None:
        """The names in `availableTools`; None where it is no list."""
        return _names_in(self.available_tools) if isinstance(self.available_tools, list) else None


def names_tools(tools: Any, *names: str) -> bool:
    """Whether all of these are among the tools that a host names."""
    return set(names) <= _names_in(tools if isinstance(tools, list) else [])


def _names_in(tools: list[Any]) -> frozenset[str]:
    return frozenset(name for tool in tools if isinstance(name := _name_of(tool), str))


def _name_of(tool: Any) -> Any:
    """The name of a tool: itself, or in its definition (OpenAI's has a function in it)."""
    if not isinstance(tool, dict):
        return tool
    function = tool.get("function")
    return function.get("name") if isinstance(function, dict) else tool.get("name")
