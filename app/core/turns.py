"""What is kept of a turn: captured messages, in the shape both backends store."""

from dataclasses import dataclass
from typing import Any, Literal


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
