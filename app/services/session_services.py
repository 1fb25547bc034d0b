"""What a session begins with."""

from collections.abc import Sequence
from dataclasses import replace

from app.core.injection.session_start.commands import COMMAND_LINE
from app.core.injection.session_start.section import Source
from app.core.injection.session_start.sections import SECTIONS
from app.engine.memories.auditing import NOT_AUDITED
from app.engine.memories.browsing import ListMemories, whole
from app.engine.memories.collaborators import Memories
from app.engine.session_start.begin import BeginSession
from app.engine.session_start.reading import ReadFacts
from app.policy.policy import Policy
from app.settings import Settings
from app.store.turns import SqlTurnStore
from app.tools import TOOLS


def session_beginner(
    settings: Settings, memories: Memories, store: SqlTurnStore, policy: Policy, *, keeps_memories: bool
) -> BeginSession:
    """The use case, for the sections that are switched on; looking at memories for them is no reading of them."""
    return BeginSession(
        ReadFacts(ListMemories(replace(memories, audit=NOT_AUDITED), whole), store.uses, _commands(settings)),
        store.starts,
        _start_sections(settings, keeps_memories=keeps_memories),
        settings.start.max_chars,
        policy,
        on_shown=memories.audit.read,
    )


def _start_sections(settings: Settings, *, keeps_memories: bool) -> frozenset[str]:
    """The sections of sessions' additions: without memories only those that need none."""
    return frozenset(
        one.name
        for one in SECTIONS
        if one.name in settings.start.sections and (keeps_memories or one.needs <= {Source.TOOLS})
    )


def _commands(settings: Settings) -> Sequence[tuple[str, str]]:
    """What models are told to call."""
    if settings.start.commands == "cli":
        return COMMAND_LINE
    return [(tool.name, tool.description.partition(". ")[0].rstrip(".")) for tool in TOOLS]
