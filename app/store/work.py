"""What passes between the store and a worker: a lease on a session, the next step to take for it, and how that went."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from app.core.identity import Identity
from app.store.codec import StoredMessages


class TurnState(StrEnum):
    """Where a turn is on its way to the backend."""

    PENDING = "pending"
    SENDING = "sending"
    """A write was begun and its outcome is not known (yet, or because the process died)."""
    DELIVERED = "delivered"
    DEAD = "dead"
    """The backend refused it for good; it waits for a retry or a discard by hand."""
    DISCARDED = "discarded"
    SKIPPED = "skipped"


class CommitPhase(StrEnum):
    """Where a commit is."""

    PLANNED = "planned"
    SENDING = "sending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    """The archive stands in the backend, its extraction failed; it is tried again."""
    EMPTY = "empty"
    """The backend had nothing to archive."""
    REJECTED = "rejected"
    LOCAL = "local"
    """Nothing was asked of the backend: an automation session was cleared, and must not become memory."""


OPEN_TURNS = (TurnState.PENDING, TurnState.SENDING)
UNDELIVERED = (*OPEN_TURNS, TurnState.DEAD)
"""States whose text is nowhere but in the store."""
UNSENT_COMMITS = (CommitPhase.PLANNED, CommitPhase.SENDING)


class Lane(IntEnum):
    """What a session waits for. A worker takes sessions by lane, so that work that can wait holds up no new turn."""

    TURN = 0
    """A turn that has not failed yet."""
    RETRY = 1
    """A turn that failed, or that may have been written."""
    ASKED = 2
    """A commit that was asked for, by a caller who may be waiting."""
    REST = 3
    """Other commits, and a look at what became of them."""


class LeaseLost(Exception):
    """Another worker holds the session now: nothing may be sent or recorded for it any more."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a session. Every record made under it checks ``fence``, which grows with each lease."""

    session_id: int
    fence: int
    who: Identity
    lane: Lane
    """What the session was leased for."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A turn of which the backend has taken the first ``messages`` messages."""

    turn_id: str
    messages: int


@dataclass(frozen=True, slots=True)
class SendTurn:
    """Deliver the messages after the first ``sent``.

    ``doubt_until``: a write of unknown outcome was begun, and may still arrive until then.
    """

    id: int
    turn_id: str
    messages: StoredMessages
    sent: int
    attempts: int
    doubt_until: float | None
    before: Sent | None = None
    """The last turn that was delivered before that write began, unless the store does not hold what it says."""


@dataclass(frozen=True, slots=True)
class SendCommit:
    """Ask for an archive of all but the newest ``keep_recent`` messages. ``in_doubt``: it may be made already."""

    id: int
    keep_recent: int
    new_epoch: bool
    attempts: int
    in_doubt: bool
    refusals: int = 0
    """Commits of the session that the backend refused in a row."""
    instructions: str = ""
    """What the summary has to keep."""
    before: Sent | None = None
    """Of one in doubt: the last turn that was delivered before it was asked for, as in `SendTurn`."""


@dataclass(frozen=True, slots=True)
class FollowCommit:
    """Look how far a commit's task is. Without ``task_id`` only the session itself can tell."""

    id: int
    task_id: str | None
    archive_id: str | None
    attempts: int
    age_s: float
    new_epoch: bool
    last_turn_id: str | None
    """The last turn in the archive: while the backend lists its messages as live, the archive is not finished."""
    known_failed: tuple[str, ...]
    """Other archives of this session that are known to have failed."""
    backend: str | None = None
    """The place of the backend that was asked for the commit, when it is known."""


@dataclass(frozen=True, slots=True)
class ReExtract:
    """Try a failed archive's extraction again."""

    id: int
    archive_id: str | None
    attempts: int
    backend: str | None = None
    """The place of the backend that has the archive, when it is known."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing to do before ``until`` (None: before something new is accepted)."""

    until: float | None


WorkStep = SendTurn | SendCommit | FollowCommit | ReExtract
Step = WorkStep | Rest


@dataclass(frozen=True, slots=True)
class TurnDelivered:
    """All messages of the turn are in the backend."""

    step: SendTurn


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """Nothing (more) of the turn was written; try again at ``retry_at``."""

    step: SendTurn
    error: str
    retry_at: float


@dataclass(frozen=True, slots=True)
class TurnInDoubt:
    """The write may have happened, or may still happen until ``until``: look again at ``retry_at``."""

    step: SendTurn
    error: str
    until: float
    retry_at: float


@dataclass(frozen=True, slots=True)
class TurnRejected:
    """The backend will never take the turn."""

    step: SendTurn
    error: str


@dataclass(frozen=True, slots=True)
class DeliveredLost:
    """The backend has lost what was delivered of the session since its last archive."""

    step: SendTurn | SendCommit


@dataclass(frozen=True, slots=True)
class CommitAccepted:
    """An archive is being made; ``poll_at``: when to look at its task."""

    id: int
    task_id: str | None
    archive_id: str | None
    poll_at: float
    backend: str | None = None
    """The place of the backend that makes it."""


@dataclass(frozen=True, slots=True)
class CommitEmpty:
    """There was nothing to archive, or what was to be followed is nowhere to be found (``error`` says so)."""

    id: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class CommitRefused:
    """The backend will not take this commit; the session's next one is not tried by itself before ``retry_at``."""

    id: int
    error: str
    retry_at: float


@dataclass(frozen=True, slots=True)
class CommitPostponed:
    """The attempt failed, or its outcome is unknown (``in_doubt``); the commit's next step is due at ``retry_at``."""

    id: int
    error: str
    retry_at: float
    in_doubt: bool = False


@dataclass(frozen=True, slots=True)
class CommitProgress:
    """Still running, or the poll failed: look again at ``poll_at``."""

    id: int
    poll_at: float


@dataclass(frozen=True, slots=True)
class CommitExtracted:
    """The archive is extracted; ``overview`` is the backend's summary of all archives, empty if it makes none."""

    id: int
    overview: str


@dataclass(frozen=True, slots=True)
class ExtractionFailed:
    """The archive stands, its extraction failed; try again at ``retry_at``."""

    id: int
    error: str
    retry_at: float
    archive_id: str | None = None


Outcome = (
    TurnDelivered
    | TurnFailed
    | TurnInDoubt
    | TurnRejected
    | DeliveredLost
    | CommitAccepted
    | CommitEmpty
    | CommitRefused
    | CommitPostponed
    | CommitProgress
    | CommitExtracted
    | ExtractionFailed
)
