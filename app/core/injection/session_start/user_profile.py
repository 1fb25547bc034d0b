"""Who the user is: pinned memories, facts of the profile, and preferences that last."""

from collections.abc import Iterable, Sequence

from app.core.injection.session_start.section import Facts, Line, Section, Source
from app.core.injection.session_start.shown_lines import distinct, memory_line, source_line
from app.core.memories.memory import Memory, MemoryState, Origin, Sensitivity

PROFILE_URI = "viking://~/memories/profile.md"
PROFILE, PREFERENCES = "profile", "preferences"
LEAST_CONFIDENCE = 0.5
"""What is less certain than that may be no trait at all."""


def profile_of(memories: Iterable[Memory]) -> list[Memory]:
    """The memories that make up the profile, the most important first: those that are pinned, then facts, then tastes;
    of each the last confirmed first.

    What expires is not stable, and what is highly sensitive is shown when it is asked about; a pin overrules both.
    """
    chosen = [memory for memory in memories if memory.pinned or _is_stable(memory)]
    chosen = [one for one in chosen if one.state is MemoryState.LIVE and one.origin is not Origin.RESOURCE]
    by_id = sorted(chosen, key=lambda memory: memory.id)
    newest = sorted(by_id, key=lambda memory: memory.last_confirmed_at or memory.created_at, reverse=True)
    return list(distinct(sorted(newest, key=_rank)))


def _is_stable(memory: Memory) -> bool:
    return (
        memory.category in {PROFILE, PREFERENCES}
        and memory.expires_at is None
        and memory.sensitivity is not Sensitivity.HIGH
        and (memory.confidence is None or memory.confidence >= LEAST_CONFIDENCE)
    )


def _rank(memory: Memory) -> int:
    if memory.pinned:
        return 0
    return 1 if memory.category == PROFILE else 2


def _lines(facts: Facts) -> Sequence[Line]:
    left_out = facts.workspace.left_out
    told = [memory_line(memory) for memory in profile_of(facts.profile) if memory.id not in left_out]
    return [source_line(PROFILE_URI), *told] if told else ()


SECTION = Section("profile", "## User Profile", 1, frozenset({Source.MEMORIES, Source.WORKSPACE}), _lines)
