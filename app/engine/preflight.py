"""`preflight`: the session's history for the prompt, from the backend and what the store knows, whichever answers.

What has to be cut of the host's own messages is decided by `app.core.history.guards`; decisions and originals are on
disk before the answer goes out.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.history.guards.cuts import Decisions, GuardNote
from app.core.history.guards.guard_registry import Guarding
from app.core.history.guards.guard_rules import GuardRules, Mode, Situation
from app.core.history.guards.packing import packed
from app.core.history.live_messages import brings_history
from app.core.history.notes import NotesOn, notes_on
from app.core.history.prompt import Assembled, assemble_history
from app.core.history.summary_text import History
from app.core.identity import Identity
from app.core.messages.host_message import HostMessage, tokens_of
from app.core.messages.reading_cache import are_large
from app.core.reasons import Reason
from app.core.recall.trace import RecallTrace, TraceSink
from app.engine import bounded_waits
from app.engine.policy.texts import shown_message
from app.engine.results import AssembleInput, AssembleResult
from app.engine.trace_ids import new_trace_id
from app.errors import SidecarError
from app.policy.policy import Policy
from app.ports import BackendError, ContextBackend, LocalHistory, SessionHistory, TurnStore

log = structlog.get_logger(__name__)

RESERVE_S = 0.1
"""Kept back from the deadline for the work after the backend's answer: a late backend must not make us late."""

STORE_SHARE = 0.25
"""How much of the time the first look into the store may take: the backend is asked behind it."""

GRACE_S = 0.2
"""A history that is there a little late serves better than all of the messages: only huge texts take longer."""

MAX_UNEXTRACTED = 3
"""Failed archives whose messages are read from the backend, one request each."""

BUDGET_STEPS = 16
"""A prompt's budget changes a little from turn to turn, with tools and system prompt: that is not worth a write."""

_NOTHING = SessionHistory(overview="", abstracts=(), messages=())


