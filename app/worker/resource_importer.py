"""Carrying imports out: taken up one after the other, a few at once, again after a failure or a crash."""

import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import anyio
import structlog

from app.atrest.vault import PLAIN, Vault
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.reasons import Reason
from app.documents.resource import ImportTask, Status
from app.errors import StoreUnavailable
from app.local.processes import this_process
from app.ports import BackendError, NewResource, ResourceStore
from app.store.resource_imports import LEASE_S, Claimed, SqlResourceImports
from app.worker.backoff import Backoff

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 1.0
"""Longest sleep: other processes accept imports, and die, without waking this one."""
POLL_S = 0.25
"""How often a caller that waits looks whether another process has ended the import."""
PUT_S = 900.0
"""Longest time that one import may take to be taken in."""
MAX_ATTEMPTS = 30
"""After so many failures an import is tried again more slowly,"""
SLOW_S = 60.0
"""at most so often,"""
GIVE_UP_S = 86_400.0
"""and from this age on not at all: an outage may take that long, and what never works must end."""
ABANDONED_S = 3_600.0
"""From this age on a file that no import knows was left by a process that died while it read."""


class ResourceImporter:
    """Brings accepted imports into the backend. ``changed`` is told of each tenant with news."""

    def __init__(
        self,
        store: ResourceStore,
        imports: SqlResourceImports,
        incoming: Path,
        changed: Callable[[Tenant], None],
        backoff: Backoff,
        at_once: int,
        vault: Vault = PLAIN,
    ) -> None:
        self._store = store
        self._imports = imports
        self._incoming = incoming
        self._vault = vault
        self._changed = changed
        self._backoff = backoff
        self._places = anyio.CapacityLimiter(at_once)
        self._owner = this_process()
        self._work = anyio.Event()
        self._ends: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)
        imports.on_work = self.wake

    def wake(self) -> None:
        """There may be something to carry out."""
        self._work.set()

    def drop(self, spool: str) -> None:
        """Delete a spool; a removal has none."""
        if spool:
            (self._incoming / spool).unlink(missing_ok=True)

    async def ended(self, tenant: Tenant, task_id: str, deadline: Deadline) -> ImportTask | None:
        """The import once it has ended, or as it is at the deadline; None when there is none."""
        event = self._ends[task_id]
        try:
            while True:
                task = await self._imports.get(tenant, task_id)
                if task is None or task.resource.status is not Status.PROCESSING or deadline.expired:
                    return task
                with anyio.move_on_after(min(POLL_S, deadline.remaining)):
                    await event.wait()
        finally:
            self._ends.pop(task_id, None)

    async def run(self) -> None:
        """Carry imports out until cancelled."""
        await self._sweep()
        async with anyio.create_task_group() as group:
            while True:
                self._work = anyio.Event()
                claimed = await self._next()
                if claimed:
                    group.start_soon(self._carried_out, claimed)
                    continue
                with anyio.move_on_after(LOOK_EVERY_S):
                    await self._work.wait()

    async def _next(self) -> Claimed | None:
        if self._places.available_tokens < 1:
            return None
        try:
            claimed = await self._imports.claim(self._owner, lambda spool: (self._incoming / spool).exists())
        except StoreUnavailable:
            log.error("store_unavailable")
            return None
        if claimed:
            self._places.acquire_on_behalf_of_nowait(claimed.task.task_id)
        return claimed

    async def _carried_out(self, claimed: Claimed) -> None:
        task_id = claimed.task.task_id
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._held, task_id)
                await self._tried(claimed)
                group.cancel_scope.cancel()
        finally:
            self._places.release_on_behalf_of(task_id)
            self.wake()
            if task_id in self._ends:
                self._ends[task_id].set()

    async def _held(self, task_id: str) -> None:
        while True:
            await anyio.sleep(LEASE_S / 3)
            try:
                await self._imports.hold(task_id, self._owner)
            except StoreUnavailable:
                log.error("store_unavailable")

    async def _tried(self, claimed: Claimed) -> None:
        try:
            if await self._settled(claimed, await self._failure(claimed)):
                self.drop(claimed.spool)
            self._changed(claimed.tenant)
        except StoreUnavailable:
            log.error("store_unavailable")  # the lease runs out, and it is taken in again

    async def _failure(self, claimed: Claimed) -> BackendError | None:
        """Carry it out; what kept it from being."""
        who, deadline, resource = _operator(claimed.tenant), Deadline.after_ms(PUT_S * 1000), claimed.task.resource
        try:
            if claimed.is_removal:
                await self._store.remove(who, resource.path, deadline)
            else:
                await self._store.put(who, NewResource(resource, self._incoming / claimed.spool, self._vault), deadline)
        except BackendError as error:
            return error
        except Exception:  # a bug ends this one, and not those beside it
            log.exception("unexpected_error", task=claimed.task.task_id)
            return BackendError(Reason.BACKEND_UNAVAILABLE, "an unexpected error; the log says more", retryable=True)
        return None

    async def _settled(self, claimed: Claimed, failure: BackendError | None) -> bool:
        """Note how it went; whether it has ended, so that its spool is not needed any more."""
        if failure is None:
            return await self._imports.end(claimed, self._owner, Status.READY)
        is_slow = claimed.attempts >= MAX_ATTEMPTS
        if failure.retryable and not (is_slow and claimed.age_s >= GIVE_UP_S):
            pause = max(self._backoff.after_failure(claimed.attempts, failure), SLOW_S if is_slow else 0.0)
            await self._imports.put_off(claimed, self._owner, pause, failure.detail)
            return False
        log.error("import_failed", task=claimed.task.task_id, reason=str(failure.reason))
        return await self._imports.end(claimed, self._owner, Status.FAILED, failure.detail)

    async def _sweep(self) -> None:
        """Delete what processes left that died while they read."""
        try:
            known = await self._imports.spools()
        except StoreUnavailable:
            return
        before = time.time() - ABANDONED_S

        def swept() -> None:
            for file in self._incoming.glob("*.jsonl"):
                if file.name not in known and file.stat().st_mtime < before:
                    file.unlink(missing_ok=True)

        await anyio.to_thread.run_sync(swept)


def _operator(tenant: Tenant) -> Identity:
    return Identity(tenant, "", None, "", None, PeerRole.NONE)
