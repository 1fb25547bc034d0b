"""Carrying a forgetting out: in the backend, the store, the traces and what is in memory; then looking at all of it.

It is noted on disk before the first thing is removed, and goes on after a crash or an outage until it is done.
"""

import secrets
from base64 import b32encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

import anyio

from app.atrest.residue import MAX_NEEDLES, Needles
from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.memories.audit import Action
from app.core.memories.forget_selection import Erased, Forgetting, Redactor
from app.core.memories.memory_outcomes import Kept, Receipt, Selected
from app.core.recall.trace import RecallTrace
from app.engine.memories.collaborators import Memories, operator_of, told_to_the_caller
from app.errors import BackendTrouble
from app.store.erased_rows import SqlErasing, StoreErased
from app.store.traces import TraceStore

GO_ON_MS = 120_000
"""Longest try of a forgetting whose caller has had its answer."""
AWAY_MS = 1_000
"""Longest wait for a backend that could not be told of the memory just now."""
_TRACES_LEFT = Kept("recall traces", "they were written to meanwhile; forget it again")
_AWAY = Erased(kept=(Kept("the backend", "it does not answer; what it was told of it goes when it does"),))


def new_receipt_id() -> str:
    """``f_`` and 26 letters and digits."""
    return f"f_{b32encode(secrets.token_bytes(16)).decode().rstrip('=').lower()}"


@dataclass(slots=True)
class EraseEverywhere:
    """Forgets in every place that keeps something. ``in_memory`` are told what to drop."""

    memories: Memories
    erasing: SqlErasing
    traces: TraceStore
    in_memory: tuple[Callable[[Redactor], None], ...] = ()
    on_left: Callable[[], None] = lambda: None
    """Told when something is left to be gone on with."""
    _under_way: set[str] = field(default_factory=set)
    _going_on: anyio.Lock = field(default_factory=anyio.Lock)

    async def look(self, who: Identity, forgetting: Forgetting, deadline: Deadline, *, waits: bool = False) -> Receipt:
        """What would be forgotten. Raises `BackendTrouble`, `StoreUnavailable`. ``waits`` as with `run`."""
        here = await self.erasing.look(who.tenant, forgetting)
        forgetting = replace(forgetting, turns=here.selected)
        try:
            with told_to_the_caller():
                within = deadline.within_ms(AWAY_MS) if waits else deadline
                there = await self.memories.store.erase(who, forgetting, within, dry_run=True)
        except BackendTrouble as trouble:
            if not waits or trouble.status < 500:
                raise
            there = _AWAY
        traces = await self.traces.erase(who.account_key, _takes(forgetting, there, here), dry_run=True)
        receipt = _receipt(new_receipt_id(), forgetting, there, here, traces)
        return replace(receipt, kept=there.kept, dry_run=True)

    async def run(self, who: Identity, forgetting: Forgetting, deadline: Deadline, *, waits: bool = False) -> Receipt:
        """What was forgotten. Raises `BackendTrouble`, `StoreUnavailable`: then it goes on in the background.

        ``waits``: the backend does not have it yet, so that one that is away is named in the receipt and looked into
        later.
        """
        here = await self.erasing.look(who.tenant, forgetting)
        planned = await self._planned(who, forgetting, deadline)
        forgetting = replace(forgetting, turns=here.selected, sessions=planned.sessions)
        id_ = new_receipt_id()
        self._under_way.add(id_)
        try:
            await self.erasing.begin(id_, who.tenant, forgetting)
            receipt = await self._as_far_as_it_goes(id_, who, forgetting, deadline, waits=waits)
            await self.memories.audit.wrote(who, Action.FORGOTTEN, (one.id for one in receipt.selected))
            return receipt
        except BaseException:
            self.on_left()
            raise
        finally:
            self._under_way.discard(id_)

    async def go_on(self) -> None:
        """Carry out what a crash, an outage or a late caller has left. Raises `BackendError`, `StoreUnavailable`."""
        async with self._going_on:
            for id_, tenant, forgetting in await self.erasing.unfinished():
                if id_ not in self._under_way:
                    await self._gone_on_with(id_, operator_of(tenant), forgetting)

    async def _gone_on_with(self, id_: str, who: Identity, forgetting: Forgetting | None) -> None:
        self._under_way.add(id_)
        try:
            if forgetting is None:
                await self._cleaned(id_, Needles(()))
            else:
                await self._carried_out(id_, who, forgetting, Deadline.after_ms(GO_ON_MS))
        finally:
            self._under_way.discard(id_)

    async def _carried_out(self, id_: str, who: Identity, forgetting: Forgetting, deadline: Deadline) -> Receipt:
        """The backend first: what it has left of its summaries is what the store keeps of them."""
        there = await self.memories.store.erase(who, forgetting, deadline, dry_run=False)
        known = forgetting.sessions
        if there.keeps_sessions:
            known |= await self.erasing.sessions_in(who.tenant, forgetting)
        there = replace(there, sessions=there.sessions | known)
        here = await self.erasing.erase(who.tenant, forgetting, there)
        takes = _takes(forgetting, there, here)
        traces = await self.traces.erase(who.account_key, takes)
        await self._forgotten_in_memory(who.tenant, forgetting)
        everywhere = replace(there, sessions=there.sessions | here.sessions)
        left = list(await self.erasing.look_again(who.tenant, forgetting, everywhere))
        if await self.traces.erase(who.account_key, takes, dry_run=True):
            left.append(_TRACES_LEFT)
        kept = [*there.kept, *left, *await self._cleaned(id_, Needles([*there.removed, *here.removed]))]
        return replace(_receipt(id_, forgetting, there, here, traces), kept=tuple(dict.fromkeys(kept)))

    async def _planned(self, who: Identity, forgetting: Forgetting, deadline: Deadline) -> Erased:
        """What the backend will erase: after a crash or an outage in the middle it can not tell any more."""
        if not forgetting.takes_turns:
            return Erased()
        try:
            return await self.memories.store.erase(who, forgetting, deadline, dry_run=True)
        except BackendTrouble:
            return Erased()  # it has not begun then, and says so when it has

    async def _as_far_as_it_goes(
        self, id_: str, who: Identity, forgetting: Forgetting, deadline: Deadline, *, waits: bool
    ) -> Receipt:
        try:
            with told_to_the_caller():
                within = deadline.within_ms(AWAY_MS) if waits else deadline
                return await self._carried_out(id_, who, forgetting, within)
        except BackendTrouble as trouble:
            if not waits or trouble.status < 500:
                raise
            self.on_left()
            return await self._forgotten_here(id_, who, forgetting)

    async def _forgotten_here(self, id_: str, who: Identity, forgetting: Forgetting) -> Receipt:
        """Forget what this service has, and leave the rest to `go_on`."""
        here = await self.erasing.erase(who.tenant, forgetting, _AWAY)
        traces = await self.traces.erase(who.account_key, _takes(forgetting, _AWAY, here))
        await self._forgotten_in_memory(who.tenant, forgetting)
        return replace(_receipt(id_, forgetting, _AWAY, here, traces), kept=_AWAY.kept)

    async def _forgotten_in_memory(self, tenant: Tenant, forgetting: Forgetting) -> None:
        redactor = Redactor(forgetting)
        for forget in self.in_memory:
            forget(redactor)
        await self.memories.changed(tenant)

    async def _cleaned(self, id_: str, needles: Needles) -> list[Kept]:
        """Clean the files, with the note of this forgetting among them, which holds the text."""
        await self.erasing.nearly_done(id_)
        kept = [*await self.erasing.clean(needles), *await self.traces.clean(needles)]
        await self.erasing.end(id_)
        return kept


