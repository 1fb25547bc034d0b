"""Bodies of `/assemble`."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from app.api.schemas import HostMessage, MessagesBody, Millis, Wire
from app.core.injection.inject import Mode
from app.core.reasons import Reason
from app.recall.sources import SOURCES


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


class AssembleRequest(MessagesBody):
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
    deadline_ms: Millis | None = Field(None, description="Longest time to the answer, milliseconds.")

    @property
    def chosen_phase(self) -> Phase:
        """The phase asked for, or the one that the other fields mean."""
        if self.phase is not None:
            return self.phase
        hinted = self.prompt is not None or self.available_tools is not None or self.citations_mode is not None
        return Phase.PREFLIGHT if hinted else Phase.TRANSFORM

    def names_tools(self, *names: str) -> bool:
        """Whether all of these are among `availableTools`."""
        given = self.available_tools if isinstance(self.available_tools, list) else []
        return set(names) <= {name for tool in given if isinstance(name := _name_of(tool), str)}


def _name_of(tool: Any) -> Any:
    """The name of a tool: itself, or in its definition (OpenAI's has a function in it)."""
    if not isinstance(tool, dict):
        return tool
    function = tool.get("function")
    return function.get("name") if isinstance(function, dict) else tool.get("name")


class GateBody(Wire):
    """What the experience gate decided."""

    recall: bool
    trigger: str | None
    score: float
    reason: str


def _name_the_sections(schema: dict[str, Any]) -> None:
    schema["enum"] = list(SOURCES.sections)


SectionName = Annotated[str, Field(json_schema_extra=_name_the_sections)]
"""The name of a section of the block; its OpenAPI schema lists those of all registered sources."""


class RecalledItem(Wire):
    """One item in the block."""

    uri: str
    section: SectionName
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
