"""The port to the context backend (OpenViking, or plain files): long-term memory and session history of many tenants.

A backend raises `BackendError` and nothing else for anything that goes wrong behind it; a cancelled call leaves only
what the backend itself has begun.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, RecallFilter


class BackendError(Exception):
    """A call failed. ``reason`` is what the host is told; ``uncertain``: a write may have happened all the same.

    ``answered``: the backend itself has said how the call went, so that it does not go on working on it.
    ``outcome``: one word for metrics, where the backend can say more than the reason does.
    """

    def __init__(
        self,
        reason: Reason,
        detail: str,
        *,
        retryable: bool,
        uncertain: bool = False,
        retry_after_s: float | None = None,
        not_found: bool = False,
        answered: bool = False,
        outcome: str = "",
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.retryable = retryable
        self.uncertain = uncertain
        self.retry_after_s = retry_after_s
        self.not_found = not_found
        self.answered = answered
        self.outcome = outcome or str(reason)

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process: an error's arguments alone do not make it again."""
        return _backend_error, (self.reason, self.detail, {key: vars(self)[key] for key in _MARKS})


_MARKS = ("retryable", "uncertain", "retry_after_s", "not_found")


def _backend_error(reason: Reason, detail: str, marks: dict[str, Any]) -> BackendError:
    return BackendError(reason, detail, **marks)


class Target(StrEnum):
    """Where to search."""

    MEMORIES = "memories"
    EXPERIENCES = "experiences"
    RESOURCES = "resources"


@dataclass(frozen=True, slots=True)
class SessionHistory:
    """What the backend has of a session. ``overview`` is the summary of everything archived, empty if there is none."""

    overview: str
    abstracts: tuple[tuple[str, str], ...]
    """(archive id, abstract) of older archives, oldest first."""
    messages: tuple[CapturedMessage, ...]
    """The live (not yet archived) messages, oldest first."""
    archives: int = 0
    failed_archives: int = 0
    failed_ids: tuple[str, ...] = ()
    """Archives whose extraction failed and was not made good, oldest first, where the backend can name them."""


class CommitState(StrEnum):
    """How far a commit is."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    LOST = "lost"
    """The backend does not know the task any more; whether it worked must be read from the session."""


@dataclass(frozen=True, slots=True)
class CommitReceipt:
    """The answer to a commit. Without ``task_id`` there was nothing to archive (``skipped`` says why)."""

    task_id: str | None
    archive_id: str | None
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """The state of a commit's task, with the backend's reason when it failed."""

    state: CommitState
    error: str = ""


@dataclass(frozen=True, slots=True)
class Appended:
    """The session after an append: how many messages wait for a commit, and their tokens by the backend's own count."""

    live_messages: int
    pending_tokens: int


@dataclass(frozen=True, slots=True)
class BackendHealth:
    """What `/readyz` and `doctor` show."""

    ok: bool
    detail: str
    facts: dict[str, str] = field(default_factory=dict)


class ContextBackend(Protocol):
    """Long-term memory and session history of many tenants."""

    name: str
    place: str
    """Where its data is: tasks and archives of a backend in another place are not its own. Without secrets."""
    call_s: float
    """Longest time that a write takes when its deadline leaves it all the time there is, seconds."""

    def gauges(self) -> Mapping[str, float]:
        """How it fares, as numbers for `/metrics`: each appears there as ``sidecar_<backend's name>_<its own>``."""
        ...

    async def find(
        self,
        who: Identity,
        query: str,
        target: Target,
        limit: int,
        deadline: Deadline,
        only: RecallFilter = ANY,
    ) -> list[Hit]:
        """The best ``limit`` leaf hits for ``query``, best first; an empty list is a normal answer. One request.

        Of memories those that ``only`` admits: what it does not must not take up the limit.
        """
        ...

    async def read(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """What stands behind these hits' URIs now, for people; what is gone or can not be read is left out.

        Of a hit that joins several messages it is the first. Raises when nothing could be asked for.
        """
        ...

    async def append(self, who: Identity, messages: Sequence[CapturedMessage], deadline: Deadline) -> Appended:
        """Add 1 to 100 messages to the session, all or none, creating it if need be. NOT idempotent: see `arrived`.

        Raises with ``uncertain=True`` whenever the write may have happened or may still happen.
        """
        ...

    async def arrived(self, who: Identity, turn_id: str, deadline: Deadline) -> frozenset[str]:
        """Which ``source_id`` values that contain ``turn_id`` stand in the session, live or archived."""
        ...

    async def copies(self, who: Identity, turn_id: str, deadline: Deadline) -> int:
        """How many messages of a turn stand in the session, live or archived, beyond the first copy of each.

        Always 0 where `append` leaves out what is there already.
        """
        ...

    async def commit(
        self, who: Identity, keep_recent: int, deadline: Deadline, *, new_epoch: bool = False, instructions: str = ""
    ) -> CommitReceipt:
        """Archive all but the newest ``keep_recent`` messages and start extraction in the background.

        ``new_epoch`` also drops the summary from the session's context (a reset). An unknown session: ``not_found``.
        ``instructions``: what the summary has to keep, in a person's words; for a backend that can tell its model so.
        """
        ...

    async def commit_status(self, who: Identity, task_id: str, deadline: Deadline) -> CommitStatus:
        """How far the commit with this task is."""
        ...

    async def history(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        """Summary, archive index and live messages of the session. An unknown session: ``not_found``."""
        ...

    async def archives(self, who: Identity, deadline: Deadline) -> tuple[str, ...]:
        """The session's archives since its last reset, oldest first, whatever became of their extraction.

        An unknown session has none.
        """
        ...

    async def archived_messages(self, who: Identity, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        """The raw messages of an archive, whether its extraction worked or not."""
        ...

    async def re_extract(self, who: Identity, archive_id: str, deadline: Deadline) -> CommitReceipt:
        """Try the extraction of a failed archive again without adding a message to the session a second time."""
        ...

    async def health(self, deadline: Deadline) -> BackendHealth:
        """Whether the backend answers, and what it says about itself. Never raises."""
        ...

    async def aclose(self) -> None:
        """Release connections and files."""
        ...
