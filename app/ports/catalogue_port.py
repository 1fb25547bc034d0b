"""The port to the catalogue of documents: what the sidecar keeps of them for a backend that keeps passages alone."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.core.identity import Tenant
from app.documents.resource import Kind, Resource


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
