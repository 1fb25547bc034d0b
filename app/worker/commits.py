"""Having a session's archive made, following it, and trying a failed extraction again.

A commit that may have been made already is simply asked for again: ``keep_recent`` counts exactly what stays live, so
the backend then finds nothing to archive and says so, and the session itself tells what became of the first one.
"""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.deadline import Clock, Deadline
from app.core.identity import Identity
from app.core.reasons import Reason
from app.ports import BackendError, CommitState, ContextBackend
from app.store.work import (
    CommitAccepted,
    CommitEmpty,
    CommitExtracted,
    CommitPostponed,
    CommitProgress,
    CommitRefused,
    DeliveredLost,
    ExtractionFailed,
    FollowCommit,
    Lease,
    ReExtract,
    SendCommit,
)
from app.worker.backoff import Backoff
from app.worker.deliver import has_lost
from app.worker.outages import LONGEST_OF_COMMIT_S, Outages
from app.worker.settling import settles_in

SUMMARY_TOKENS = 1_000_000
"""Budget for reading a summary back: it only comes when all live messages fit before it."""
_ANOTHER = "another backend was asked for this archive, and this one does not have it"
LOST_AFTER_S = 900.0
"""How long an archive whose task the backend forgot may stay without a result before it counts as failed."""

CommitOutcome = (
    CommitAccepted
    | CommitEmpty
    | CommitRefused
    | CommitPostponed
    | CommitProgress
    | CommitExtracted
    | ExtractionFailed
    | DeliveredLost
)


@dataclass(frozen=True, slots=True)
class Archivist:
    """What commits need: the backend, and the time."""

    backend: ContextBackend
    backoff: Backoff
    outages: Outages
    settle_s: float
    call_s: float
    clock: Callable[[], float]
    monotonic: Clock
    memories_changed: Callable[[Identity], None]
    """Told when an extraction has ended: what was found for this user may be out of date."""

    def is_foreign(self, place: str | None) -> bool:
        """Whether what was made at ``place`` is another backend's: here its name may mean something else."""
        return place is not None and place != self.backend.place

    def deadline(self, since: float | None = None) -> Deadline:
        """For one call, which may begin from the monotonic time ``since``, or now."""
        return Deadline((self.monotonic() if since is None else since) + self.call_s, self.monotonic)


async def send(archivist: Archivist, lease: Lease, step: SendCommit, marked_at: float) -> CommitOutcome:
    """Ask the backend for the archive; it was marked as being asked for after the monotonic time ``marked_at``."""
    deadline = archivist.deadline(marked_at)
    if deadline.expired:  # this process was stopped after the mark: by now the session may be another worker's
        return CommitPostponed(step.id, "too late for this commit", archivist.clock(), in_doubt=step.in_doubt)
    try:
        if await has_lost(archivist.backend, lease, step.before, deadline):
            return DeliveredLost(step)
        receipt = await archivist.backend.commit(
            lease.who, step.keep_recent, deadline, new_epoch=step.new_epoch, instructions=step.instructions
        )
    except BackendError as error:
        return _refused(archivist, lease, step, error, deadline)
    poll_at = archivist.clock() + archivist.backoff.before_poll(0)
    if receipt.task_id is None and receipt.archive_id is None and not step.in_doubt:
        return CommitEmpty(step.id)
    return CommitAccepted(step.id, receipt.task_id, receipt.archive_id, poll_at, archivist.backend.place)


async def follow(archivist: Archivist, lease: Lease, step: FollowCommit) -> CommitOutcome:
    """Look how far the archive is; when it is extracted, read the summary back. A failed look is no failed archive."""
    try:
        if step.task_id is None or archivist.is_foreign(step.backend):
            return await _from_session(archivist, lease, step)
        status = await archivist.backend.commit_status(lease.who, step.task_id, archivist.deadline())
        if status.state is not CommitState.RUNNING:
            archivist.memories_changed(lease.who)
        match status.state:
            case CommitState.RUNNING:
                return _later(archivist, step)
            case CommitState.FAILED:
                return _failed(archivist, step, status.error, step.archive_id)
            case CommitState.LOST:
                return await _from_session(archivist, lease, step)
            case CommitState.COMPLETED:
                history = await archivist.backend.history(lease.who, SUMMARY_TOKENS, archivist.deadline())
                return CommitExtracted(step.id, history.overview)
    except BackendError as error:
        if error.not_found:
            return CommitEmpty(step.id, Reason.SESSION_NOT_FOUND)
        away_s = archivist.outages.wait_s(lease, error, LONGEST_OF_COMMIT_S)
        wait = max(archivist.backoff.before_poll(step.age_s), error.retry_after_s or 0.0, away_s)
        return CommitProgress(step.id, archivist.clock() + wait)


