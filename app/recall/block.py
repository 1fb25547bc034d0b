"""The injected block, byte for byte as the contract has it. Its bytes depend on its content alone (prompt caches)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.core.injection import fence
from app.core.recall.trace import Verdict
from app.recall.ranking import Candidate, Policy


class Item(NamedTuple):
    """A candidate as it stands in the block."""

    candidate: Candidate
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """How a section of the block is written, and how it is known again when the block is stripped."""

    name: str
    """In answers and traces."""
    title: str
    """On the page, for people."""
    frame: tuple[str, ...]
    """The lines above the items: a heading, and how the model is to take them; none where an item has its own."""
    render: Callable[[Candidate], str]
    """An item as text. All that is not the source's own passes `fence.neutralise` or `neutralise_line`."""
    separator: str = "\n"
    """Between two items."""
    former_frame: tuple[str, ...] = ()
    """Beginnings of lines that stood above the items once: they may still come back in a host's history."""

    @property
    def markers(self) -> tuple[str, ...]:
        """The lines by which half a section is known again; no item may begin a line with one."""
        return tuple(line for line in (*self.frame, *self.former_frame) if line)


def fit(candidates: Sequence[Candidate], section: Section, policy: Policy) -> tuple[list[Item], list[Candidate]]:
    """What goes into a section: items in order, whole or not at all; and all candidates with their final verdicts.

    An item that does not fit is left out and a shorter one behind it may take its place.
    """
    items: list[Item] = []
    judged: list[Candidate] = []
    left = policy.max_chars
    for candidate in candidates:
        if candidate.verdict is not Verdict.KEPT:
            judged.append(candidate)
            continue
        if len(items) == policy.limit:
            judged.append(candidate.dropped(Verdict.OVER_LIMIT))
            continue
        separator = len(section.separator) if items else 0
        text = section.render(candidate) if len(candidate.hit.text) <= _longest_source(policy) else ""
        if not text or len(text) + separator > left:
            judged.append(candidate.dropped(Verdict.OVER_BUDGET))
            continue
        left -= len(text) + separator
        items.append(Item(candidate, text))
        judged.append(candidate)
    return items, judged


def render_block(*sections: tuple[Section, Sequence[Item]]) -> str:
    """The block with the sections that have items, in this order; an empty string when none has."""
    return fence.wrap([_written(section, items) for section, items in sections if items])


def _written(section: Section, items: Sequence[Item]) -> str:
    return "\n".join([*section.frame, section.separator.join([item.text for item in items])])


def _longest_source(policy: Policy) -> int:
    """A text far longer than its section is not worth rendering to find out that it does not fit."""
    return 4 * policy.max_chars + 10_000
