"""What a section of the addition is, and what it is made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from app.core.capture.tool_records import ToolRecord
from app.core.memories.memory import Memory


class ChatType(StrEnum):
    """Who reads along: what is private goes into private chats only."""

    PRIVATE = "private"
    GROUP = "group"


GROUP_CHATS = frozenset({"group", "supergroup", "channel", "room", "guild"})
"""What hosts call a chat of several people."""


def chat_type(told: str | None) -> ChatType:
    """What a host's word for a chat means; one that is not known is a private chat (contract, "Session start")."""
    return ChatType.GROUP if (told or "").strip().lower() in GROUP_CHATS else ChatType.PRIVATE


class Source(StrEnum):
    """What the use case has to read for a section."""

    MEMORIES = "memories"
    WORKSPACE = "workspace"
    FOLDERS = "folders"
    TOOLS = "tools"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The files that a person may read and write beside the memories, as Markdown; empty where there are none."""

    soul: str = ""
    """``memories/SOUL.md``: who the agent is."""
    notes: tuple[tuple[str, str], ...] = ()
    """(day, text) of the daily notes asked for, newest first."""
    left_out: frozenset[str] = frozenset()
    """Memories whose lines a person took out of ``memories/MEMORY.md``."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What sections are made of. Only what the sections' `Section.needs` ask for is there."""

    profile: Sequence[Memory] = ()
    """Of the profile, preferences, and pinned ones; newest first."""
    soul: Sequence[Memory] = ()
    """Of the types ``soul`` and ``identity``."""
    recent: Sequence[Memory] = ()
    """Events of the last two days, newest first."""
    workspace: Workspace = field(default_factory=Workspace)
    folders: Mapping[str, int] = field(default_factory=dict)
    """How many memories there are, by the URI of their folder."""
    tools: Sequence[ToolRecord] = ()
    """Of the agent, those that are called most first."""
    commands: Sequence[tuple[str, str]] = ()
    """What the model can call, and what it is for."""


class Line(NamedTuple):
    """A line of a section. ``leads``: it announces what follows (a heading), and never stands last."""

    text: str
    memory_id: str = ""
    """The memory that the line tells, where it tells one."""
    leads: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A section: what it is called, how important it is (1 is the most), and how it is made of what is known."""

    name: str
    """That of its setting, ``SIDECAR_START__<NAME>``."""
    heading: str
    importance: int
    needs: frozenset[Source]
    lines: Callable[[Facts], Sequence[Line]]
    """Its lines below the heading, the most important first; none where there is nothing to say."""
    is_private: bool = True
    """Left out where others read along."""