@dataclass(frozen=True, slots=True)
class Preflight:
    """The use case of `/assemble`'s phase `preflight`.

    ``summary_share`` is the summary's part of the token budget. ``notes`` is `notes.notes_on`, or keeps its
    results: then a digest that was late has less to do the next time.
    """

    backend: ContextBackend
    store: TurnStore
    summary_share: float
    notes: NotesOn = notes_on
    policy: Policy = field(default_factory=Policy)
    """What may be shown of what the store has, and of the summary; the backend's texts come guarded."""
    rules: GuardRules = field(default_factory=GuardRules)
    traces: TraceSink | None = None
    """Takes what guards have cut, where no recall leaves a trace."""
    now: Callable[[], float] = time.time
    """The wall clock, epoch seconds."""

    async def run(self, who: Identity, asked: AssembleInput, deadline: Deadline) -> AssembleResult:
        """The messages with the archived history replaced by its summary (contract, `preflight`).

        Never raises for a backend. When it fails or is late, the last summary that the store kept and a digest of what
        it does not cover take its place. The answer is ``ok`` when anything was replaced or rebuilt, else a passthrough
        with the reason.
        """
        if asked.bypassed:
            return _passthrough(asked.messages, Reason.SESSION_BYPASSED)
        # Before the backend is asked: what is delivered meanwhile must be in one of both.
        soon = deadline.within_ms(deadline.remaining * 1000 * STORE_SHARE)
        undelivered = () if brings_history(asked.messages) else await _undelivered(self.store, who, soon)
        (stored, trouble), (local, guarding) = await asyncio.gather(
            _backend_history(self.backend, who, asked.token_budget, deadline),
            self._guarded_history(who, asked, _before(deadline)),
        )
        known, seen = local or (LocalHistory(), ())
        if stored.failed_ids and not known.unsummarised and not known.resetting:
            known = replace(known, unsummarised=await _unextracted(self.backend, who, stored.failed_ids, deadline))
        reading = asyncio.to_thread(
            self._assembled,
            asked.messages,
            _combined(stored, known, seen, undelivered),
            token_budget=asked.token_budget,
            summary_share=self.summary_share,
            prompt_follows=asked.prompt_follows,
            reads_archives=asked.reads_archives,
            notes=self.notes,
            may_show=self.policy.text,
            guarding=guarding,
        )
        if known.known and abs(known.assemble_budget - asked.token_budget) > known.assemble_budget // BUDGET_STEPS:
            self.store.note_budget(who, asked.token_budget)
        try:
            assembled = await asyncio.wait_for(reading, deadline.remaining + GRACE_S)
        except TimeoutError:
            return _passthrough(asked.messages, Reason.DEADLINE_EXCEEDED)
        await self._keep(who, asked, assembled, known.changes, deadline)
        if not assembled.changed:
            late = Reason.STORE_UNAVAILABLE if local is None else None
            unchanged = _passthrough(asked.messages, late or _why_unchanged(trouble, known))
            return replace(unchanged, guards=assembled.guards)
        return AssembleResult(
            messages=assembled.messages,
            estimated_tokens=assembled.estimated_tokens,
            reason=Reason.OK,
            assembled=True,
            system_prompt_addition=assembled.system_addition,
            guards=assembled.guards,
        )

    async def _guarded_history(
        self, who: Identity, asked: AssembleInput, deadline: Deadline
    ) -> tuple[tuple[LocalHistory, tuple[str, ...]] | None, Guarding]:
        """What the store has, and the guards, with what takes them long done while the backend is waited for."""
        local = await _local_history(self.store, who, asked.messages, deadline)
        known = local[0] if local else LocalHistory()
        cold = self.now() - known.assembled_at > self.rules.cache_ttl_seconds
        if self.rules.mode is Mode.CACHE_TTL and asked.keeps_cuts:
            self.store.note_request(who)
        if self.rules.mode is not Mode.CACHE_TTL:
            cold = not (known.cuts or known.layout or known.assemble_budget)
        situation = Situation(asked.token_budget, self.rules, cold, asked.tools)
        guarding = Guarding(situation, Decisions(known.cuts), layout=known.layout)
        if are_large(asked.messages):
            await asyncio.to_thread(guarding.prepare, asked.messages)
        return local, guarding

    async def _keep(
        self, who: Identity, asked: AssembleInput, assembled: Assembled, changes: int, deadline: Deadline
    ) -> None:
        """Put what was decided on disk, so that it stays so and can be read. A prompt has to fit with or without it."""
        if not asked.keeps_cuts or not (assembled.originals or assembled.layout):
            return
        if self.traces and asked.phase == "preflight" and assembled.guards:
            self.traces.record(partial(_trace, who, assembled.guards, self.now()))
        packing = partial(packed, assembled.originals, self.policy.text)
        try:
            outputs = await asyncio.to_thread(packing)
            until = Deadline(deadline.at + GRACE_S, deadline.clock)
            await bounded_waits.in_time(self.store.keep_outputs(who, outputs, assembled.layout, changes), until)
        except SidecarError as error:
            log.warning("cuts_not_kept", reason=str(error.code), count=len(assembled.originals))

    def _assembled(self, messages: tuple[HostMessage, ...], history: History, **how: Any) -> Assembled:
        """The prompt, with nothing in it that a rule forbids: the store may have it from before the rule."""
        if self.policy.guards:
            history = replace(
                history,
                overview=self.policy.text(history.overview),
                focus=self.policy.text(history.focus),
                unsummarised=tuple(shown_message(self.policy, message) for message in history.unsummarised),
                opening=tuple(map(self.policy.text, history.opening)),
                live=tuple(shown_message(self.policy, message) for message in history.live),
            )
        return assemble_history(messages, history, **how)


async def _backend_history(
    backend: ContextBackend, who: Identity, token_budget: int, deadline: Deadline
) -> tuple[SessionHistory, Reason | None]:
    """What the backend has, and what went wrong. An unknown session is nothing, with its reason."""
    try:
        within = _before(deadline)
        async with asyncio.timeout(within.remaining):
            return await backend.history(who, token_budget, within), None
    except TimeoutError:
        reason = Reason.DEADLINE_EXCEEDED
    except BackendError as error:
        reason = Reason.SESSION_NOT_FOUND if error.not_found else error.reason
    if reason is not Reason.SESSION_NOT_FOUND:
        log.warning("past_from_store", reason=str(reason))
    return _NOTHING, reason


