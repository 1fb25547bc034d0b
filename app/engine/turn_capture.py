"""`/after-turn`: keep what is new of a turn. Answered once it is on disk; everything else happens behind the answer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from app.core.capture.captured_turn import CapturedTurn, capture_turn
from app.core.capture.incoming import Incoming, read_incoming
from app.core.capture.policy_line import PolicyLine
from app.core.deadline import Deadline
from app.core.history.window import Flush, FlushRules, measured
from app.core.identity import Identity, PeerRole, SessionKind
from app.core.json.answers import answer
from app.core.memories.audit import Action
from app.core.memories.memory import NewMemory, Reading
from app.core.memories.told import memory_told, told_in
from app.core.messages.host_message import HostMessage, Role
from app.core.messages.reading_cache import AT_ONCE_MESSAGES, are_large
from app.core.messages.usage import Usage
from app.core.reasons import Reason
from app.engine import bounded_waits
from app.engine.memories.auditing import NOT_AUDITED, Audit
from app.engine.memories.collaborators import new_memory_id
from app.engine.policy.applying import is_long
from app.engine.policy.texts import Texts
from app.policy.policy import Policy
from app.ports import Acceptance, Compaction, NewTurn, Recorded, SeenBefore
from app.store.work import OPEN_TURNS

if TYPE_CHECKING:  # a process without a store captures, too
    from app.store.turns import SqlTurnStore
    from app.worker.supervisor import Worker

Reads = Callable[[str], Reading]


@dataclass(frozen=True, slots=True)
class TurnInput:
    """A turn as the host sends it. ``key``: ``advancementKey`` or ``Idempotency-Key``."""

    messages: tuple[HostMessage, ...]
    pre_prompt_count: int | None = None
    key: str | None = None
    token_budget: int = 128_000
    is_heartbeat: bool = False
    bypassed: bool = False
    wait: bool = False
    """Wait for the backend to have it, until the deadline."""
    usage: Usage | None = None
    """What the host says that the model used for the turn's last request."""


def _is_none(value: object) -> bool:
    return value is None


@answer
@dataclass(frozen=True, slots=True)
class AfterTurnResult:
    """The turn is on disk."""

    status: Literal["committed", "duplicate", "skipped"]
    reason: Reason
    turn_id: str = ""
    captured: int = 0
    delivery: Literal["queued", "delivered"] = "queued"
    pending_tokens: int = 0
    compaction: Compaction = field(default_factory=Compaction)
    policy: tuple[PolicyLine, ...] = ()
    """What the rules took out before anything was kept."""
    flush: Annotated[Flush | None, Field(exclude_if=_is_none)] = None
    """Only when the window is nearly full, and once until the next `/compact`."""


@dataclass(frozen=True, slots=True)
class AfterTurn:
    """The use case of `/after-turn`. ``enabled`` false: nothing is captured, and that is said. ``worker`` None: no
    delivery is waited for."""

    store: "SqlTurnStore"
    worker: "Worker | None"
    enabled: bool = True
    reads: Reads | None = None
    """Tells category and sensitivity of what a turn asks to remember; None: nothing is stored at once."""
    automation: bool = False
    """Whether what is no chat (cron, sub-agents) is remembered, too."""
    policy: Policy = field(default_factory=Policy)
    audit: Audit = NOT_AUDITED
    flush: FlushRules = field(default_factory=FlushRules)

    async def run(self, who: Identity, turn: TurnInput, deadline: Deadline) -> AfterTurnResult:
        """Put what is new of the turn on disk. Raises `KeyReused`, `OutboxFull`, `StoreUnavailable`.

        A heartbeat leaves its fingerprints behind, so that a later turn that brings its messages along does not capture
        them.
        """
        if turn.bypassed:
            return AfterTurnResult("skipped", Reason.SESSION_BYPASSED)
        if not self.enabled:
            return AfterTurnResult("skipped", Reason.CAPTURE_DISABLED)
        reads = self.reads if self._remembers(who) else None
        captured, accepted, policy, told = await _accepted(
            who, turn, self.store, self.policy, reads, self.flush.due_at(turn.token_budget)
        )
        if accepted.status == "committed":
            await self.audit.wrote(who, Action.STORED, told)
        skipped = _why_skipped(turn, captured)
        delivered = accepted.delivered
        if turn.wait and self.worker and accepted.turn_id and not delivered and accepted.captured:
            delivered = await is_delivered(who, accepted.turn_id, deadline, store=self.store, worker=self.worker)
        return replace(_result(accepted, skipped, delivered=delivered), policy=policy)

    def _remembers(self, who: Identity) -> bool:
        return self.automation or who.kind is SessionKind.CHAT


