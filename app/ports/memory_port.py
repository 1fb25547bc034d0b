"""The port to memories one by one: listed, read, stored, changed, forgotten. A backend opens it beside its own port.

Whatever goes wrong behind it is an `app.ports.BackendError`, as with `app.ports.ContextBackend`.
"""

from collections.abc import Sequence
from typing import Protocol

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.injection.session_start.section import Workspace
from app.core.memories.forget_selection import Erased, Forgetting, Statement
from app.core.memories.freshness import Revision
from app.core.memories.memory import Memory, MemoryChange, MemoryFilter, MemoryRecord, NewMemory, ScoredMemory
from app.core.memories.memory_outcomes import Receipt, Stored
from app.core.memories.paging import Place


class MemoryStore(Protocol):
    """The memories of many tenants. Of ``who`` the tenant counts; what a peer may see is in the filter.

    An id that the tenant does not have is None, whoever else may have it.
    """

    async def newest(
        self, who: Identity, wanted: MemoryFilter, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[Memory]:
        """At most ``limit`` of those wanted, newest first by (``created_at``, ``id``), from behind ``after`` on.

        What was said (raw turns) is among them only where the filter asks for its category.
        """
        ...

    async def search(
        self, who: Identity, query: str, wanted: MemoryFilter, limit: int, deadline: Deadline
    ) -> Sequence[ScoredMemory]:
        """At most ``limit`` of those wanted that are about ``query``, best first; raw turns may be among them."""
        ...

    async def get(self, who: Identity, memory_id: str, deadline: Deadline) -> MemoryRecord | None:
        """One memory, in whatever state, with its history."""
        ...

    async def store(self, who: Identity, new: NewMemory, deadline: Deadline) -> Stored:
        """Put it on disk; from the next search on it is found, and what it supersedes is not.

        Safe to repeat: an id that is there already is answered with its memory. The text of a live memory of the same
        peer confirms that one; another text under the key of one supersedes it. One that was forgotten is not stored
        again under the same id: that raises `BackendError` with ``not_found``.
        """
        ...

    async def change(
        self, who: Identity, memory_id: str, change: MemoryChange, if_version: int | None, deadline: Deadline
    ) -> Memory | None:
        """Change it; a new text makes a new version, and the old one is found no more, wherever else it stands.

        Raises `app.errors.VersionConflict` when it is not at ``if_version``, `app.errors.Conflict` for what can not be
        changed (what was said).
        """
        ...

    async def forget(self, who: Identity, memory_id: str, deadline: Deadline) -> Receipt | None:
        """Delete it; its text is found no more, wherever else it stands. The receipt names what was not reached."""
        ...

    async def ids(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """The ids of the memories that searches find at these URIs; without those that are gone."""
        ...

    async def revise(self, who: Identity, revisions: Sequence[Revision], deadline: Deadline) -> Sequence[str]:
        """Change what a check has found, each in the memory's history; the ids of those that were changed.

        One that was changed since it was looked at, or is gone, is left alone.
        """
        ...

    async def statement(self, who: Identity, memory_id: str, deadline: Deadline) -> Statement | None:
        """What a forgetting of one memory works with: every text that it ever had, and where those were said.

        Raises `app.errors.Conflict` for what can not be forgotten alone.
        """
        ...

    async def erase(self, who: Identity, forgetting: Forgetting, deadline: Deadline, *, dry_run: bool) -> Erased:
        """Remove what is to be forgotten from wherever the backend keeps it, look again, and say what is left.

        ``dry_run`` only says what would be removed. Safe to repeat. A message that loses everything stays known by its
        id, so that it is not delivered again. Nothing that was on its way (a delivery, an extraction, an index that is
        built) brings it back; whoever says or stores it again afterwards does.
        """
        ...

    async def export(
        self, who: Identity, after: Place | None, limit: int, deadline: Deadline
    ) -> Sequence[MemoryRecord]:
        """Like `newest`, with the history: memories of every state, raw turns not among them."""
        ...

    async def take_in(self, who: Identity, records: Sequence[MemoryRecord], deadline: Deadline) -> Sequence[str]:
        """Put exported memories on disk with ids, times and history; the ids written. Those there are left alone.

        One that was forgotten is stored on purpose, as a new memory: under another id, always the same.
        """
        ...

    async def workspace(self, who: Identity, days: Sequence[str], deadline: Deadline) -> Workspace:
        """The files that a person reads and writes beside the memories: daily notes are those of ``days``.

        Empty where the backend keeps no such files.
        """
        ...

    async def undelivered(self, tenant: Tenant) -> Sequence[Memory]:
        """The live ones that are on disk here, and that the backend's own search does not know as they are.

        Raises `app.errors.StoreUnavailable`.
        """
        ...

    async def unsettled(self) -> Sequence[Tenant]:
        """Whose memories are on disk here and not, or not as they are, where the backend keeps them.

        Raises `app.errors.StoreUnavailable`.
        """
        ...

    async def settle(self, tenant: Tenant, deadline: Deadline) -> None:
        """Have the backend know what it does not know yet of a tenant's memories."""
        ...
