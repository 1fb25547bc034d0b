"""A small, real implementation of the backend port in memory, with switches for what can go wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, RecallFilter
from app.ports import (
    Appended,
    BackendError,
    BackendHealth,
    CommitReceipt,
    CommitState,
    CommitStatus,
    SessionHistory,
    Target,
)


@dataclass
class Archive:
    id: str
    messages: list[CapturedMessage]
    state: CommitState = CommitState.RUNNING


@dataclass
class Session:
    live: list[CapturedMessage] = field(default_factory=list)
    archives: list[Archive] = field(default_factory=list)
    hidden: int = 0
    """Archives that a reset put out of the context."""


def lost_before() -> BackendError:
    return BackendError(Reason.OPENVIKING_UNAVAILABLE, "reset before the write", retryable=True, uncertain=True)


def refused(retry_after_s: float | None = None) -> BackendError:
    return BackendError(
        Reason.OPENVIKING_UNAVAILABLE, "refused", retryable=True, uncertain=False, retry_after_s=retry_after_s
    )


def rejected() -> BackendError:
    return BackendError(Reason.OPENVIKING_REJECTED, "400 no", retryable=False)


class MemoryBackend:
    """Sessions in a dict. ``faults`` are taken one a write: an error to raise, before or after the write is applied."""

    name = "memory"
    place = "memory"
    call_s = 10.0

    def __init__(self) -> None:
        self.sessions: dict[tuple[str, str], Session] = {}
        self.faults: list[tuple[str, BackendError | None]] = []
        """("before" | "after" | "later", error); "later" keeps the write for `apply_late`."""
        self.late: list[Callable[[], None]] = []
        self.extraction_works = True
        self.instant = True
        self.keeps_tasks = True
        self.calls: list[str] = []
        self.instructions: list[str] = []
        """Of each commit."""
        self.appended_batches: list[int] = []
        self.on_append: Callable[[Identity], None] = lambda _who: None

    def gauges(self) -> Mapping[str, float]:
        return {"sessions": float(len(self.sessions))}

    def session(self, who: Identity) -> Session:
        return self.sessions.setdefault((who.account_key, who.session), Session())

    def texts(self, who: Identity) -> list[str]:
        """Everything ever stored of the session, in order."""
        session = self.session(who)
        stored = [message for archive in session.archives for message in archive.messages] + session.live
        return [part.text for message in stored for part in message.parts if isinstance(part, TextPart)]

    def apply_late(self) -> None:
        while self.late:
            self.late.pop(0)()

    def finish(self) -> None:
        """End every running extraction."""
        for session in self.sessions.values():
            for archive in session.archives:
                if archive.state is CommitState.RUNNING:
                    archive.state = CommitState.COMPLETED if self.extraction_works else CommitState.FAILED

    async def find(
        self,
        who: Identity,
        query: str,
        target: Target,
        limit: int,
        deadline: Deadline,
        only: RecallFilter = ANY,
    ) -> list[Hit]:
        return []

    async def read(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        return {}

    async def append(self, who: Identity, messages: Sequence[CapturedMessage], deadline: Deadline) -> Appended:
        self.calls.append("append")
        assert 1 <= len(messages) <= 100
        self.on_append(who)

        def write() -> None:
            self.session(who).live.extend(messages)
            self.appended_batches.append(len(messages))

        self._with_fault(write)
        return Appended(len(self.session(who).live), 0)

    async def arrived(self, who: Identity, turn_id: str, deadline: Deadline) -> frozenset[str]:
        self.calls.append("arrived")
        session = self.session(who)
        stored = [message for archive in session.archives for message in archive.messages] + session.live
        return frozenset(message.source_id for message in stored if turn_id in message.source_id)

    async def copies(self, who: Identity, turn_id: str, deadline: Deadline) -> int:
        return 0

    async def commit(
        self, who: Identity, keep_recent: int, deadline: Deadline, *, new_epoch: bool = False, instructions: str = ""
    ) -> CommitReceipt:
        self.instructions.append(instructions)
        self.calls.append(f"commit keep={keep_recent}{' reset' if new_epoch else ''}")
        if (who.account_key, who.session) not in self.sessions:
            raise BackendError(Reason.SESSION_NOT_FOUND, "no such session", retryable=False, not_found=True)
        receipts: list[CommitReceipt] = []
        self._with_fault(lambda: receipts.append(self._archive(who, keep_recent, new_epoch)))
        return receipts[0]

    def _archive(self, who: Identity, keep_recent: int, new_epoch: bool) -> CommitReceipt:
        session = self.session(who)
        if new_epoch:
            session.hidden = len(session.archives) + 1
        cut = len(session.live) - (0 if new_epoch else keep_recent)
        if cut <= 0:
            return CommitReceipt(None, None, "all_within_keep_window")
        archive = Archive(f"archive_{len(session.archives) + 1:03d}", session.live[:cut])
        session.live = session.live[cut:]
        session.archives.append(archive)
        if self.instant:
            self.finish()
        return CommitReceipt(f"{who.session}/{archive.id}", archive.id)

    async def commit_status(self, who: Identity, task_id: str, deadline: Deadline) -> CommitStatus:
        self.calls.append("commit_status")
        if not self.keeps_tasks:
            return CommitStatus(CommitState.LOST)
        _, _, archive_id = task_id.rpartition("/")
        return CommitStatus(self._find(who, archive_id).state, "the model is down")

    async def history(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        session = self.session(who)
        shown = session.archives[session.hidden :]
        done = [archive.id for archive in shown if archive.state is CommitState.COMPLETED]
        running = [m for a in session.archives if a.state is CommitState.RUNNING for m in a.messages]
        failed = tuple(archive.id for archive in session.archives if archive.state is CommitState.FAILED)
        return SessionHistory(
            overview=f"summary of {', '.join(done)}" if done else "",
            abstracts=(),
            messages=(*running, *session.live),
            archives=len(session.archives),
            failed_archives=len(failed),
            failed_ids=failed,
        )

    async def archives(self, who: Identity, deadline: Deadline) -> tuple[str, ...]:
        session = self.session(who)
        return tuple(archive.id for archive in session.archives[session.hidden :])

    async def archived_messages(self, who: Identity, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        return self._find(who, archive_id).messages

    async def re_extract(self, who: Identity, archive_id: str, deadline: Deadline) -> CommitReceipt:
        self.calls.append("re_extract")
        archive = self._find(who, archive_id)
        archive.state = CommitState.RUNNING
        if self.instant:
            self.finish()
        return CommitReceipt(f"{who.session}/{archive.id}", "archive_of_another_session")

    async def health(self, deadline: Deadline) -> BackendHealth:
        return BackendHealth(True, "fine")

    async def aclose(self) -> None:
        return None

    def _find(self, who: Identity, archive_id: str) -> Archive:
        return next(archive for archive in self.session(who).archives if archive.id == archive_id)

    def _with_fault(self, write: Callable[[], object]) -> None:
        when, error = self.faults.pop(0) if self.faults else ("none", None)
        if when in {"none", "after"}:
            write()
        if when == "later":
            self.late.append(lambda: write() and None)
        if error is not None:
            raise error