def _takes(forgetting: Forgetting, there: Erased, here: StoreErased) -> Callable[[RecallTrace], bool]:
    """Which traces are to be forgotten: those of selected turns, and those that hold a text that is."""
    redactor = Redactor(forgetting)
    touched = there.sessions | here.sessions if forgetting.takes_turns else frozenset()
    uris = {one.uri for one in there.selected} if forgetting.takes_turns else set()
    removed = [text.casefold() for text in (*there.removed, *here.removed)][:MAX_NEEDLES]

    def takes(trace: RecallTrace) -> bool:
        if trace.at > forgetting.at:
            return False
        if forgetting.everything or trace.session in touched or trace.session == forgetting.session:
            return True
        if (forgetting.since or forgetting.until) and forgetting.is_in_time(trace.at):
            return True
        if any(one.uri in uris or not touched.isdisjoint(_names_in(one.uri)) for one in trace.candidates if one.text):
            return True
        return any(redactor.derived(text) != text or _has_one_of(removed, text) for text in _texts_in(trace))

    return takes


def _names_in(uri: str) -> Iterable[str]:
    """The names in a URI; a session's may be escaped there."""
    return map(unquote, uri.split("/"))


def _has_one_of(removed: Iterable[str], text: str) -> bool:
    folded = text.casefold()
    return any(one in folded for one in removed)


def _texts_in(trace: RecallTrace) -> Iterable[str]:
    return filter(None, (trace.query, *(candidate.text for candidate in trace.candidates)))


def _receipt(id_: str, forgetting: Forgetting, there: Erased, here: StoreErased, traces: int) -> Receipt:
    asked = [Selected(one.id, one.uri, one.category) for one in forgetting.statements]
    selected = {one.id: one for one in (*there.selected, *asked)}
    removed = {
        "memories": there.memories + here.memories,
        "turns": len(there.turns | here.turns),
        "archives": there.archives,
        "notes": there.notes,
        "traces": traces,
        "outbox": len(here.undelivered) + here.memories,
    }
    return Receipt(id_, forgetting.at, tuple(selected.values()), removed)
