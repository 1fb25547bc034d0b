"""Counts and times every call to a backend, whichever backend it is."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Clock, Deadline
from app.core.identity import Identity
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, RecallFilter
from app.ports import (
    Appended,
    BackendError,
    BackendHealth,
    CommitReceipt,
    CommitStatus,
    ContextBackend,
    SessionHistory,
    Target,
)

OnCall = Callable[[str, str, str, float], None]
"""Told of every call: the backend's name, operation, outcome, seconds."""

T = TypeVar("T")


class MeasuredBackend:
    """A `ContextBackend` that passes each call on to another one, and tells how it went and how long it took.

    The outcome is ``ok``, what the error says of itself (`BackendError.outcome`), ``cancelled``, or ``bug`` for an
    exception that the port does not allow.
    """

    def __init__(self, backend: ContextBackend, on_call: OnCall, *, clock: Clock = time.perf_counter) -> None:
        self.name = backend.name
        self.place = backend.place
        self.call_s = backend.call_s
        self._backend = backend
        self._on_call = on_call
        self._clock = clock

    def gauges(self) -> Mapping[str, float]:
        """See `ContextBackend.gauges`."""
        return self._backend.gauges()

    async def find(
        self,
        who: Identity,
        query: str,
        target: Target,
        limit: int,
        deadline: Deadline,
        only: RecallFilter = ANY,
    ) -> list[Hit]:
        """See `ContextBackend.find`."""
        return await self._measured("find", self._backend.find(who, query, target, limit, deadline, only))

    async def read(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """See `ContextBackend.read`."""
        return await self._measured("read", self._backend.read(who, uris, deadline))

    async def append(self, who: Identity, messages: Sequence[CapturedMessage], deadline: Deadline) -> Appended:
        """See `ContextBackend.append`."""
        return await self._measured("append", self._backend.append(who, messages, deadline))

    async def arrived(self, who: Identity, turn_id: str, deadline: Deadline) -> frozenset[str]:
        """See `ContextBackend.arrived`."""
        return await self._measured("arrived", self._backend.arrived(who, turn_id, deadline))

    async def copies(self, who: Identity, turn_id: str, deadline: Deadline) -> int:
        """See `ContextBackend.copies`."""
        return await self._measured("copies", self._backend.copies(who, turn_id, deadline))

    async def commit(
        self, who: Identity, keep_recent: int, deadline: Deadline, *, new_epoch: bool = False, instructions: str = ""
    ) -> CommitReceipt:
        """See `ContextBackend.commit`."""
        committing = self._backend.commit(who, keep_recent, deadline, new_epoch=new_epoch, instructions=instructions)
        return await self._measured("commit", committing)

    async def commit_status(self, who: Identity, task_id: str, deadline: Deadline) -> CommitStatus:
        """See `ContextBackend.commit_status`."""
        return await self._measured("commit_status", self._backend.commit_status(who, task_id, deadline))

    async def history(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        """See `ContextBackend.history`."""
        return await self._measured("past", self._backend.history(who, token_budget, deadline))

    async def archives(self, who: Identity, deadline: Deadline) -> tuple[str, ...]:
        """See `ContextBackend.archives`."""
        return await self._measured("archives", self._backend.archives(who, deadline))

    async def archived_messages(self, who: Identity, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        """See `ContextBackend.archived_messages`."""
        return await self._measured("archived_messages", self._backend.archived_messages(who, archive_id, deadline))

    async def re_extract(self, who: Identity, archive_id: str, deadline: Deadline) -> CommitReceipt:
        """See `ContextBackend.re_extract`."""
        return await self._measured("re_extract", self._backend.re_extract(who, archive_id, deadline))

    async def health(self, deadline: Deadline) -> BackendHealth:
        """See `ContextBackend.health`. It raises nothing; its outcome is ``ok`` or ``not_ok``, as the answer says."""
        return await self._measured("health", self._backend.health(deadline), _how_well)

    async def aclose(self) -> None:
        """See `ContextBackend.aclose`."""
        await self._backend.aclose()

    async def _measured(self, operation: str, call: Awaitable[T], how: Callable[[T], str] = lambda _: "ok") -> T:
        outcome, began = "cancelled", self._clock()
        try:
            answer = await call
            outcome = how(answer)
            return answer
        except BackendError as error:
            outcome = error.outcome
            raise
        except Exception:
            outcome = "bug"
            raise
        finally:
            self._on_call(self.name, operation, outcome, self._clock() - began)


def _how_well(health: BackendHealth) -> str:
    return "ok" if health.ok else "not_ok"
