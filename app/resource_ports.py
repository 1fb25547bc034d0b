"""The port to documents and skills: imported, listed, searched, read, removed. A backend opens it beside its own port.

One contract suite (``tests/contract/test_resources.py``) runs over every implementation. Whatever goes wrong behind the
port is an `app.ports.BackendError`. Reading what somebody sends (`app.gathering`) comes before: a backend gets
documents that were read, and that hold nothing which must not be stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.documents.resource import FoundPassage, ImportTask, Kind, Resource


@dataclass(frozen=True, slots=True)
class NewResource:
    """What is to be imported: the resource as it will be, and where its documents lie (`app.gathering.spool`)."""

    resource: Resource
    spool: Path


@dataclass(frozen=True, slots=True)
class ReadResource:
    """A resource with what it says."""

    resource: Resource
    text: str
    """A skill's, or a document's; of a folder the names of its documents with a line about each."""
    documents: Sequence[str] = ()
    """The paths of its documents."""


class ResourceStore(Protocol):
    """The documents and skills of many tenants. Of ``who`` the tenant counts. ``path`` is `Resource.path`."""

    async def digests(self, who: Identity, path: str, deadline: Deadline) -> Mapping[str, str]:
        """By their paths, the digests of a resource's documents that need not be read again; empty where all must."""
        ...

    async def put(self, who: Identity, new: NewResource, deadline: Deadline) -> None:
        """Take it in, in the place of what is at its path; when it returns it is found.

        Safe to repeat, after a crash in the middle as well. Documents that are marked as unchanged stay as they are.
        """
        ...

    async def listed(self, who: Identity, kind: Kind, after: str, limit: int, deadline: Deadline) -> Sequence[Resource]:
        """At most ``limit`` of a kind by their paths, from behind the path ``after`` on; empty for the beginning."""
        ...

    async def search(
        self, who: Identity, query: str, kind: Kind, limit: int, deadline: Deadline
    ) -> Sequence[FoundPassage]:
        """The best ``limit`` passages for ``query``, best first."""
        ...

    async def read(self, who: Identity, path: str, deadline: Deadline) -> ReadResource | None:
        """A resource, or one of its documents; None when there is none."""
        ...

    async def remove(self, who: Identity, path: str, deadline: Deadline) -> bool:
        """Delete a resource with all its documents; whether it was there. Nothing of it is found afterwards."""
        ...


class ResourceTasks(Protocol):
    """Imports that were accepted: on disk, so that a process that is killed takes them up again.

    Raises `app.errors.StoreUnavailable`.
    """

    async def put(self, tenant: Tenant, task: ImportTask, spool: str) -> None:
        """Accept an import whose documents lie in the file named ``spool``; on disk when it returns."""
        ...

    async def get(self, tenant: Tenant, task_id: str) -> ImportTask | None:
        """One import of the tenant."""
        ...

    async def unfinished(self, tenant: Tenant, kind: Kind) -> Sequence[ImportTask]:
        """Those that are processing, and of each path that failed last its failure, newest first."""
        ...

    async def forget(self, tenant: Tenant, path: str) -> Sequence[str]:
        """Take out all imports of a path; the names of their spools."""
        ...
