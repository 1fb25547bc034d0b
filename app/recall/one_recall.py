"""One recall as it comes about, and its block in the host's messages."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.core.history.guards.cuts import GuardNote
from app.core.injection.inject import Injected, Mode, after_result, inject
from app.core.messages.host_message import tokens_of
from app.core.messages.tokens import estimate_tokens
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, RecallFilter
from app.engine.results import AssembleInput
from app.ports import Target
from app.recall.block import render_block
from app.recall.decision import Decision
from app.recall.recall_cache import Known
from app.recall.selection import Selection, within_tokens

_DEGRADED = frozenset({"stale", "waiting"})
"""Ways of hits that stand in for the backend's answer."""


@dataclass(frozen=True, slots=True)
class Searched:
    """One target's outcome. ``how`` says how the hits came, or the reason code of the failure."""

    target: Target
    hits: tuple[Hit, ...]
    how: str
    ms: float
    failure: Reason | None = None

    @property
    def degraded(self) -> str | None:
        """The target and what was wrong, where the search failed or an old answer stood in."""
        return f"{self.target.value}:{self.how}" if self.failure or self.how in _DEGRADED else None


_UNDECIDED = Decision()


@dataclass(slots=True)
class Recall:
    """One recall as it comes about. ``steps`` holds the milliseconds of each.

    It is kept until its trace is written, so it holds nothing of the conversation.
    """

    mode: Mode
    known: Known
    large: bool = False
    """Whether the messages are read in a thread."""
    decision: Decision = _UNDECIDED
    searched: Sequence[Searched] = ()
    chosen: Sequence[Selection] = ()
    block: str = ""
    reason: Reason = Reason.NO_RECALL_HITS
    only: RecallFilter = ANY
    guards: tuple[GuardNote, ...] = ()
    steps: dict[str, float] = field(default_factory=dict)

    def shorten(self, tokens: int) -> None:
        """Keep of what was chosen what takes at most so many tokens."""
        self.chosen = within_tokens(self.chosen, tokens)
        self.block = render_block(*((selection.section, selection.items) for selection in self.chosen))

    @property
    def degraded(self) -> tuple[str, ...]:
        """The searches that failed or came from an old answer, and how."""
        return tuple(one.degraded for one in self.searched if one.degraded)


def placed(recall: Recall, asked: AssembleInput) -> Injected:
    """The messages with the block where it goes; its best items alone where there is no room for all of them."""
    found = _injected(recall, asked)
    if asked.room is None:
        return found
    most, limit = tokens_of(asked.messages) + asked.room, estimate_tokens(recall.block)
    while (excess := found.tokens + estimate_tokens(found.beside) - most) > 0 and (
        recall.block or recall.decision.note
    ):
        if recall.block:
            limit -= excess
            recall.shorten(limit)
        else:
            recall.decision = replace(recall.decision, note="")
        if not recall.block and not recall.decision.note and recall.reason is Reason.OK:
            recall.reason = Reason.NO_RECALL_HITS
        found = _injected(recall, asked)
    return found


def _injected(recall: Recall, asked: AssembleInput) -> Injected:
    if asked.subject:
        return after_result(asked.messages, recall.block, recall.mode)
    return inject(asked.messages, recall.block, recall.decision.note, recall.mode, recall.decision.query)
