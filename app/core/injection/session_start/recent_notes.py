"""What happened lately: the daily notes of today and yesterday, or events of the last two days."""

from collections.abc import Iterator, Sequence

from app.core.injection.session_start.section import Facts, Line, Section, Source
from app.core.injection.session_start.shown_lines import distinct, shortened, text_lines
from app.core.memories.memory import Memory

NOTE_DAYS = 2
_DAY_CHARS = len("2026-01-01")


def _lines(facts: Facts) -> Sequence[Line]:
    written = list(_written(facts.workspace.notes))
    return written or [_event(memory) for memory in distinct(facts.recent)]


def _written(notes: Sequence[tuple[str, str]]) -> Iterator[Line]:
    """The notes of each day below its date; of a day's heading nothing else is left."""
    for day, text in notes:
        lines = [line for line in text_lines(text) if line.text != f"- {day}"]
        if lines:
            yield Line(f"### {day}", leads=True)
            yield from lines


def _event(memory: Memory) -> Line:
    return Line(f"- {memory.created_at[:_DAY_CHARS]}: {shortened(memory.text)}", memory.id)


SECTION = Section("notes", "## Recent Notes", 3, frozenset({Source.MEMORIES, Source.WORKSPACE}), _lines)