async def extract_again(archivist: Archivist, lease: Lease, step: ReExtract) -> CommitOutcome:
    """Try a failed extraction again."""
    retry_at = archivist.clock() + archivist.backoff.after_failed_extraction(step.attempts)
    if step.archive_id is None:
        return ExtractionFailed(step.id, "the backend does not say which archive failed", retry_at)
    try:
        if archivist.is_foreign(step.backend):
            history = await archivist.backend.history(lease.who, SUMMARY_TOKENS, archivist.deadline())
            if step.archive_id not in history.failed_ids:
                return CommitEmpty(step.id, _ANOTHER)
        receipt = await archivist.backend.re_extract(lease.who, step.archive_id, archivist.deadline())
    except BackendError as error:
        if error.not_found:
            return CommitEmpty(step.id, Reason.SESSION_NOT_FOUND)
        if error.retryable or error.uncertain:
            return CommitPostponed(step.id, error.detail, max(retry_at, archivist.clock() + (error.retry_after_s or 0)))
        return ExtractionFailed(step.id, error.detail, retry_at)
    # The receipt may name the archive of another session: the backend decides where it tries again.
    poll_at = archivist.clock() + archivist.backoff.before_poll(0)
    return CommitAccepted(step.id, receipt.task_id, None, poll_at, archivist.backend.place)


def _refused(
    archivist: Archivist, lease: Lease, step: SendCommit, error: BackendError, deadline: Deadline
) -> CommitOutcome:
    now = archivist.clock()
    if error.not_found:
        return CommitEmpty(step.id, Reason.SESSION_NOT_FOUND)
    if error.uncertain:
        wait = max(settles_in(error, deadline, archivist.settle_s), error.retry_after_s or 0.0)
        return CommitPostponed(step.id, error.detail, now + wait, in_doubt=True)
    if error.retryable:
        # An earlier attempt may still have worked: then the doubt stays.
        backoff_s = archivist.backoff.after_failure(step.attempts, error)
        wait = max(backoff_s, archivist.outages.wait_s(lease, error, LONGEST_OF_COMMIT_S))
        return CommitPostponed(step.id, error.detail, now + wait, in_doubt=step.in_doubt)
    return CommitRefused(step.id, error.detail, now + archivist.backoff.after_refused_commit(step.refusals))


async def _from_session(archivist: Archivist, lease: Lease, step: FollowCommit) -> CommitOutcome:
    """What became of an archive without a task, as far as the session's history tells."""
    history = await archivist.backend.history(lease.who, SUMMARY_TOKENS, archivist.deadline())
    failed = [archive_id for archive_id in history.failed_ids if archive_id not in step.known_failed]
    if step.archive_id in failed or (step.archive_id is None and failed):
        return _failed(archivist, step, "extraction failed", step.archive_id or failed[-1])
    mark = f"{step.last_turn_id}."
    running = any(message.source_id.startswith(mark) for message in history.messages)
    if step.age_s > LOST_AFTER_S or (not running and (history.overview or step.new_epoch)):
        return CommitExtracted(step.id, history.overview)
    if archivist.is_foreign(step.backend) and not running:
        return CommitEmpty(step.id, _ANOTHER)
    return _later(archivist, step)


def _later(archivist: Archivist, step: FollowCommit) -> CommitProgress:
    return CommitProgress(step.id, archivist.clock() + archivist.backoff.before_poll(step.age_s))


def _failed(archivist: Archivist, step: FollowCommit, error: str, archive_id: str | None) -> ExtractionFailed:
    retry_at = archivist.clock() + archivist.backoff.after_failed_extraction(step.attempts)
    return ExtractionFailed(step.id, error, retry_at, archive_id)
