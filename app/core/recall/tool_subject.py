"""A tool call as what is asked about: before a write, or when a skill is read (contract, "Session start")."""

from dataclasses import dataclass
from typing import Any

from app.core.capture.tool_uses import MAX_NAME_CHARS, on_one_line
from app.core.cleaning.host_text import storable
from app.core.messages.host_message import Messages
from app.core.messages.skill_files import MAX_VALUES, skill_read, texts_in

HINTS = frozenset({"skill_load", "write_preflight"})
"""Why a host asks about a tool call."""
MAX_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class ToolSubject:
    """The call that is asked about; ``arguments`` are JSON."""

    name: str
    arguments: Any = None

    @property
    def query(self) -> str:
        """What is searched for: the tool, and what it is called with, the short arguments first."""
        values = sorted(texts_in(self.arguments), key=len)[:MAX_VALUES]
        return "\n".join([self.name, *values])[:MAX_CHARS].strip()

    @property
    def skill(self) -> str:
        """The name of the skill whose SKILL.md the call reads, as captured calls name it; empty for any other call."""
        return on_one_line(storable(skill_read(self.name, self.arguments)), MAX_NAME_CHARS)


def subject_of(name: str, arguments: Any, messages: Messages) -> ToolSubject | None:
    """The call that a request names, or that its last message is the result of; None where there is neither."""
    if name:
        return ToolSubject(name, arguments)
    if not messages or not messages[-1].results:
        return None
    result = messages[-1].results[-1]
    calls = [call for message in messages for call in message.calls if call.id == result.call_id]
    if calls:
        return ToolSubject(calls[-1].name, calls[-1].arguments)
    return ToolSubject(result.name) if result.name else None
