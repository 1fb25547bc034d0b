"""The port to documents and skills: imported, listed, searched, read, removed. A backend opens it beside its own port.

One contract suite (``tests/contract/test_resources.py``) runs over every implementation. Whatever goes wrong behind the
port is an `app.ports.BackendError`. Reading what somebody sends (`app.gathering`) comes before: a backend gets
documents that were read, and that hold nothing which must not be stored.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from app.atrest.vault import PLAIN, Vault
from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.documents.resource import FoundPassage, ImportTask, Kind, Resource


@dataclass(frozen=True, slots=True)
class NewResource:
    """What is to be imported: the resource as it will be, and where its documents lie (`app.gathering.spool`)."""

    resource: Resource
    spool: Path
    vault: Vault = PLAIN
    """What reads it."""


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


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a removal has taken out of the imports."""

    accepted: int
    """Imports that had not ended."""
    spools: Sequence[str]
    """The files of those that nobody works on: they may be deleted."""


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


class DocumentState(StrEnum):
    """How far a document is whose passages the backend keeps."""

    MAKING = "making"
    """Its passages may be on their way."""
    MADE = "made"
    """All of its passages are there; it is not shown yet."""
    LIVE = "live"
    GONE = "gone"
    """It is not shown any more; its passages have still to be deleted."""


@dataclass(frozen=True, slots=True)
class CataloguedDocument:
    """A document whose passages the backend keeps in ``folder``, which no other document ever has."""

    path: str
    folder: str
    digest: str
    title: str = ""
    summary: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """Which document a folder of passages belongs to."""

    resource: str
    """The path of its resource."""
    document: str
    """Its own, within the resource."""


class ResourceCatalogue(Protocol):
    """What the sidecar keeps of documents for a backend that keeps passages alone: whatever is not in it is not shown.

    By tenant, in the sidecar's own store, so that every process sees a change at once and as a whole. ``resource`` is
    `Resource.path`. Raises `app.errors.StoreUnavailable`.
    """

    async def live(self, tenant: Tenant, resource: str) -> Mapping[str, CataloguedDocument]:
        """The documents of a resource by their paths, without their texts."""
        ...

    async def begin(self, tenant: Tenant, resource: str, documents: Sequence[CataloguedDocument]) -> bool:
        """Note documents before the backend gets anything of them; whether all of them were made already."""
        ...

    async def made(self, tenant: Tenant, folders: Collection[str]) -> bool:
        """The backend has all of these documents; False when one of them was removed meanwhile."""
        ...

    async def show(self, tenant: Tenant, resource: Resource, folders: Collection[str]) -> bool:
        """From now on the resource is these documents, and all others that it has are gone.

        False, and nothing is changed, when one of them is not made, or was removed meanwhile.
        """
        ...

    async def remove(self, tenant: Tenant, resource: str) -> bool:
        """Take a resource out with all its documents, which are gone then; whether there was anything of it."""
        ...

    async def gone(self, tenant: Tenant) -> Mapping[str, bool]:
        """Folders of documents that are gone, each with whether nothing beside it in its own folder is wanted."""
        ...

    async def forget(self, tenant: Tenant, folders: Collection[str]) -> None:
        """Take out documents that are gone: the backend has nothing of them any more."""
        ...

    async def listed(self, tenant: Tenant, kind: Kind, after: str, limit: int) -> Sequence[Resource]:
        """See `ResourceStore.listed`."""
        ...

    async def get(self, tenant: Tenant, paths: Collection[str]) -> Resource | None:
        """The resource at the longest of these paths."""
        ...

    async def contents(self, tenant: Tenant, resource: str, limit: int) -> Sequence[tuple[str, str]]:
        """Paths and summaries of a resource's documents, by their paths."""
        ...

    async def document(self, tenant: Tenant, resource: str, path: str) -> CataloguedDocument | None:
        """One document, with its text."""
        ...

    async def places(self, tenant: Tenant, folders: Collection[str]) -> Mapping[str, DocumentPlace]:
        """Whose passages these folders hold, of documents that are shown."""
        ...