async def _unextracted(
    backend: ContextBackend, who: Identity, archive_ids: tuple[str, ...], deadline: Deadline
) -> tuple[CapturedMessage, ...]:
    """The raw messages of the newest failed archives, for a store that does not know them (it was lost, or is new)."""
    within = _before(deadline)
    messages: list[CapturedMessage] = []
    try:
        async with asyncio.timeout(within.remaining):
            for archive_id in archive_ids[-MAX_UNEXTRACTED:]:
                messages += await backend.archived_messages(who, archive_id, within)
    except (TimeoutError, BackendError) as error:
        log.warning("failed_archive_unreadable", error=type(error).__name__)
    return tuple(messages)


def _before(deadline: Deadline) -> Deadline:
    return Deadline(deadline.at - min(RESERVE_S, deadline.remaining / 4), deadline.clock)


async def _local_history(
    store: TurnStore, who: Identity, messages: tuple[HostMessage, ...], deadline: Deadline
) -> tuple[LocalHistory, tuple[str, ...]] | None:
    """What the store has, and all of the session's fingerprints where untimed messages need them; None without it."""
    try:
        known = await bounded_waits.in_time(store.local_history(who), deadline)
        if known.fingerprints and any(message.time is None for message in messages):
            return known, await bounded_waits.in_time(store.seen_fingerprints(who), deadline)
        return known, ()
    except SidecarError as error:
        log.warning("past_without_store", reason=str(error.code))
        return None


async def _undelivered(store: TurnStore, who: Identity, deadline: Deadline) -> tuple[CapturedMessage, ...]:
    try:
        return await bounded_waits.in_time(store.undelivered(who), deadline)
    except SidecarError as error:
        log.warning("past_without_store", reason=str(error.code))
        return ()


def _combined(
    stored: SessionHistory, known: LocalHistory, seen: tuple[str, ...], undelivered: tuple[CapturedMessage, ...]
) -> History:
    """Both views as one. While a reset is on its way the backend still shows the old epoch, so it is not asked.

    A prompt can be rebuilt from what the backend holds live and what has not reached it yet, without what the store has
    cleared: the backend still lists that while its extraction runs.
    """
    if known.resetting:
        stored = _NOTHING
    history = known_history(known)
    cleared = {message.source_id for message in known.unsummarised if message.source_id}
    live = {message.source_id or index: message for index, message in enumerate((*stored.messages, *undelivered))}
    return replace(
        history,
        overview=stored.overview or history.overview,
        abstracts=stored.abstracts,
        live=tuple(message for message in live.values() if message.source_id not in cleared),
        seen_fingerprints=seen,
    )


def known_history(known: LocalHistory) -> History:
    """The history as far as the store knows it."""
    return History(
        overview=known.summary,
        unsummarised=known.unsummarised,
        opening=tuple(line for turn in known.opening for line in turn.splitlines()),
        archived_fingerprints=known.fingerprints,
        focus=known.focus,
    )


def _trace(who: Identity, guards: tuple[GuardNote, ...], now: float) -> RecallTrace:
    return RecallTrace(
        trace_id=new_trace_id(now),
        at=datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
        account_key=who.account_key,
        session=who.session,
        agent=who.agent,
        reason=str(Reason.OK),
        query_chars=0,
        inject="",
        guards=guards,
        session_key=who.session_key,
    )


def _why_unchanged(trouble: Reason | None, known: LocalHistory) -> Reason:
    if trouble is Reason.SESSION_NOT_FOUND and known.known:
        return Reason.NO_SESSION_DATA
    return trouble or Reason.NO_SESSION_DATA


def _passthrough(messages: tuple[HostMessage, ...], reason: Reason) -> AssembleResult:
    return AssembleResult(messages, tokens_of(messages), reason, assembled=False)
