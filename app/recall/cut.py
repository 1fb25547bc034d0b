"""Where a list of found memories ends: where recall would end it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from app.core.memories.memory import ScoredMemory
from app.core.recall.hits import Hit
from app.core.recall.trace import Verdict
from app.recall.ranking import Policy, rank
from app.settings import Settings


def recallable(settings: Settings, query: str, found: Sequence[ScoredMemory]) -> list[ScoredMemory]:
    """Those that recall would show for the query, best first, with the scores that it goes by.

    What each may show to whom was decided by who asked; what recall limits for the prompt's sake (how many, how long)
    is no matter here.
    """
    rules = settings.recall
    policy = Policy(
        threshold=rules.score_threshold,
        relative_cut=rules.relative_cut,
        eased=True,
        mmr_lambda=rules.mmr_lambda,
        half_life_days=rules.half_life_days,
        today=datetime.now(UTC).date(),
    )
    by_uri = {one.memory.uri: one for one in found}
    hits = [_hit(one) for one in by_uri.values()]
    kept = [one for one in rank(hits, query, policy) if one.verdict is Verdict.KEPT]
    return [replace(by_uri[one.hit.uri], score=round(one.score, 4)) for one in kept]


def _hit(one: ScoredMemory) -> Hit:
    memory = one.memory
    return Hit(memory.uri, memory.text, one.score, category=memory.category, updated_at=memory.created_at)
