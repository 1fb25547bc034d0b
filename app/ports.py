"""The two ports: the context backend (OpenViking, or plain files) and the turn store.

One contract suite (``tests/contract``) runs over every implementation of a port. A backend raises `BackendError` and
nothing else for anything that goes wrong behind it; a cancelled call leaves only what the backend itself has begun.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.history.guards.cuts import Cut
from app.core.history.guards.packing import Original, Packed
from app.core.history.prompt_layout import Layout
from app.core.history.window import Measured, Window
from app.core.identity import Identity, Tenant
from app.core.json.answers import answer
from app.core.memories.audit import OnWritten
from app.core.memories.memory import NewMemory
from app.core.reasons import Reason
from app.core.recall.hits import Hit as Hit
from app.core.recall.recall_filter import ANY, RecallFilter
from app.memory_ports import MemoryLedger, MemoryStore
from app.resource_ports import ResourceCatalogue, ResourceStore


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


class BackendServer(Protocol):
    """A server that this service runs for its backend."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep it running until the block ends. Raises `CanNotStart` when it never could run."""
        ...

    def look(self) -> dict[str, str]:
        """What `doctor` tells of it, and of the one that ``serve`` runs. Raises `CanNotStart` when none can run."""
        ...


@dataclass(frozen=True, slots=True)
class OpenedBackend:
    """What a backend's package hands over when it is opened; see `app.backends`."""

    backend: ContextBackend
    server: BackendServer | None = None
    memories: Callable[[MemoryLedger], MemoryStore] | None = None
    """Opens its memories one by one, given a place for what the backend has none for; None while it keeps none."""
    resources: Callable[[ResourceCatalogue], ResourceStore] | None = None
    """Opens its documents and skills, given a catalogue for what it has no place for; None where it keeps none."""
    tell: Callable[[OnWritten], None] | None = None
    """Has somebody told of the memories that it writes by itself; None where it does not know them."""


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn as `/after-turn` hands it to the store."""

    who: Identity
    key: str | None
    """The host's idempotency key."""
    fingerprint: str
    """Of what is said: with the same key it tells a repeat from a reuse."""
    occurrence: str | None
    """What only a repeat of the turn shares with it, whatever its key (see `capture.incoming`); None: nothing does."""
    messages: tuple[CapturedMessage, ...]
    fingerprints: tuple[str, ...]
    """One per host message of the turn, in host order: how `/assemble` finds archived messages again."""
    tokens: int
    token_budget: int
    remember: bool = False
    """The user asked to remember something."""
    skipped: Reason | None = None
    """Why nothing of it is delivered (heartbeat, nothing new); its fingerprints are kept all the same."""
    span: tuple[int, int] | None = None
    """First and last time of the messages behind ``fingerprints``, epoch milliseconds; None when none carries one."""
    memories: tuple[NewMemory, ...] = ()
    """What it asks to remember: on disk with it, and recalled from then on."""
    usage: Measured | None = None
    """What the host says that the model really used."""
    reply_tokens: int = 0
    """Of ``tokens``, those of the last reply."""
    flush_at: int | None = None
    """With how many tokens in the host's window a flush is due; None for never."""
    compared_through: int = 0
    """The position of the session's newest turn that it was compared with (`Recorded.through`); see `SeenBefore`."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a session's turns hold that may stand in a new turn again."""

    fingerprints: tuple[str, ...] = ()
    """Oldest first."""
    through: int = 0
    """The position of the newest turn that was looked at."""


class SeenBefore(Exception):
    """Turns that a new one was not compared with hold messages of the same times; nothing was written.

    Compare it with what `TurnStore.recorded` has, and put it in again.
    """


class CompactionState(StrEnum):
    """Where a session's background upload stands."""

    IDLE = "idle"
    UPLOADING = "uploading"
    UPLOADED = "uploaded"
    FORCED = "forced"


@answer
@dataclass(frozen=True, slots=True)
class MessageRange:
    """Messages of a session by their running number in it, both ends included."""

    start: int
    end: int


@answer
@dataclass(frozen=True, slots=True)
class Compaction:
    """The background upload of a long session."""

    state: CompactionState = CompactionState.IDLE
    upload_id: str | None = None
    message_range: MessageRange | None = None
    clear: MessageRange | None = None
    """What the host may drop."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The store's answer, given only once the turn is on disk."""

    status: Literal["committed", "duplicate", "skipped"]
    """``committed``, ``duplicate`` or ``skipped``."""
    turn_id: str
    captured: int
    delivered: bool
    pending_tokens: int
    compaction: Compaction
    flushes: bool = False
    """A flush is due, and that it was told is on disk."""


