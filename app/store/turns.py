"""The turn store: an asynchronous front over the SQL, which runs in worker threads."""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

import anyio.to_thread
import structlog
from sqlalchemy import Connection

from app.atrest.vault import PLAIN, Vault
from app.core.capture.captured_message import CapturedMessage
from app.core.cleaning.host_text import storable
from app.core.history.commit_policy import CommitRules
from app.core.history.guards.packing import Original, Packed
from app.core.history.prompt_layout import Layout
from app.core.history.window import Window
from app.core.identity import Identity, Tenant
from app.errors import StoreUnavailable
from app.ports import Acceptance, LocalHistory, NewTurn, Recorded, StoredTurn
from app.store import (
    acceptance,
    clock_repair,
    delivery_rows,
    forgotten_outputs,
    layouts,
    requests,
    retention,
    session_history,
    session_rows,
    tool_outputs,
    window_rows,
)
from app.store.audit_rows import SqlAuditTrail
from app.store.audit_rows import drop_old as drop_old_audit
from app.store.backlog import Backlog, Bounds, bytes_by_tenant
from app.store.connections import Database, open_database
from app.store.delivery_rows import OutboxGauges, SqlDeliveries
from app.store.erased_rows import SqlErasing
from app.store.freshness_reports import SqlFreshnessReports
from app.store.memory_ledger import SqlMemoryLedger
from app.store.prepared import Prepared, prepare
from app.store.requests import CommitView, SessionSize
from app.store.resource_catalogue import SqlResourceCatalogue
from app.store.resource_imports import SqlResourceImports
from app.store.session_lists import SqlSessionLists
from app.store.session_starts import SqlSessionStarts, tenants_with_old
from app.store.session_starts import drop_old as drop_old_starts
from app.store.steps import WorkRules
from app.store.use_rows import SqlUses
from app.store.waiting_memories import SqlWaitingMemories
from app.store.work_queue import SqlWorkQueue
from app.text.dates import iso

P = ParamSpec("P")
T = TypeVar("T")

log = structlog.get_logger(__name__)

_AGENT_KNOWN_S = 5.0
_AGENTS_KNOWN = 10_000
_LEAST_KEPT_S = 86_400
"""A session that was quiet for less is one that goes on, whatever is kept to recognise repeats."""
_AT_ONCE_TOKENS = 50_000
"""Turns of more tokens and messages are written as JSON in a thread: the event loop has other answers to give."""


