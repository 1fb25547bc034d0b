"""The port to imports that were accepted and wait to be taken in."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from app.core.identity import Tenant
from app.documents.resource import ImportTask, Kind, Resource


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a removal has taken out of the imports."""

    accepted: int
    """Imports that had not ended."""
    spools: Sequence[str]
    """The files of those that are not being worked on: they may be deleted."""


class ResourceTasks(Protocol):
    """Imports that were accepted: on disk, so that a process that is killed takes them up again.

    Raises `app.errors.StoreUnavailable`.
    """

    async def mark(self, tenant: Tenant, path: str) -> str | None:
        """What names the last thing that was accepted at a path, removals included; None while it has not ended."""
        ...

    async def put(self, tenant: Tenant, task: ImportTask, spool: str, as_of: str | None = None) -> bool:
        """Accept an import whose documents lie in the file named ``spool``; on disk when it returns.

        ``as_of`` is the `mark` that what it leaves out was compared at: when it is not the mark any more, nothing is
        accepted, and the answer is False.
        """
        ...

    async def get(self, tenant: Tenant, task_id: str) -> ImportTask | None:
        """One import of the tenant."""
        ...

    async def unfinished(self, tenant: Tenant, kind: Kind) -> Sequence[ImportTask]:
        """Those that are processing, and of each path that failed last its failure, newest first."""
        ...

    def forgetting(self, tenant: Tenant, resource: Resource, seconds: float) -> AbstractAsyncContextManager[Forgotten]:
        """Take out all imports of a resource's path. What is accepted from now on waits until the block has ended.

        The block takes so many ``seconds`` at most; what a killed process has begun, another one carries out.
        An import that is being carried out is removed again once that has ended, before anything newer is taken in.
        """
        ...
