"""Noting who does what with which memory; see `app.core.memories.audit`."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

import anyio

from app.core.deadline import Deadline
from app.core.identity import NO_SESSION, Identity, Tenant
from app.core.memories.audit import Action, Actor, AuditEntry, Written
from app.observe.context import request_id, token_name
from app.ports import BackendError
from app.text.dates import iso

if TYPE_CHECKING:
    from app.engine.memories.collaborators import Memories

MAX_PENDING = 1_000
"""Recalls that wait to be noted; the oldest go when the store can not keep up."""
GATHER_S = 0.2
"""How long recalls are gathered: their ids are looked up together, which is most of what noting them costs."""
LOOK_UP_MS = 5_000


class AuditTrail(Protocol):
    """Where entries are kept; see `app.store.audit_rows`."""

    async def add(self, tenant: Tenant, entries: Sequence[AuditEntry]) -> None:
        """Put entries on disk. Raises `StoreUnavailable`."""

    def add_soon(self, tenant: Tenant, entries: Sequence[AuditEntry]) -> None:
        """Put entries on disk behind the answer."""


@dataclass(frozen=True, slots=True)
class Audit:
    """Notes what a request does. Without a ``trail`` nothing is noted: what a use case looks at for itself."""

    trail: AuditTrail | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def wrote(self, who: Identity, action: Action, ids: Iterable[str]) -> None:
        """These memories were written, changed, forgotten or taken out; on disk when it returns."""
        if self.trail and (entries := self._entries(who, action, ids)):
            await self.trail.add(who.tenant, entries)

    def read(self, who: Identity, ids: Iterable[str]) -> None:
        """These memories were shown."""
        if self.trail and (entries := self._entries(who, Action.READ, ids)):
            self.trail.add_soon(who.tenant, entries)

    def engine_wrote(self, tenant: Tenant, written: Written) -> None:
        """The engine wrote these: no request did, and its session may long have ended."""
        if self.trail:
            at, actor = iso(self.now()), Actor(session=written.session)
            by_action = {Action.STORED: written.stored, Action.CHANGED: written.changed}
            entries = [AuditEntry(at, action, one, actor) for action, ids in by_action.items() for one in ids]
            self.trail.add_soon(tenant, entries)

    def _entries(self, who: Identity, action: Action, ids: Iterable[str]) -> list[AuditEntry]:
        actor = _actor(who, token_name())
        at, request = iso(self.now()), request_id()
        return [AuditEntry(at, action, one, actor, request) for one in dict.fromkeys(ids)]


def _actor(who: Identity, token: str | None) -> Actor:
    session = who.session if who.session != NO_SESSION else ""
    return Actor(token, who.agent or None, session or None)


NOT_AUDITED = Audit()
"""For what a use case looks at for itself."""


class _Recalled(NamedTuple):
    """What one recall put into a prompt."""

    who: Identity
    token: str | None
    """The name of the token that came with it."""
    request: str | None
    trace_id: str
    uris: tuple[str, ...]
    at: datetime


class RecallAudit:
    """Notes what recalls put into prompts, behind the answers: a recall knows URIs, and the store of memories ids."""

    def __init__(self, memories: "Memories") -> None:
        self._memories = memories
        self._pending: deque[_Recalled] = deque(maxlen=MAX_PENDING)
        self._woken = anyio.Event()
        self._writing = anyio.Lock()

    def add(self, who: Identity, trace_id: str, uris: Sequence[str]) -> None:
        """Note a recall soon."""
        at = self._memories.audit.now()
        self._pending.append(_Recalled(who, token_name(), request_id(), trace_id, tuple(uris), at))
        self._woken.set()

    async def run(self) -> None:
        """Note recalls until cancelled, those of a while together."""
        while True:
            await self._woken.wait()
            await anyio.sleep(GATHER_S)
            self._woken = anyio.Event()
            await self.flush()

    async def flush(self) -> None:
        """Note those so far. What has no id any more, or can not be asked for, is left out: a URI may tell a text."""
        async with self._writing:
            by_tenant: defaultdict[Tenant, list[_Recalled]] = defaultdict(list)
            while self._pending:
                recalled = self._pending.popleft()
                by_tenant[recalled.who.tenant].append(recalled)
            for tenant, recalls in by_tenant.items():
                await self._note(tenant, recalls)

    async def _note(self, tenant: Tenant, recalls: Sequence[_Recalled]) -> None:
        uris = list(dict.fromkeys(uri for one in recalls for uri in one.uris))
        try:
            ids = await self._memories.store.ids(recalls[0].who, uris, Deadline.after_ms(LOOK_UP_MS))
        except BackendError:
            return
        entries = [
            AuditEntry(iso(one.at), Action.RECALLED, named, _actor(one.who, one.token), one.request, one.trace_id)
            for one in recalls
            for named in dict.fromkeys(ids[uri] for uri in one.uris if uri in ids)
        ]
        if self._memories.audit.trail and entries:
            self._memories.audit.trail.add_soon(tenant, entries)
