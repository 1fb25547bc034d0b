"""`preflight`: the session's history for the prompt, from the backend and what the store knows, whichever answers."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.history.digest import NotesOn, notes_on
from app.core.history.prompt import Assembled, assemble_history, brings_history
from app.core.history.summary_text import History
from app.core.identity import Identity
from app.core.messages.host_message import HostMessage, tokens_of
from app.core.reasons import Reason
from app.engine import bounded_waits
from app.engine.policy.texts import shown_message
from app.engine.results import AssembleInput, AssembleResult
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

    ``summary_share`` is the summary's part of the token budget. ``notes`` is `digest.notes_on`, or keeps its
    results: then a digest that was late has less to do the next time.
    """

    backend: ContextBackend
    store: TurnStore
    summary_share: float
    notes: NotesOn = notes_on
    policy: Policy = field(default_factory=Policy)
    """What may be shown of what the store has, and of the summary; the backend's texts come guarded."""

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
        (stored, trouble), local = await asyncio.gather(
            _backend_history(self.backend, who, asked.token_budget, deadline),
            _local_history(self.store, who, asked.messages, _before(deadline)),
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
        )
        if known.known and abs(known.assemble_budget - asked.token_budget) > known.assemble_budget // BUDGET_STEPS:
            self.store.note_budget(who, asked.token_budget)
        try:
            assembled = await asyncio.wait_for(reading, deadline.remaining + GRACE_S)
        except TimeoutError:
            return _passthrough(asked.messages, Reason.DEADLINE_EXCEEDED)
        if not assembled.changed:
            late = Reason.STORE_UNAVAILABLE if local is None else None
            return _passthrough(asked.messages, late or _why_unchanged(trouble, known))
        return AssembleResult(
            messages=assembled.messages,
            estimated_tokens=assembled.estimated_tokens,
            reason=Reason.OK,
            assembled=True,
            system_prompt_addition=assembled.system_addition,
        )

    def _assembled(self, messages: tuple[HostMessage, ...], history: History, **how: Any) -> Assembled:
        """The prompt, with nothing in it that a rule forbids: the store may have it from before the rule."""
        if self.policy.guards:
            history = replace(
                history,
                overview=self.policy.text(history.overview),
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
    )


def _why_unchanged(trouble: Reason | None, known: LocalHistory) -> Reason:
    if trouble is Reason.SESSION_NOT_FOUND and known.known:
        return Reason.NO_SESSION_DATA
    return trouble or Reason.NO_SESSION_DATA


def _passthrough(messages: tuple[HostMessage, ...], reason: Reason) -> AssembleResult:
    return AssembleResult(messages, tokens_of(messages), reason, assembled=False)
