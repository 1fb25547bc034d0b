"""Recall by the ledger: what OpenViking finds, without what must not be shown any more (`app.openviking.notable`)."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.identity import Tenant
from app.core.memories.withholding import Withholding
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import RecallFilter
from app.errors import StoreUnavailable
from app.openviking.ledger_entries import is_own
from app.openviking.notable import Notable, said_again, says_withheld, withhold
from app.openviking.remote_files import canonical
from app.ports import BackendError, LedgerEntry, LedgerRows, MemoryLedger
from app.text.dates import iso, moment_of

MAX_TENANTS = 256
"""Tenants whose notable entries are kept in memory."""


def withholding_of(tenant: Tenant, entries: Sequence[LedgerEntry] = ()) -> Withholding:
    """What these entries withhold. The hashes of two tenants do not compare."""
    name = f"{tenant.account or ''}\n{tenant.user or ''}"
    withholding = Withholding(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=32).digest())
    for entry in entries:
        withhold(withholding, entry)
    return withholding


@contextmanager
def told_of_the_store() -> Iterator[None]:
    """A store that is away as the one error of the backend port."""
    try:
        yield
    except StoreUnavailable as error:
        detail = "the sidecar's store does not tell what may be shown"
        raise BackendError(Reason.OPENVIKING_UNAVAILABLE, detail, retryable=True) from error


class LedgerRecall:
    """Knows by tenant what recall must not show as the server has it, and asks the ledger only whether that changed."""

    def __init__(self, ledger: MemoryLedger, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._ledger = ledger
        self._clock = now
        self._kept: OrderedDict[Tenant, Notable] = OrderedDict()

    async def notable(self, tenant: Tenant) -> Notable:
        """The tenant's entries that are not plain; the last known ones while the sidecar's store is away.

        Raises `StoreUnavailable` when none are known: nothing is shown that may be forgotten.
        """
        kept = self._kept.get(tenant)
        try:
            version = await self._ledger.version(tenant)
            if kept is None or kept.version != version:
                entries = await self._ledger.notable(tenant)
                kept = Notable(version, entries, withholding_of(tenant))
        except StoreUnavailable:
            if kept is None:
                raise
        self._kept[tenant] = kept
        self._kept.move_to_end(tenant)
        if len(self._kept) > MAX_TENANTS:
            self._kept.popitem(last=False)
        return kept

    async def shown(self, tenant: Tenant, hits: Sequence[Hit]) -> list[Hit]:
        """The hits as they may be shown, in their order."""
        if not hits:
            return []
        with told_of_the_store():
            notable = await self.notable(tenant)
            if not notable.entries:
                return list(hits)
            now = iso(self._clock())
            judged = [(hit, notable.shown(hit, now)) for hit in hits]
            suspect = [canonical(hit.uri) for hit, shown in judged if shown is None or shown.text != hit.text]
            plain = await self._plain_own(tenant, suspect)
        found = [(hit if canonical(hit.uri) in plain else shown) for hit, shown in judged]
        return [hit for hit in found if hit is not None]

    async def within(self, tenant: Tenant, hits: Sequence[Hit], only: RecallFilter) -> list[Hit]:
        """The hits of the period, by the times that the ledger knows: to the server an import is new. What the ledger
        does not know yet has the date in its URI, or is new."""
        with told_of_the_store():
            known = await self._ledger.by_uri(tenant, {canonical(hit.uri) for hit in hits})
        now = iso(self._clock())

        def times(hit: Hit) -> list[str]:
            return [entry.created_at for entry in known.get(canonical(hit.uri), ())] or [hit.updated_at or now]

        return [hit for hit in hits if any(only.admits(hit.category, at) for at in times(hit))]

    async def _plain_own(self, tenant: Tenant, uris: Sequence[str]) -> set[str]:
        """Those of these files that hold a memory that was stored on purpose and has nothing about it."""
        found = await self._ledger.by_uri(tenant, uris)
        return {uri for uri, entries in found.items() if any(one.plain and is_own(one) for one in entries)}

    async def heard(self, tenant: Tenant, messages: Sequence[CapturedMessage]) -> None:
        """Withhold no more what a user has said again since it was changed or forgotten: it is meant."""
        with told_of_the_store():
            await self._heard(tenant, messages)

    async def _heard(self, tenant: Tenant, messages: Sequence[CapturedMessage]) -> None:
        notable = await self.notable(tenant)
        if not any(entry.fields.get("withheld") for entry in notable.entries):
            return
        texts = {
            part.text: iso(moment)
            for message in messages
            if message.role == "user" and (moment := moment_of(message.created_at))
            for part in message.parts
            if isinstance(part, TextPart) and says_withheld(notable.withholding, part.text)
        }
        if not texts:
            return
        ids = [entry.memory_id for entry in notable.entries if entry.fields.get("withheld")]

        def lift(rows: LedgerRows) -> None:
            for memory_id in ids:
                if entry := rows.by_id(memory_id):
                    rows.put(said_again(entry, texts, notable.withholding))

        await self._ledger.changing(tenant, lift)
