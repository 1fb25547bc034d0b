"""What a recall source is: where one kind of thing is searched for, what of it is shown, and how.

Everything else knows sources through `Sources` alone: the search, the block, stripping, the answer, trace and page.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from app.core.identity import Identity
from app.core.injection import markers
from app.core.messages.host_message import Messages
from app.core.recall.hits import Hit
from app.core.recall.text_pairs import KnownPair
from app.ports import Target
from app.recall.block import Section
from app.recall.decision import Decision
from app.recall.selection import Selection
from app.settings import Settings

CANDIDATES_PER_ITEM = 4
MIN_CANDIDATES = 12


@dataclass(frozen=True, slots=True)
class Asked:
    """What a source chooses for."""

    who: Identity
    query: str
    messages: Messages
    settings: Settings
    today: date
    personal: float | None = None
    """How likely the question is about who asks; None where nobody judged it."""
    read: KnownPair | None = None
    """What came of reading two texts together, where there is a model for it."""


class RecallSource(Protocol):
    """One kind of thing that is recalled. It decides and renders; it does no I/O and keeps no state."""

    @property
    def name(self) -> str:
        """Tells sources apart."""

    @property
    def section(self) -> Section:
        """Where its items stand.

        Sources may share one: their hits are then chosen from together, by the first of them that was registered.
        """

    @property
    def precedence(self) -> int:
        """When nothing is shown because searches failed, the failure of the highest one is the recall's reason."""

    def enabled(self, settings: Settings) -> bool:
        """Whether the settings want it at all."""

    def searches(self, decision: Decision, settings: Settings) -> Mapping[Target, int]:
        """The candidates to ask each target for; empty where the decision gives no reason to search."""

    def choose(self, asked: Asked, hits: Sequence[Hit]) -> Selection:
        """What of the hits is shown. They are those it asked for, best first by target."""


def candidates_for(limit: int) -> int:
    """How many candidates to ask for so that ``limit`` good ones are among them: ranking drops and reorders."""
    return max(limit * CANDIDATES_PER_ITEM, MIN_CANDIDATES)


class Sources:
    """The registered sources in the order of their sections in the block. Register before the service starts."""

    def __init__(self, *sources: RecallSource) -> None:
        self._sources: list[RecallSource] = []
        for source in sources:
            self.add(source)

    def __iter__(self) -> Iterator[RecallSource]:
        return iter(self._sources)

    def add(self, source: RecallSource) -> None:
        """Register a source behind the others. From now on its section is stripped, too."""
        if source.name in [other.name for other in self]:
            raise ValueError(f"a recall source {source.name!r} is registered already")
        self._sources.append(source)
        markers.declare(source.section.name, self.sections[source.section.name].markers)

    def remove(self, source: RecallSource) -> None:
        """Take a source out again (tests)."""
        self._sources.remove(source)
        if source.section.name not in self.sections:
            markers.withdraw(source.section.name)

    @property
    def sections(self) -> dict[str, Section]:
        """The sections by name, in the block's order."""
        found: dict[str, Section] = {}
        for source in self:
            found.setdefault(source.section.name, source.section)
        return found
