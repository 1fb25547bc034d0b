"""Documents and skills where the backend keeps none."""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.reasons import Reason
from app.documents.resource import FoundPassage, Kind, Resource
from app.ports import BackendError, NewResource, ReadResource


class NoResources:
    """`app.ports.ResourceStore` without any: nothing is found, and nothing can be imported."""

    async def digests(self, who: Identity, path: str, deadline: Deadline) -> Mapping[str, str]:  # noqa: ARG002
        """Refused, so that nothing is accepted that could not be taken in."""
        _refuse()

    async def put(self, who: Identity, new: NewResource, deadline: Deadline) -> None:  # noqa: ARG002
        """Refused."""
        _refuse()

    async def listed(
        self,
        who: Identity,  # noqa: ARG002
        kind: Kind,  # noqa: ARG002
        after: str,  # noqa: ARG002
        limit: int,  # noqa: ARG002
        deadline: Deadline,  # noqa: ARG002
    ) -> Sequence[Resource]:
        """None."""
        return ()

    async def search(
        self,
        who: Identity,  # noqa: ARG002
        query: str,  # noqa: ARG002
        kind: Kind,  # noqa: ARG002
        limit: int,  # noqa: ARG002
        deadline: Deadline,  # noqa: ARG002
    ) -> Sequence[FoundPassage]:
        """None."""
        return ()

    async def read(self, who: Identity, path: str, deadline: Deadline) -> ReadResource | None:  # noqa: ARG002
        """None."""
        return None

    async def remove(self, who: Identity, path: str, deadline: Deadline) -> bool:  # noqa: ARG002
        """There is nothing to remove."""
        return False


def _refuse() -> NoReturn:
    raise BackendError(Reason.BACKEND_REJECTED, "this backend keeps no documents or skills", retryable=False)
