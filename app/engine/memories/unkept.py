# ruff: noqa: ARG002 - nothing is asked of what there is not
"""A backend that keeps no memories one by one: each call says so."""

from collections.abc import Sequence
from typing import NoReturn

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.injection.session_start.section import Workspace
from app.core.memories.forget_selection import Erased, Forgetting, Statement
from app.core.memories.freshness import Revision
from app.core.memories.memory import Memory, MemoryChange, MemoryFilter, MemoryRecord, NewMemory, ScoredMemory
from app.core.memories.memory_outcomes import Receipt, Stored
from app.core.memories.paging import Place
from app.core.reasons import Reason
from app.ports import BackendError


class NoMemories:
    """`app.ports.MemoryStore` of such a backend."""

    async def newest(
        self, who: Identity, wanted: MemoryFilter, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[Memory]:
        """Refused."""
        _refuse()

    async def search(
        self, who: Identity, query: str, wanted: MemoryFilter, limit: int, deadline: Deadline
    ) -> Sequence[ScoredMemory]:
        """Refused."""
        _refuse()

    async def get(self, who: Identity, memory_id: str, deadline: Deadline) -> MemoryRecord | None:
        """Refused."""
        _refuse()

    async def store(self, who: Identity, new: NewMemory, deadline: Deadline) -> Stored:
        """Refused."""
        _refuse()

    async def change(
        self, who: Identity, memory_id: str, change: MemoryChange, if_version: int | None, deadline: Deadline
    ) -> Memory | None:
        """Refused."""
        _refuse()

    async def forget(self, who: Identity, memory_id: str, deadline: Deadline) -> Receipt | None:
        """Refused."""
        _refuse()

    async def ids(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """Refused."""
        _refuse()

    async def revise(self, who: Identity, revisions: Sequence[Revision], deadline: Deadline) -> Sequence[str]:
        """Refused."""
        _refuse()

    async def statement(self, who: Identity, memory_id: str, deadline: Deadline) -> Statement | None:
        """Refused."""
        _refuse()

    async def erase(self, who: Identity, forgetting: Forgetting, deadline: Deadline, *, dry_run: bool) -> Erased:
        """Refused."""
        _refuse()

    async def export(
        self, who: Identity, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[MemoryRecord]:
        """Refused."""
        _refuse()

    async def take_in(self, who: Identity, records: Sequence[MemoryRecord], deadline: Deadline) -> Sequence[str]:
        """Refused."""
        _refuse()

    async def workspace(self, who: Identity, days: Sequence[str], deadline: Deadline) -> Workspace:
        """None."""
        return Workspace()

    async def undelivered(self, tenant: Tenant) -> Sequence[Memory]:
        """None."""
        return ()

    async def unsettled(self) -> Sequence[Tenant]:
        """None."""
        return ()

    async def settle(self, tenant: Tenant, deadline: Deadline) -> None:
        """Nothing to do."""


def _refuse() -> NoReturn:
    raise BackendError(Reason.BACKEND_REJECTED, "this backend keeps no memories one by one", retryable=False)