async def _accepted(
    who: Identity, turn: TurnInput, store: "SqlTurnStore", policy: Policy, reads: Reads | None, flush_at: int | None
) -> tuple[CapturedTurn, Acceptance, tuple[PolicyLine, ...], list[str]]:
    """What is new of the turn, put on disk, what the policy took out before, and the ids of what it asks to remember.

    Comparing takes time, so it is done before the store is locked, with what the store has by then. A turn with a
    position is compared only when the store finds that messages of its times are there already.
    """
    large = are_large(turn.messages) or (bool(policy.guards) and is_long([one.raw for one in turn.messages]))
    incoming = await bounded_waits.read(partial(read_incoming, turn.messages, turn.pre_prompt_count), large=large)
    in_order = not incoming.is_placed and incoming.has_untimed
    recorded = Recorded() if incoming.is_placed else await store.recorded(who, incoming.span, in_order=in_order)
    while True:
        texts = Texts(policy)
        capture = partial(
            capture_turn,
            incoming,
            received_at=datetime.now(UTC),
            recorded=recorded.fingerprints,
            keyed=turn.key is not None,
            is_heartbeat=turn.is_heartbeat,
            peer_id=who.actor_peer,
            sender=who.sender,
            guard=texts.guard if policy.guards else None,
            usage=turn.usage,
        )
        captured = await bounded_waits.read(capture, large=large or len(recorded.fingerprints) > AT_ONCE_MESSAGES)
        try:
            new = _new_turn(who, turn, incoming, captured, recorded, reads, flush_at)
            accepted = await store.accept(new)
            return captured, accepted, texts.lines(), [memory.id for memory in new.memories]
        except SeenBefore:  # again only when yet another turn of these times has come in meanwhile
            recorded = await store.recorded(who, incoming.span, in_order=in_order)


def _why_skipped(turn: TurnInput, captured: CapturedTurn) -> Reason | None:
    if turn.is_heartbeat:
        return Reason.HEARTBEAT
    return None if captured.messages else Reason.NO_NEW_MESSAGES


def _new_turn(
    who: Identity,
    turn: TurnInput,
    incoming: Incoming,
    captured: CapturedTurn,
    recorded: Recorded,
    reads: Reads | None,
    flush_at: int | None,
) -> NewTurn:
    replies = [message for message in incoming.messages if message.role is Role.ASSISTANT]
    return NewTurn(
        who=who,
        key=turn.key,
        fingerprint=incoming.fingerprint,
        occurrence=incoming.occurrence,
        messages=captured.messages,
        fingerprints=captured.fingerprints,
        span=captured.span,
        tokens=captured.tokens,
        token_budget=turn.token_budget,
        remember=captured.remember,
        skipped=_why_skipped(turn, captured),
        memories=tuple(_told(who, captured, reads)) if reads and not turn.is_heartbeat else (),
        usage=measured(incoming.messages, turn.usage),
        reply_tokens=replies[-1].tokens if replies else 0,
        flush_at=flush_at,
        compared_through=recorded.through,
    )


def _told(who: Identity, captured: CapturedTurn, reads: Reads) -> Iterator[NewMemory]:
    """What the turn asks to remember. It holds for all agents of the user; of persons, only for who said it."""
    peer = who.actor_peer if who.peer_role is PeerRole.PERSON else None
    for number, statement in told_in(captured.messages):
        message, reading = captured.messages[number], reads(statement)
        yield memory_told(new_memory_id(), statement, message, number, reading=reading, peer=peer, session=who.session)


async def is_delivered(
    who: Identity, turn_id: str, deadline: Deadline, *, store: "SqlTurnStore", worker: "Worker"
) -> bool:
    """Wait, until the deadline, for the backend to have the turn; whether it has."""

    async def done() -> bool:
        return (await store.deliveries.get(who.tenant, turn_id)).state not in OPEN_TURNS

    await worker.wait_until(done, deadline)
    return (await store.deliveries.get(who.tenant, turn_id)).state == "delivered"


def _result(accepted: Acceptance, skipped: Reason | None, *, delivered: bool) -> AfterTurnResult:
    return AfterTurnResult(
        status=accepted.status,
        reason=skipped if skipped is not None and accepted.status == "skipped" else Reason.OK,
        turn_id=accepted.turn_id,
        captured=accepted.captured,
        delivery="delivered" if delivered else "queued",
        pending_tokens=accepted.pending_tokens,
        compaction=accepted.compaction,
        flush=Flush() if accepted.flushes else None,
    )
