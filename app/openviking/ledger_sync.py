"""Bringing files and ledger in step, both ways: what was decided here to the server, what it wrote by itself here."""

import time
from collections.abc import Callable, Collection
from functools import partial
from weakref import WeakValueDictionary

import anyio
import structlog

from app.core.deadline import Clock, Deadline
from app.core.identity import Tenant
from app.openviking import adopting
from app.openviking.file_statements import edited
from app.openviking.ledger_changes import refused, settled_by
from app.openviking.ledger_entries import Step, steps_of
from app.openviking.recall import withholding_of
from app.openviking.remote_files import RemoteFiles, without_fields
from app.ports import BackendError, LedgerEntry, LedgerRows, MemoryLedger

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 1.0
"""The listing of a tenant's files serves for so long, or longer:"""
LOOK_SHARE = 0.05
"""Looking takes at most this share of the time, so that a tenant of many files is not looked at all the time."""
AT_ONCE = 4
"""Files written at the same time: the server indexes each before it answers."""
MAX_TENANTS = 10_000
"""Whose last look is remembered."""
MAX_NAMED = 5
"""Files that a receipt names."""
Left = tuple[str, str]
"""A place where a text still stands, and why."""


class LedgerSync:
    """The ledger and the server, brought in step by tenant."""

    def __init__(self, ledger: MemoryLedger, files: RemoteFiles, monotonic: Clock = time.monotonic) -> None:
        self._ledger = ledger
        self._files = files
        self._monotonic = monotonic
        self._locks: WeakValueDictionary[tuple[str, Tenant, str], anyio.Lock] = WeakValueDictionary()
        self._look_at: dict[Tenant, float] = {}

    async def settle(self, tenant: Tenant, memory_ids: Collection[str], deadline: Deadline) -> bool:
        """Do on the server what is to be done for these memories; whether all of it is done.

        A server that is away is no error: it is tried again, see `settle_all`.
        """
        places = anyio.CapacityLimiter(AT_ONCE)
        failures: list[BackendError] = []

        async def settle(memory_id: str) -> None:
            async with places:
                if failures:
                    return
                try:
                    await self._settle(tenant, memory_id, deadline)
                except BackendError as error:
                    failures.append(error)

        async with anyio.create_task_group() as group:
            for memory_id in memory_ids:
                group.start_soon(settle, memory_id)
        return not failures

    async def settle_all(self, tenant: Tenant, deadline: Deadline) -> None:
        """Do all that is to be done for a tenant, the oldest first. Raises `BackendError` when the server is away."""
        for entry in await self._ledger.notable(tenant):
            if not entry.settled:
                await self._settle(tenant, entry.memory_id, deadline)

    async def _settle(self, tenant: Tenant, memory_id: str, deadline: Deadline) -> None:
        async with self._lock("entry", tenant, memory_id):
            entry = await self._ledger.by_id(tenant, memory_id)
            if entry is None or entry.settled:
                return
            steps = steps_of(entry)
            try:
                for step in steps:
                    async with self._lock("file", tenant, step.uri):
                        await self._take(tenant, step, deadline)
            except BackendError as error:
                if error.retryable:
                    raise
                log.error("memory_refused", memory=memory_id)
                await self._put_back(tenant, memory_id, partial(refused, why=error.detail))
            else:
                await self._put_back(tenant, memory_id, partial(settled_by, done=steps))

    async def _take(self, tenant: Tenant, step: Step, deadline: Deadline) -> None:
        if not step.was:
            await self._put(tenant, step.uri, step.text, deadline)
            return
        raw = await self._files.raw(tenant, step.uri, deadline)
        if raw is None:
            return
        text, fields = without_fields(raw)
        after = edited(step.uri, text, step.was, step.text)
        if after != text:
            await self._put(tenant, step.uri, after + fields if after else None, deadline)

    async def _put(self, tenant: Tenant, uri: str, text: str | None, deadline: Deadline) -> None:
        if text is None:
            await self._files.delete(tenant, uri, deadline)
        else:
            await self._files.write(tenant, uri, text, deadline)

    async def _put_back(self, tenant: Tenant, memory_id: str, after: Callable[[LedgerEntry], LedgerEntry]) -> None:
        def write(rows: LedgerRows) -> None:
            if entry := rows.by_id(memory_id):
                rows.put(after(entry))

        await self._ledger.changing(tenant, write)

    async def look(self, tenant: Tenant, deadline: Deadline) -> None:
        """Bring into the ledger what OpenViking has written or taken away by itself.

        A server that is away is no error: the ledger knows what was there.
        """
        async with self._lock("look", tenant, ""):
            began = self._monotonic()
            if began < self._look_at.get(tenant, float("-inf")):
                return
            known = await self._ledger.places(tenant)
            try:
                listing = await self._files.listing(tenant, deadline)
                found = adopting.differences(known, listing)
                texts = await self._files.texts(tenant, found.unread, deadline)
            except BackendError as error:
                if not error.retryable:
                    raise
                return
            read = {uri: (listing[uri], text) for uri, text in texts.items()}
            if read or found.missing:
                take_in = partial(
                    adopting.take_in,
                    known=known,
                    missing=found.missing,
                    read=read,
                    withholding=withholding_of(tenant, await self._ledger.notable(tenant)),
                )
                await self._ledger.changing(tenant, take_in)
            if len(self._look_at) > MAX_TENANTS:
                self._look_at.clear()
            ended = self._monotonic()
            self._look_at[tenant] = ended + max(LOOK_EVERY_S, (ended - began) / LOOK_SHARE)

    async def left_of(self, tenant: Tenant, memory_id: str, text: str, deadline: Deadline) -> list[Left]:
        """Where a text that was forgotten still stands on the server, as far as it tells."""
        entry = await self._ledger.by_id(tenant, memory_id)
        if entry and not entry.settled:
            return [(step.uri, "OpenViking did not answer; it is deleted when it does") for step in steps_of(entry)]
        try:
            found = await self._files.holding(tenant, text, deadline)
        except BackendError:
            return [("OpenViking's files", "OpenViking did not answer when it was asked where the text still stands")]
        why = "OpenViking has it there in words of its own files; it is not recalled"
        return [(uri, why) for uri in found[:MAX_NAMED]]

    def _lock(self, what: str, tenant: Tenant, name: str) -> anyio.Lock:
        return self._locks.setdefault((what, tenant, name), anyio.Lock())
