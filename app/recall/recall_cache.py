"""What a recall came to, kept for the next equal one: hosts ask several times in a turn, and retry whole turns.

A recall is equal when the same one asks with the same messages; what was chosen serves again only for the same hits of
the same day. Everything else that a decision depends on (settings, sources) stays as it is while the process runs.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from app.core.identity import Identity
from app.core.recall.hits import Hit
from app.engine.results import AssembleInput
from app.ports import Target
from app.recall.decision import Decision
from app.recall.selection import Selection

MAX_ENTRIES = 64

Hits = Mapping[Target, tuple[Hit, ...]]


@dataclass(slots=True)
class Known:
    """What is known of one recall already."""

    decision: Decision | None = None
    chosen: Sequence[Selection] = ()
    block: str = ""
    _hits: Hits = field(default_factory=dict)
    _day: date | None = None

    def keep(self, hits: Hits, day: date, chosen: Sequence[Selection], block: str) -> None:
        """Remember what was chosen from ``hits``."""
        self._hits, self._day, self.chosen, self.block = hits, day, chosen, block

    def serves(self, hits: Hits, day: date) -> bool:
        """Whether ``chosen`` and ``block`` are what these hits come to on that day."""
        known = self._hits
        return day == self._day and known.keys() == hits.keys() and all(known[t] is hits[t] for t in hits)


class RecallCache:
    """The recalls of one process that were made last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], Known] = OrderedDict()

    def of(self, who: Identity, asked: AssembleInput) -> Known:
        """What is known of this recall; whatever is added to it is known the next time."""
        key = (
            who,
            asked.prompt,
            asked.trigger_hint,
            asked.subject is None,
            asked.skill,
            asked.scope.automation,
            asked.only,
            asked.bypassed,
            tuple([message.json for message in asked.messages]),
        )
        known = self._kept.get(key)
        if known is None:
            known = self._kept[key] = Known()
            if len(self._kept) > MAX_ENTRIES:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return known
