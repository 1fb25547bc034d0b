"""The turn store, and the worker that brings its turns to the backend."""

from contextlib import AsyncExitStack

from app.atrest.vault import Vault
from app.core.history.commit_policy import CommitRules
from app.observe.metrics import Metrics
from app.ports import (
    ContextBackend,
)
from app.recall.searches import Searches
from app.settings import Settings
from app.store.steps import WorkRules
from app.store.turns import SqlTurnStore, open_store
from app.worker.supervisor import Worker, WorkerSettings


async def open_turns(
    stack: AsyncExitStack, settings: Settings, call_s: float, vault: Vault, unnamed: str | None
) -> SqlTurnStore:
    """The turn store; a write of the backend takes ``call_s`` at the most. ``unnamed``: see `OpenedBackend`."""
    store = await open_store(
        settings.store_url,
        rules=_work_rules(settings, call_s),
        max_pending_bytes=settings.store.max_pending_bytes,
        tenant_share=settings.store.max_pending_share_per_tenant,
        keep_days=settings.store.keep_days,
        keep_audit_days=settings.audit.keep_days,
        vault=vault,
        unnamed=unnamed,
    )
    stack.push_async_callback(store.aclose)
    return store


def worker_of(
    settings: Settings, store: SqlTurnStore, backend: ContextBackend, searches: Searches, metrics: Metrics
) -> Worker:
    """What delivers its turns."""
    return Worker(
        store,
        backend,
        _worker_settings(settings),
        memories_changed=searches.memories_changed,
        on_doubled=metrics.on_doubled,
    )


def _work_rules(settings: Settings, call_s: float) -> WorkRules:
    capture, delivery = settings.capture, settings.delivery
    return WorkRules(
        lease_s=delivery.lease_ms / 1000,
        settle_s=delivery.settle_ms / 1000,
        call_s=min(call_s, delivery.lease_ms / 2000),
        commit=CommitRules(
            threshold_ratio=capture.commit_threshold_ratio,
            clear_ratio=capture.clear_threshold_ratio,
            keep_recent=capture.keep_recent,
            idle_seconds=capture.commit_idle_seconds,
            remember_interval_seconds=capture.remember_interval_seconds,
            automation_memory=capture.automation_memory,
            automation_experiences=settings.automation_teaches,
        ),
    )


def _worker_settings(settings: Settings) -> WorkerSettings:
    delivery = settings.delivery
    return WorkerSettings(
        concurrency=delivery.concurrency,
        backoff_s=delivery.backoff_ms / 1000,
        longest_backoff_s=delivery.max_backoff_ms / 1000,
        give_up_tries=delivery.give_up_tries,
        give_up_s=delivery.give_up_ms / 1000,
    )
