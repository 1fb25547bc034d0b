"""The injected block, byte for byte as the contract has it. Its bytes depend on its content alone (prompt caches)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.core import fence
from app.core.trace import Verdict
from app.recall.experience import render_experience
from app.recall.ranking import Candidate

MAX_CATEGORY_CHARS = 40
MAX_REMEMBERED_CHARS = 2_000
"""Longest memory whose safe form is kept; longer ones are rare and would fill the memory."""


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate as it stands in the block."""

    candidate: Candidate
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """How the items of a section are written, set apart and limited. ``max_chars`` counts items and separators."""

    heading: str
    separator: str
    render: Callable[[Candidate], str]
    limit: int
    max_chars: int


def experiences_section(limit: int, max_chars: int) -> Section:
    """`## Agent Experiences`."""
    heading = f"{fence.EXPERIENCES_HEADING}\n{fence.EXPERIENCES_INTRO}\n"
    return Section(heading, "\n\n", experience_item, limit, max_chars)


def memories_section(limit: int, max_chars: int) -> Section:
    """`## Long-term Memories`."""
    heading = f"{fence.MEMORIES_HEADING}\n{fence.MEMORIES_SOURCE}\n{fence.MEMORIES_INTRO}"
    return Section(heading, "\n", memory_item, limit, max_chars)


def fit(candidates: Sequence[Candidate], section: Section) -> tuple[list[Item], list[Candidate]]:
    """What goes into a section: items in order, whole or not at all; and all candidates with their final verdicts.

    An item that does not fit is left out and a shorter one behind it may take its place.
    """
    items: list[Item] = []
    judged: list[Candidate] = []
    left = section.max_chars
    for candidate in candidates:
        if candidate.verdict is not Verdict.KEPT:
            judged.append(candidate)
            continue
        if len(items) == section.limit:
            judged.append(candidate.dropped(Verdict.OVER_LIMIT))
            continue
        separator = len(section.separator) if items else 0
        text = section.render(candidate) if len(candidate.hit.text) <= _longest_source(section) else ""
        if not text or len(text) + separator > left:
            judged.append(candidate.dropped(Verdict.OVER_BUDGET))
            continue
        left -= len(text) + separator
        items.append(Item(candidate, text))
        judged.append(candidate)
    return items, judged


def render_block(*sections: tuple[Section, Sequence[Item]]) -> str:
    """The block with the sections that have items, in this order; an empty string when none has."""
    return fence.wrap(
        [
            f"{section.heading}\n{section.separator.join(item.text for item in items)}"
            for section, items in sections
            if items
        ]
    )


def memory_item(candidate: Candidate) -> str:
    """``- [category] text``; further lines of the text are indented, so that they stay inside their item."""
    text = candidate.hit.text
    written = _memory_text(text) if len(text) <= MAX_REMEMBERED_CHARS else _memory_text.__wrapped__(text)
    return f"- [{_category(candidate.category[:MAX_CATEGORY_CHARS])}] {written}"


@lru_cache(maxsize=2048)
def _memory_text(text: str) -> str:
    """The same memories come up again and again, and making one safe takes a dozen regular expressions."""
    text = fence.neutralise(text)
    return text if "\n" in text else text.removeprefix("- ")


@lru_cache(maxsize=256)
def _category(name: str) -> str:
    return fence.neutralise_line(name).replace("]", ")")


def experience_item(candidate: Candidate) -> str:
    """``### Experience: name`` and its five fields; ``Score`` is the backend's own."""
    return render_experience(candidate.hit)


def _longest_source(section: Section) -> int:
    """A text far longer than its section is not worth rendering to find out that it does not fit."""
    return 4 * section.max_chars + 10_000
