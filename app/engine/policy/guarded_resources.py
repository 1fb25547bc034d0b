"""Documents and skills behind the policy: what was stored before a rule came is masked when it is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.documents.resource import FoundPassage, Kind, Resource
from app.engine.policy.applying import under
from app.engine.policy.names import shown_path
from app.policy.policy import Policy
from app.ports import NewResource, ReadResource, ResourceStore


class GuardedResources:
    """A `ResourceStore` that passes each call on to another one. What is put in was read under the policy already.

    What resources are called stays, because they are found by it, and is masked where it is shown: see
    `app.engine.resources.shown_names`.
    """

    def __init__(self, store: ResourceStore, policy: Policy) -> None:
        self._store = store
        self._policy = policy

    async def digests(self, who: Identity, path: str, deadline: Deadline) -> Mapping[str, str]:
        """See `ResourceStore.digests`."""
        return await self._store.digests(who, path, deadline)

    async def put(self, who: Identity, new: NewResource, deadline: Deadline) -> None:
        """See `ResourceStore.put`."""
        await self._store.put(who, new, deadline)

    async def listed(self, who: Identity, kind: Kind, after: str, limit: int, deadline: Deadline) -> Sequence[Resource]:
        """See `ResourceStore.listed`."""
        return await self._store.listed(who, kind, after, limit, deadline)

    async def search(
        self, who: Identity, query: str, kind: Kind, limit: int, deadline: Deadline
    ) -> Sequence[FoundPassage]:
        """See `ResourceStore.search`."""
        policy = self._policy
        query = await under(policy, partial(policy.text, query), query)
        found = await self._store.search(who, query, kind, limit, deadline)
        return await under(policy, partial(_shown, policy, found), [one.text for one in found])

    async def read(self, who: Identity, path: str, deadline: Deadline) -> ReadResource | None:
        """See `ResourceStore.read`."""
        found = await self._store.read(who, path, deadline)
        if found is None:
            return None
        text = await under(self._policy, partial(_shown_text, self._policy, found), found.text, found.documents)
        return replace(found, text=text)

    async def remove(self, who: Identity, path: str, deadline: Deadline) -> bool:
        """See `ResourceStore.remove`."""
        return await self._store.remove(who, path, deadline)


def _shown_text(policy: Policy, found: ReadResource) -> str:
    """What it says. That of a folder tells its documents by their names."""
    text = found.text
    for name in found.documents:
        if (shown := shown_path(policy.text, name)) != name:
            text = text.replace(name, shown)
    return policy.text(text)


def _shown(policy: Policy, found: Sequence[FoundPassage]) -> list[FoundPassage]:
    judged = [(one, policy.apply(one.text)) for one in found]
    return [
        replace(one, text=outcome.text, place=policy.text(one.place)) for one, outcome in judged if not outcome.dropped
    ]
