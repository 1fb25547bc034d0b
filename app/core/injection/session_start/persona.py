"""Who the agent is: the file ``SOUL.md``, or memories of the types ``soul`` and ``identity``."""

from collections.abc import Sequence

from app.core.injection.session_start.section import Facts, Line, Section, Source
from app.core.injection.session_start.shown_lines import distinct, memory_line, source_line, text_lines

SOUL_URI = "viking://~/memories/SOUL.md"
SOUL_TYPES = ("soul", "identity")


def _lines(facts: Facts) -> Sequence[Line]:
    if written := list(text_lines(facts.workspace.soul)):
        return [source_line(SOUL_URI), *written]
    return [memory_line(memory) for memory in distinct(facts.soul)]


SECTION = Section("persona", "## Persona", 2, frozenset({Source.MEMORIES, Source.WORKSPACE}), _lines)
