"""`/sessions/end` and `/sessions/reset`: deliver and archive what is left of a session, and begin anew."""

from dataclasses import dataclass

from pydantic import computed_field

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.json.answers import answer
from app.core.reasons import Reason
from app.store.requests import CommitView
from app.store.turns import SqlTurnStore
from app.store.work import UNSENT_COMMITS, CommitPhase
from app.worker.supervisor import Worker


@dataclass(frozen=True, slots=True)
class SessionInput:
    """Which end or reset is asked for: the host's token budget, and whether the session is left alone."""

    token_budget: int
    bypassed: bool = False


@answer
@dataclass(frozen=True, slots=True)
class SessionResult:
    """What became of the session. What the backend has not taken on yet is on disk and will be done."""

    reason: Reason
    task_id: str | None = None
    """Once it is known."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def ok(self) -> bool:
        """False only when the backend refused it for good."""
        return self.reason is not Reason.COMMIT_ERROR


@dataclass(frozen=True, slots=True)
class EndSession:
    """The use case of `/sessions/end`."""

    store: SqlTurnStore
    worker: Worker

    async def run(self, who: Identity, asked: SessionInput, deadline: Deadline) -> SessionResult:
        """Deliver and archive what is live of the session; waits, until the deadline, for the backend to take it on."""
        if asked.bypassed:
            return SessionResult(Reason.SESSION_BYPASSED)
        commit = await self.store.end(who, asked.token_budget)
        return await _taken_on(commit, deadline, store=self.store, worker=self.worker)


@dataclass(frozen=True, slots=True)
class ResetSession:
    """The use case of `/sessions/reset`."""

    store: SqlTurnStore
    worker: Worker

    async def run(self, who: Identity, asked: SessionInput, deadline: Deadline) -> SessionResult:
        """Begin a new epoch: from now on nothing of the old one appears, and it is archived for long-term memory."""
        if asked.bypassed:
            return SessionResult(Reason.SESSION_BYPASSED)
        commit = await self.store.reset(who, asked.token_budget)
        return await _taken_on(commit, deadline, store=self.store, worker=self.worker)


async def _taken_on(
    commit: CommitView | None, deadline: Deadline, *, store: SqlTurnStore, worker: Worker
) -> SessionResult:
    if commit is None:
        return SessionResult(Reason.COMMIT_NO_ARCHIVE)

    async def done() -> bool:
        return (await store.commits([commit.id]))[0].phase not in UNSENT_COMMITS

    await worker.wait_until(done, deadline)
    found = (await store.commits([commit.id]))[0]
    return SessionResult(_reason(found), found.task_id)


def _reason(commit: CommitView) -> Reason:
    match commit.phase:
        case CommitPhase.EMPTY:
            unknown = commit.error == Reason.SESSION_NOT_FOUND
            return Reason.SESSION_NOT_FOUND if unknown else Reason.COMMIT_NO_ARCHIVE
        case CommitPhase.REJECTED:
            return Reason.COMMIT_ERROR
    return Reason.OK
