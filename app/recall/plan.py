"""Which sources apply to a question, what is searched for them, and what each chooses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.ports import Target
from app.recall.decision import Decision
from app.recall.selection import Selection
from app.recall.source import Asked, RecallSource
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Part:
    """A source that applies, and the candidates that it asks each target for."""

    source: RecallSource
    searches: Mapping[Target, int]

    def hits(self, found: Mapping[Target, Sequence[Hit]]) -> list[Hit]:
        """Its hits: of each target no more than it asked for, whatever another source asked the same target for."""
        return [hit for target, most in self.searches.items() for hit in found.get(target, ())[:most]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts in the order of the registry."""

    parts: Sequence[Part] = ()

    @property
    def targets(self) -> dict[Target, int]:
        """What to search: each target once, with the most candidates that a source asks it for."""
        wanted: dict[Target, int] = {}
        for part in self.parts:
            for target, most in part.searches.items():
                wanted[target] = max(most, wanted.get(target, 0))
        return wanted

    def choose(self, asked: Asked, found: Mapping[Target, Sequence[Hit]]) -> list[Selection]:
        """A selection for each section that was searched for, in the block's order."""
        by_section: dict[str, list[Part]] = {}
        for part in self.parts:
            by_section.setdefault(part.source.section.name, []).append(part)
        return [
            parts[0].source.choose(asked, [hit for part in parts for hit in part.hits(found)])
            for parts in by_section.values()
        ]

    def why_nothing(self, failures: Mapping[Target, Reason]) -> Reason:
        """Why nothing is shown: nothing was found, or the search that failed might have found it."""
        for part in sorted(self.parts, key=lambda part: -part.source.precedence):
            for target in part.searches:
                if target in failures:
                    return failures[target]
        return Reason.NO_RECALL_HITS


def plan_for(sources: Iterable[RecallSource], decision: Decision, settings: Settings) -> Plan:
    """The sources that have something to search for for this decision."""
    enabled = [source for source in sources if source.enabled(settings)]
    parts = [Part(source, source.searches(decision, settings)) for source in enabled]
    return Plan([part for part in parts if part.searches])
