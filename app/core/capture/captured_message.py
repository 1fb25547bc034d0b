"""What is kept of a turn: captured messages, in the shape both backends store."""

from dataclasses import dataclass, field
from typing import Any, Literal

from app.core.capture.tool_outcomes import says_failed
from app.core.identity import safe_peer_id
from app.core.messages.usage import Usage


@dataclass(frozen=True, slots=True)
class TextPart:
    """What somebody said, line breaks and all."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A tool call together with its result; ``output`` is None while no result is known."""

    id: str
    name: str
    input: Any
    output: str | None
    is_error: bool = False
    """Whether the host called it an error; see `failed`."""
    ms: int | None = field(default=None, compare=False)
    """Milliseconds between call and result, where the host says when both were."""
    is_late: bool = field(default=False, compare=False)
    """Whether it is a result alone: its call stands in an earlier turn, or nowhere."""

    @property
    def failed(self) -> bool:
        """Whether the call failed: by the host's word, or by an exit status in its output."""
        return self.is_error or (self.output is not None and says_failed(self.output))


Part = TextPart | ToolPart


@dataclass(frozen=True, slots=True)
class CapturedMessage:
    """One message as it is stored. ``source_id`` is unique to this message for ever: delivery is proved by it."""

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]
    created_at: str
    """Valid ISO 8601 in UTC: OpenViking takes anything and then fails the commit."""
    source_id: str = ""
    peer_id: str | None = None
    sender: str | None = None
    """Who spoke to the agent, as the host names them, whatever peer the message belongs to."""
    usage: Usage | None = None
    """What the model used for this reply, where the host tells."""

    @property
    def of_person(self) -> bool:
        """Whether its peer is the person who spoke, who is kept apart from others then; an agent of that name, too."""
        return self.peer_id is not None and self.sender is not None and safe_peer_id(self.sender) == self.peer_id
