"""A tool call as what is asked about: before a write, or when a skill is read (contract, "Session start")."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.core.messages.host_message import Messages

HINTS = frozenset({"skill_load", "write_preflight"})
"""Why a host asks about a tool call."""
MAX_CHARS = 1_000
MAX_VALUES = 12
"""Arguments that say what a call is about; more are content."""
_SKILL = re.compile(r"(?:^|[\\/])skills[\\/](?P<name>[^\\/]{1,100})[\\/]SKILL\.md$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToolSubject:
    """The call that is asked about; ``arguments`` are JSON."""

    name: str
    arguments: Any = None

    @property
    def query(self) -> str:
        """What is searched for: the tool, and what it is called with, the short arguments first."""
        values = sorted(_texts(self.arguments), key=len)[:MAX_VALUES]
        return "\n".join([self.name, *values])[:MAX_CHARS].strip()

    @property
    def skill(self) -> str:
        """The name of the skill whose SKILL.md the call reads; empty for any other call."""
        paths = (_SKILL.search(text.strip()) for text in _texts(self.arguments) if len(text) <= MAX_CHARS)
        return next((found["name"] for found in paths if found), "")


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


def _texts(value: Any, depth: int = 4) -> Iterator[str]:
    if isinstance(value, str):
        yield value[: 2 * MAX_CHARS]
    elif depth and isinstance(value, dict):
        for one in list(value.values())[:MAX_VALUES]:
            yield from _texts(one, depth - 1)
    elif depth and isinstance(value, list):
        for one in value[:MAX_VALUES]:
            yield from _texts(one, depth - 1)
