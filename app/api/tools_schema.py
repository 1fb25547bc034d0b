"""Bodies of ``/tools``."""

from typing import Any, Literal

from pydantic import Field

from app.api.schemas import Millis, PolicyLineBody, ScopeBody, Wire
from app.core.reasons import Reason


class ToolsResponse(Wire):
    """The definitions, as the model's provider wants them."""

    tools: list[dict[str, Any]]


class ToolCallRequest(ScopeBody):
    """`POST /tools/{name}`. A session is needed only by tools that read one."""

    arguments: dict[str, Any] = Field(default_factory=dict, description="What the model gave the tool.")
    deadline_ms: Millis | None = Field(None, description="Longest time to the answer, milliseconds.")


class TextBlock(Wire):
    """A text for the model."""

    type: Literal["text"]
    text: str


class ToolCallResponse(Wire):
    """What the tool says. A mistake of the model is `ok: false` with a text that says what to do instead."""

    ok: bool
    reason: Reason
    content: list[TextBlock]
    details: dict[str, Any] = Field(description="The same for programs.")
    policy: list[PolicyLineBody] = Field(description="What was masked in the arguments, or not stored.")