class SqlTurnStore:
    """Turns, deliveries and commits in SQLite or PostgreSQL. Implements `app.ports.TurnStore`.

    ``clock`` is wall-clock seconds: processes that share a store compare times, so their clocks must agree to well
    within a lease. ``on_work`` is called after anything was written that a worker should look at.
    """

    def __init__(
        self,
        database: Database,
        *,
        rules: WorkRules,
        bounds: Bounds,
        keep_s: float,
        keep_audit_s: float = 365 * 86_400,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.rules = rules
        self.clock = clock
        self.on_work: Callable[[], None] = lambda: None
        self._database = database
        self._keep_s = keep_s
        self._notes: set[asyncio.Task[None]] = set()
        self._agents: dict[tuple[Tenant, str], tuple[str, float]] = {}
        self.waiting = SqlWaitingMemories(database, bounds, clock)
        """Memories that the backend does not have yet."""
        self.ledger = SqlMemoryLedger(database)
        """What a backend has no place for of its memories."""
        self.audit = SqlAuditTrail(database)
        """Who did what with which memory."""
        self._keep_audit_s = keep_audit_s
        self.freshness = SqlFreshnessReports(database)
        """What the last checks of memories found."""
        self.starts = SqlSessionStarts(database, clock)
        """What sessions began with."""
        self.uses = SqlUses(database)
        """What is remembered of tool calls and of skills."""
        self.imports = SqlResourceImports(database, clock)
        """Documents and skills that were accepted."""
        self.catalogue = SqlResourceCatalogue(database)
        """Documents and skills whose passages a backend keeps."""
        self.sessions = SqlSessionLists(database)
        """What was said in sessions, a page at a time."""
        self.deliveries = SqlDeliveries(database, clock, lambda: self.on_work())
        """Where turns are on their way, and what is decided about those that do not arrive."""
        self.queue = SqlWorkQueue(database, rules, clock)
        """What the worker is to do."""
        self.erasing = SqlErasing(database, clock)
        """Forgetting in this store."""
        self.backlog = Backlog(bounds, lambda: database.read(bytes_by_tenant))

    async def accept(self, turn: NewTurn) -> Acceptance:
        """Put the turn on disk, or recognise it. Raises `KeyReused`, `OutboxFull`, `StoreUnavailable`, `SeenBefore`."""
        large = turn.tokens + len(turn.fingerprints) > _AT_ONCE_TOKENS
        prepared = await anyio.to_thread.run_sync(prepare, turn) if large else prepare(turn)
        return await self.accept_prepared(prepared)

    async def accept_prepared(self, prepared: Prepared) -> Acceptance:
        """`accept` for a turn that was made ready elsewhere; its messages are in its payload alone."""
        turn = prepared.turn
        tenant, size = turn.who.tenant, len(prepared.payload)
        full = await self.backlog.take(tenant, size) if turn.skipped is None else None
        kept = False
        try:
            accepted = await self._database.write(
                acceptance.accept, prepared, self._commit_rules, self.clock(), full, self.backlog.bounds
            )
            kept = accepted.answer.status == "committed"
        finally:
            if turn.skipped is None and full is None:
                self.backlog.done(tenant, size, kept=kept)
        if accepted.wakes:
            self.on_work()
        if turn.memories:
            self.waiting.on_work()
        self.saw(prepared.turn.who)
        return accepted.answer

    async def seen_fingerprints(self, who: Identity) -> tuple[str, ...]:
        """The fingerprints of all turns of the session's present epoch, oldest first."""
        return await self._database.read(session_history.seen_fingerprints, who)

    async def recorded(self, who: Identity, span: tuple[int, int] | None, *, in_order: bool) -> Recorded:
        """The fingerprints of messages that a turn with times within ``span`` may hold again; see `TurnStore`."""
        return await self._database.read(session_history.recorded, who, span, in_order=in_order)

    async def local_history(self, who: Identity) -> LocalHistory:
        """What is archived or cleared of the session; an empty one for an unknown session."""
        return await self._database.read(session_history.local_history, who)

    def note_budget(self, who: Identity, token_budget: int) -> None:
        """Have the budget noted that `/assemble` was given; see `session_rows.budget_of`. Returns at once."""
        self._note(self.noted(who, token_budget))

    async def noted(self, who: Identity, token_budget: int) -> None:
        """`note_budget`, waited for."""
        await self._noting(session_rows.note_budget, who, token_budget)

    def note_request(self, who: Identity) -> None:
        """Have it noted that a prompt of the session is asked for. Returns at once."""
        self._note(self.noted_request(who))

    async def noted_request(self, who: Identity) -> None:
        """`note_request`, waited for."""
        await self._noting(session_rows.note_request, who, self.clock())

    async def keep_outputs(
        self, who: Identity, outputs: Sequence[Packed], layout: Layout | None = None, changes: int = 0
    ) -> None:
        """Write down what guards decided, originals and layout, see `TurnStore`. Raises `StoreUnavailable`."""
        now = self.clock()
        if layout is not None:
            await self._database.write(layouts.keep, who, layout, changes, now)
        kept = not outputs
        while not kept:
            held = await self._database.read(forgotten_outputs.held, who, outputs)
            left = await anyio.to_thread.run_sync(held.left_of, outputs, who.session, now)
            kept = await self._database.write(tool_outputs.keep, who, left, self.backlog.bounds, now, held.through)

    async def tool_output(self, who: Identity, ref: str) -> Original | None:
        """The newest output of the session that was cut under this name; None for none."""
        return await self._database.read(tool_outputs.original, who, ref)

    async def tool_output_refs(self, who: Identity, limit: int) -> tuple[str, ...]:
        """The names of the newest outputs of the session that were cut and can be read, newest first."""
        return await self._database.read(tool_outputs.newest_refs, who, limit)

    async def window(self, who: Identity) -> Window:
        """What is known of the host's window in this session."""
        return await self._database.read(window_rows.read, who)

    async def note_window(self, who: Identity, tokens: int) -> None:
        """Write down that the host's window holds so many tokens."""
        await self._database.write(window_rows.note, who, tokens)

    async def begin_flush(self, who: Identity, tokens: int, token_budget: int) -> bool:
        """Note a window in which a flush is due; whether it is to be told, see `TurnStore`."""
        return await self._database.write(window_rows.begin_flush, who, tokens, token_budget, self.clock())

    async def undelivered(self, who: Identity) -> tuple[CapturedMessage, ...]:
        """The messages of the session's present epoch that the backend does not have yet, oldest first."""
        return await self._database.read(session_history.undelivered, who)

    async def turns_since(self, tenant: Tenant, session: str, moment: float) -> tuple[StoredTurn, ...]:
        """The first few turns of the session that came after the moment (epoch seconds), oldest first."""
        return await self._database.read(session_history.turns_since, tenant, session, moment)

    async def last_agent(self, tenant: Tenant, session: str) -> str | None:
        """The agent last seen for this session; what another process saw may be known a few seconds later."""
        agent, seen_at = self._agents.get((tenant, session), (None, -math.inf))
        if self.clock() - seen_at < _AGENT_KNOWN_S:
            return agent
        stored = await self._database.read(session_rows.last_agent, tenant, session)
        return stored.agent if stored and stored.seen_at > seen_at else agent

    def saw(self, who: Identity) -> None:
        """Note the agent of a request, so that the session's next one need not name it."""
        self._agents.pop((who.tenant, who.session), None)
        self._agents[who.tenant, who.session] = (who.agent, self.clock())
        if len(self._agents) > _AGENTS_KNOWN:
            del self._agents[next(iter(self._agents))]

    async def size_of(self, who: Identity) -> SessionSize | None:
        """What the prompt shows of the session; None for an unknown one."""
        return await self._database.read(requests.size_of, who)

    async def end(self, who: Identity, token_budget: int) -> CommitView | None:
        """Plan the commit of a session's end; None when there is nothing to archive."""
        return await self._asked(requests.end, who, self.clock(), token_budget, self._commit_rules)

    async def reset(self, who: Identity, token_budget: int) -> CommitView | None:
        """Begin a new epoch, behind a commit of the old one; None when nothing is asked of the backend."""
        return await self._asked(requests.reset, who, self.clock(), token_budget, self._commit_rules)

    async def compact(
        self, who: Identity, keep_messages: int, token_budget: int, instructions: str = ""
    ) -> list[CommitView]:
        """Plan, join or retry the commits that `/compact` waits for; none when there is nothing to archive."""
        rules, said = self._commit_rules, storable(instructions)
        return await self._asked(requests.compact, who, keep_messages, self.clock(), token_budget, rules, said)

    async def archivable(self, who: Identity) -> tuple[tuple[CapturedMessage, ...], str, int]:
        """What a compaction may archive, and what earlier ones were asked to keep; see `requests.archivable`."""
        return await self._database.read(requests.archivable, who)

    async def keep_focus(self, who: Identity, focus: str, changes: int) -> bool:
        """Keep what a compaction was asked to keep; False where something of the tenant was forgotten meanwhile."""
        return await self._database.write(requests.keep_focus, who, focus, changes)

    async def commits(self, ids: Sequence[int]) -> list[CommitView]:
        """How far these commits are."""
        return await self._database.read(requests.views, ids)

    async def gauges(self) -> OutboxGauges:
        """The outbox in numbers."""
        return await self._database.read(delivery_rows.gauges, self.clock())

    def changes(self) -> int | None:
        """See `Database.changes`."""
        return self._database.changes()

    async def check(self) -> str | None:
        """None when the store can be written, else what is wrong."""
        try:
            await self._database.check()
        except StoreUnavailable as error:
            return error.detail
        return None

    async def mend_dates(self, *, set_back: bool = False) -> None:
        """Bring dates back that a clock which was set back has left in a far future; ``set_back``: it was, just now."""
        now, lease_s = self.clock(), self.rules.lease_s
        if set_back or await self._database.read(clock_repair.is_astray, now, lease_s):
            await self._database.write_behind(clock_repair.mend, now, lease_s, set_back=set_back)

    async def forget_old(self) -> int:
        """Forget all that is too old to be kept, in slices; how many sessions, turns and texts that was."""
        forgotten = 0
        for chore in retention.chores(self.clock() - self._keep_s, self.backlog.bounds.total):
            place = 0
            while pieces := await self._database.read(chore.find, place):
                await self._database.write_in_slices(chore.forget, pieces)
                forgotten += sum(map(len, pieces))
                place = pieces[-1][-1]
        cutoff = self.clock() - self._keep_s
        tenants = await self._database.read(tenants_with_old, cutoff)
        await self._database.write_in_slices(partial(drop_old_starts, cutoff), tenants)
        await self.uses.trim()
        before = iso(datetime.fromtimestamp(self.clock() - self._keep_audit_s, UTC))
        await self._database.write_in_slices(drop_old_audit, [before])
        return forgotten

    async def aclose(self) -> None:
        """Close the connections."""
        await asyncio.gather(*self._notes)
        await self.audit.flush()
        await self.backlog.aclose()
        self._database.close()

    @property
    def _commit_rules(self) -> CommitRules:
        return self.rules.commit

    def _note(self, writing: Coroutine[Any, Any, None]) -> None:
        note = asyncio.create_task(writing)
        self._notes.add(note)
        note.add_done_callback(self._notes.discard)

    async def _noting(
        self, work: Callable[Concatenate[Connection, P], None], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        try:
            await self._database.write_behind(work, *args, **kwargs)
        except StoreUnavailable as error:
            log.warning("not_noted", what=work.__name__, reason=str(error.code))

    async def _asked(self, work: Callable[..., T], *args: object, **kwargs: object) -> T:
        answer = await self._database.write(work, *args, **kwargs)
        self.on_work()
        return answer


async def open_store(
    url: str,
    *,
    rules: WorkRules,
    max_pending_bytes: int = 512 * 1024 * 1024,
    tenant_share: float = 1.0,
    keep_days: float = 30,
    keep_audit_days: float = 365,
    clock: Callable[[], float] = time.time,
    vault: Vault = PLAIN,
    unnamed: str | None = None,
) -> SqlTurnStore:
    """Open the store at ``url``, with its schema brought up to date. Close it with `SqlTurnStore.aclose`.

    ``unnamed`` is what an account and a user are called that a request does not name, where that is known.
    """
    database = await open_database(url, vault, unnamed)
    # What was said last waits for its idle commit; a session must not be forgotten before.
    keep_s = max(keep_days * 86_400, _LEAST_KEPT_S, 2 * rules.commit.idle_seconds)
    bounds = Bounds(max_pending_bytes, int(max_pending_bytes * tenant_share))
    return SqlTurnStore(
        database, rules=rules, bounds=bounds, keep_s=keep_s, keep_audit_s=keep_audit_days * 86_400, clock=clock
    )
