"""The addition as a text: whole lines within a limit, the most important sections first to be fitted in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.core.injection.fence import wrap_session
from app.core.injection.session_start.section import Facts, Line, Section


@dataclass(frozen=True, slots=True)
class Addition:
    """What a session's system prompt gets; an empty text where there is nothing to say."""

    text: str = ""
    memory_ids: tuple[str, ...] = ()
    """The memories that it tells."""


def addition_of(sections: Iterable[Section], facts: Facts, max_chars: int) -> Addition:
    """The addition of these sections, in their order; between its tags stand at most ``max_chars`` characters.

    Deterministic. Room goes to the sections in the order of their importance; one that does not fit as a whole keeps
    its first lines.
    """
    shown = list(sections)
    room = max_chars - _LINE_BREAKS
    kept: dict[str, list[Line]] = {}
    for section in sorted(shown, key=lambda one: one.importance):
        lines = _fitting([Line(section.heading, leads=True), *section.lines(facts)], room)
        if lines:
            kept[section.name] = lines
            room -= _chars(lines)
    told = [line for section in shown for line in kept.get(section.name, ())]
    ids = tuple(dict.fromkeys(line.memory_id for line in told if line.memory_id))
    return Addition(wrap_session([line.text for line in told]), ids)


_LINE_BREAKS = 2
"""Behind the opening tag and in front of the closing one; one of them ends the last line."""


def _fitting(lines: Sequence[Line], room: int) -> list[Line]:
    """The first lines that fit, without a heading at their end."""
    kept: list[Line] = []
    for line in lines:
        room -= len(line.text) + 1
        if room < 0:
            break
        kept.append(line)
    while kept and kept[-1].leads:
        kept.pop()
    return kept


def _chars(lines: Iterable[Line]) -> int:
    return sum(len(line.text) + 1 for line in lines)
