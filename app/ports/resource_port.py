"""The port to documents and skills: imported, listed, searched, read, removed. A backend opens it beside its own port.

Whatever goes wrong behind the port is an `app.ports.BackendError`. Reading what somebody sends (`app.gathering`) comes
before: a backend gets documents that were read, and that hold nothing which must not be stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.atrest.vault import PLAIN, Vault
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.documents.resource import FoundPassage, Kind, Resource


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
