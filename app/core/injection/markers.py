"""The lines that only an injected block begins with: the headings and introductions of its sections.

Each recall source declares those of its section. The fence stands below the sources, because capture needs it as well,
so it asks here rather than there.
"""

from collections.abc import Iterable

SESSION_HEADINGS = (
    "## User Profile",
    "## Persona",
    "## Recent Notes",
    "## What Is Stored",
    "## Tool Usage Memories",
    "## Memory Commands",
)
"""The headings of a session's addition (`app.core.injection.session_start`)."""

_by_section: dict[str, tuple[str, ...]] = {}
_lines: tuple[str, ...] = ()


def declare(section: str, lines: Iterable[str]) -> None:
    """Have these lines, or what they begin with, known as those of a section's frame; earlier ones of it go."""
    _by_section[section] = tuple(lines)
    _gather()


def withdraw(section: str) -> None:
    """Forget the lines of a section."""
    _by_section.pop(section, None)
    _gather()


def sections() -> tuple[str, ...]:
    """The names of the sections that are declared."""
    return tuple(_by_section)


def declared() -> tuple[str, ...]:
    """The lines of all sections, each once; the same object until a declaration changes them.

    Raises where nothing was declared: a fence without markers would let half a block into what is stored.
    """
    if not _lines:
        raise RuntimeError("no marker line is declared: import app.recall.sources before text is cleaned")
    return _lines


def _gather() -> None:
    global _lines
    of_sections = (line for lines in _by_section.values() for line in lines)
    _lines = tuple(dict.fromkeys((*of_sections, *SESSION_HEADINGS))) if _by_section else ()