@dataclass(frozen=True, slots=True)
class LocalHistory:
    """What the store knows of the part of a session (in its present epoch) that is archived or cleared."""

    fingerprints: tuple[str, ...] = ()
    """Of every host message that is archived or was skipped before an archived one, oldest first."""
    summary: str = ""
    """The last summary that the backend made, kept so that an outage does not blank the history."""
    unsummarised: tuple[CapturedMessage, ...] = ()
    """Archived or cleared messages that ``summary`` does not cover: their extraction failed or still runs."""
    opening: tuple[str, ...] = ()
    """What the epoch's first turns told, a text for each turn."""
    focus: str = ""
    """What compactions were asked to keep (`app.core.history.focus`)."""
    assembled_at: float = 0
    """When a prompt was last asked for, epoch seconds, as far as that was noted; 0 for never."""
    cuts: tuple[Cut, ...] = ()
    """What guards decided in the session."""
    layout: Layout | None = None
    """How the session's last prompt was laid out."""
    changes: int = 0
    """How often something of the tenant was changed on purpose: a layout is kept only while that holds."""
    assemble_budget: int = 0
    """The token budget that `/assemble` was last given, as far as it was noted; 0 for none."""
    epoch: int = 0
    known: bool = False
    """False when the store never saw this session."""
    resetting: bool = False
    """A reset is accepted and the backend has not carried it out yet: what it shows is the old epoch's."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as it was taken in. Its messages are dropped once an archive that holds them is extracted."""

    turn_id: str
    messages: tuple[CapturedMessage, ...]
    archive_id: str | None
    """The archive that holds it, as far as the backend named one."""


class TurnStore(Protocol):
    """Turns, their delivery, and what was archived of them. Its worker-facing half lives in `app.store`."""

    async def accept(self, turn: NewTurn) -> Acceptance:
        """Put the turn on disk, or recognise it. Raises `KeyReused`, `OutboxFull`, `StoreUnavailable`, `SeenBefore`."""
        ...

    async def seen_fingerprints(self, who: Identity) -> tuple[str, ...]:
        """The fingerprints of all turns of the session's present epoch, oldest first."""
        ...

    async def recorded(self, who: Identity, span: tuple[int, int] | None, *, in_order: bool) -> Recorded:
        """The fingerprints of messages that a turn with times within ``span`` may hold again.

        Messages with a time are the same in every epoch. ``in_order`` adds those without one, of the present epoch.
        """
        ...

    async def local_history(self, who: Identity) -> LocalHistory:
        """What is archived or cleared of the session; an empty one for an unknown session."""
        ...

    def note_budget(self, who: Identity, token_budget: int) -> None:
        """Have the budget noted that `/assemble` was given: commits go by the smaller one of it and the turns' own.

        The answer does not wait for it; one that is lost comes again with the next request.
        """
        ...

    async def window(self, who: Identity) -> Window:
        """What is known of the host's window in this session."""
        ...

    async def note_window(self, who: Identity, tokens: int) -> None:
        """Write down that the host's window holds so many tokens."""
        ...

    async def begin_flush(self, who: Identity, tokens: int, token_budget: int) -> bool:
        """The same for a window in which a flush is due. True once for each compaction: then it is to be told."""
        ...

    def note_request(self, who: Identity) -> None:
        """Have it noted that a prompt of the session is asked for; the answer does not wait for it."""
        ...

    async def keep_outputs(
        self, who: Identity, outputs: Sequence[Packed], layout: Layout | None = None, changes: int = 0
    ) -> None:
        """Write down what guards decided, the originals of what they cut, and how the prompt is laid out.

        The layout is left out when something of the tenant was forgotten since ``changes`` was read: it may tell it.
        Raises `StoreUnavailable`.
        """
        ...

    async def tool_output(self, who: Identity, ref: str) -> Original | None:
        """The newest output of the session that was cut under this name; None for none."""
        ...

    async def tool_output_refs(self, who: Identity, limit: int) -> tuple[str, ...]:
        """The names of the newest outputs of the session that were cut and can be read, newest first."""
        ...

    async def undelivered(self, who: Identity) -> tuple[CapturedMessage, ...]:
        """The messages of the session's present epoch that the backend does not have yet, oldest first."""
        ...

    async def last_agent(self, tenant: Tenant, session: str) -> str | None:
        """The agent last seen for this session."""
        ...
