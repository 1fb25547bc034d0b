"""Bringing one turn to the backend, exactly once.

The backend has no idempotency and a client's time-out does not cancel a write there. So after every attempt of unknown
outcome, and after a crash in the middle of one, the worker looks which messages arrived, and sends the others only once
the write can no longer happen by itself: see `app.worker.settling`. A server that does not answer while it is asked may
sit on the write, too, so the doubt then lasts beyond the next look, and ends within that time once it answers again.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeVar

import anyio.to_thread

from app.core.capture.batches import batches
from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Clock, Deadline
from app.core.identity import Identity
from app.core.reasons import REJECTED, Reason
from app.ports import BackendError, ContextBackend
from app.store.work import DeliveredLost, Lease, SendTurn, Sent, TurnDelivered, TurnFailed, TurnInDoubt, TurnRejected
from app.worker.backoff import Backoff
from app.worker.duplicates import Duplicates
from app.worker.outages import Outages
from app.worker.poison import PoisonTurns
from app.worker.settling import longest_s, settles_in

T = TypeVar("T")
TurnOutcome = TurnDelivered | TurnFailed | TurnInDoubt | TurnRejected | DeliveredLost
MarkAttempt = Callable[[Lease, SendTurn, int], Awaitable[bool]]
"""Writes down that ``sent`` messages of the turn are there and that a write of the next ones begins now.

False when the turn was given up meanwhile.
"""


@dataclass(frozen=True, slots=True)
class Courier:
    """What delivering needs: the backend, the store's mark, and the time."""

    backend: ContextBackend
    mark_attempt: MarkAttempt
    backoff: Backoff
    poison_turns: PoisonTurns
    duplicates: Duplicates
    outages: Outages
    settle_s: float
    call_s: float
    """Longest time from a mark to the end of its write: less than a lease, so that no write outlives its lease."""
    clock: Callable[[], float]
    monotonic: Clock
    memories_changed: Callable[[Identity], None]
    """Told after each write, whatever came of it: what was found for this user may be out of date."""

    def deadline(self, since: float) -> Deadline:
        """For a call that may begin from the monotonic time ``since``."""
        return Deadline(since + self.call_s, self.monotonic)

    def retry_at(self, lease: Lease, step: SendTurn, error: BackendError) -> float:
        """When to try again after this error."""
        wait_s = self.backoff.after_failure(step.attempts, error)
        return self.clock() + max(wait_s, self.outages.wait_s(lease, error))


async def deliver(courier: Courier, lease: Lease, step: SendTurn, marked_at: float) -> TurnOutcome:
    """Send what is missing of the turn and say how that went. Raises `LeaseLost` when the session was taken over.

    A turn without a doubt was marked as being sent when it was chosen, after the monotonic time ``marked_at``.
    """
    await courier.duplicates.look(lease.session_id)
    missing = _Missing(islice(step.messages, step.sent, None), len(step.messages) - step.sent)
    marked = step.doubt_until is None
    if step.doubt_until is not None:
        found = await _look(courier, lease, step, step.doubt_until)
        if isinstance(found, TurnDelivered | TurnInDoubt | TurnRejected | DeliveredLost):
            return found
        missing = found
    if (why := courier.poison_turns.hopeless(step.turn_id)) is not None:
        return TurnRejected(step, why)
    if not marked:
        courier.duplicates.resent(lease, step.turn_id)
    sent = len(step.messages) - missing.left
    groups = batches(missing.messages)
    while batch := await _decoded(step, partial(next, groups, ())):
        if not marked:
            marked_at = courier.monotonic()
            if not await courier.mark_attempt(lease, step, sent):
                return TurnFailed(step, "given up", courier.clock())
        marked = False
        failure = await _append(courier, lease, step, batch, courier.deadline(marked_at))
        if failure is not None:
            return failure
        sent += len(batch)
    courier.poison_turns.delivered(lease, step.turn_id)
    return TurnDelivered(step)


class _Missing(NamedTuple):
    """What must still be sent of a turn, and how many messages are left."""

    messages: Iterator[CapturedMessage]
    left: int


async def _look(
    courier: Courier, lease: Lease, step: SendTurn, until: float
) -> TurnDelivered | TurnInDoubt | TurnRejected | DeliveredLost | _Missing:
    """The messages that must still be sent, or an outcome when that can not be said yet, or never."""
    settled = courier.clock() >= until
    try:
        deadline = courier.deadline(courier.monotonic())
        arrived = await courier.backend.arrived(lease.who, step.turn_id, deadline)
        # Not before it is settled: a server that is writing the session anew shows a part of it.
        lost = settled and len(arrived) < len(step.messages)
        lost = lost and (len(arrived) < step.sent or await has_lost(courier.backend, lease, step.before, deadline))
    except BackendError as error:
        if not error.not_found:
            if error.answered or error.reason in {*REJECTED, Reason.DEADLINE_EXCEEDED}:  # it may lie in the session
                courier.poison_turns.failed(lease, step.turn_id, error.detail)
                if (why := courier.poison_turns.hopeless(step.turn_id)) is not None:
                    return TurnRejected(step, why)
            retry_at = courier.retry_at(lease, step, error)
            return TurnInDoubt(step, error.detail, max(until, retry_at + courier.settle_s), retry_at)
        arrived, lost = frozenset(), False
    left = await _decoded(step, lambda: sum(1 for _ in _without(step, arrived)))
    if not left:
        return TurnDelivered(step)
    if not settled:
        now = courier.clock()
        until = min(until, now + longest_s(courier.call_s, courier.settle_s))
        retry_at = min(until, now + max(courier.settle_s / 4, 0.05))
        return TurnInDoubt(step, "waiting for a write that may still happen", until, retry_at)
    if lost:
        return DeliveredLost(step)
    return _Missing(_without(step, arrived), left)


async def has_lost(backend: ContextBackend, lease: Lease, turn: Sent | None, deadline: Deadline) -> bool:
    """Whether some of a turn that the backend has taken is gone: see `app.store.lost_turns`. Raises `BackendError`."""
    return turn is not None and len(await backend.arrived(lease.who, turn.turn_id, deadline)) < turn.messages


def _without(step: SendTurn, arrived: frozenset[str]) -> Iterator[CapturedMessage]:
    return (message for message in islice(step.messages, step.sent, None) if message.source_id not in arrived)


async def _decoded(step: SendTurn, work: Callable[[], T]) -> T:
    """What ``work`` makes of the turn's messages, which it decodes; in a thread if that takes long."""
    return await anyio.to_thread.run_sync(work) if step.messages.is_large else work()


async def _append(
    courier: Courier, lease: Lease, step: SendTurn, batch: Sequence[CapturedMessage], deadline: Deadline
) -> TurnOutcome | None:
    if deadline.expired:  # this process was stopped after the mark: by now the session may be another worker's
        return TurnFailed(step, "too late for this write", courier.clock())
    try:
        await courier.backend.append(lease.who, batch, deadline)
    except BackendError as error:
        now = courier.clock()
        if error.uncertain or error.reason in REJECTED:
            courier.poison_turns.failed(lease, step.turn_id, error.detail)
        if error.uncertain:
            until = now + settles_in(error, deadline, courier.settle_s)
            soon = min(courier.settle_s, courier.backoff.first_s)
            return TurnInDoubt(step, error.detail, until, now + max(soon, error.retry_after_s or 0.0))
        if error.retryable:
            return TurnFailed(step, error.detail, courier.retry_at(lease, step, error))
        return TurnRejected(step, error.detail)
    finally:
        courier.memories_changed(lease.who)
    return None
