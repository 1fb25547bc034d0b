"""Looking documents and skills up: listed, searched, read, followed, removed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.memories.naming import Homes
from app.documents.resource import FoundPassage, ImportTask, Kind, Resource, Status, known_path
from app.engine.memories.collaborators import operator_of
from app.engine.resources.shown_names import ShownNames
from app.engine.resources.telling import told_of_resources
from app.errors import FieldProblem, InvalidRequest, NotFound
from app.ports import ReadResource, ResourceStore, ResourceTasks

PASSAGES_PER_RESOURCE = 3
"""Of one resource so many passages stand in an answer; a folder of a handbook has more."""
MAX_PASSAGES = 100


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """Resources by their paths; ``after`` is the last one's place, empty at the end."""

    resources: Sequence[Resource]
    after: str = ""


@dataclass(frozen=True, slots=True)
class ScoredResource:
    """A resource with the passages that a search found in it, best first."""

    resource: Resource
    passages: Sequence[FoundPassage]

    @property
    def score(self) -> float:
        """That of the best passage."""
        return self.passages[0].score


class BrowseResources:
    """What is stored, for those who ask for it, under the names that may be shown."""

    def __init__(self, store: ResourceStore, tasks: ResourceTasks, names: ShownNames, homes: Homes) -> None:
        self._store = store
        self._tasks = tasks
        self._names = names
        self._homes = homes

    async def page(self, tenant: Tenant, kind: Kind, after: str, limit: int, deadline: Deadline) -> ResourcePage:
        """A page of a kind. The first begins with those that are being imported, or could not be.

        Each is listed once. Of one that could not be imported again, what was there before is.
        """
        after = await self._names.path_at(tenant, after, deadline)
        waiting = {task.resource.path: task.resource for task in await self._tasks.unfinished(tenant, kind)}
        with told_of_resources():
            found = list(await self._store.listed(operator_of(tenant), kind, after, limit + 1, deadline))
            more = found[limit - 1].path if len(found) > limit else ""
            first = [] if after else [one for one in waiting.values() if await self._is_told(tenant, one, deadline)]
        told = {one.path for one in waiting.values() if one.status is Status.PROCESSING}
        listed = [*first, *(one for one in found[:limit] if one.path not in told)]
        more = await self._names.place_of(tenant, more, deadline)
        return ResourcePage([self._names.resource(one) for one in listed], more)

    async def _is_told(self, tenant: Tenant, waiting: Resource, deadline: Deadline) -> bool:
        if waiting.status is Status.PROCESSING:
            return True
        return await self._store.read(operator_of(tenant), waiting.path, deadline) is None

    async def search(
        self, who: Identity, query: str, kind: Kind, limit: int, deadline: Deadline
    ) -> Sequence[ScoredResource]:
        """The resources that are about a query, best first."""
        with told_of_resources():
            wanted = min(MAX_PASSAGES, limit * PASSAGES_PER_RESOURCE)
            passages = await self._store.search(who, query, kind, wanted, deadline)
            by_path: dict[str, list[FoundPassage]] = {}
            for passage in passages:
                by_path.setdefault(passage.path, []).append(passage)
            found = []
            for path, theirs in list(by_path.items())[:limit]:
                known = await self._store.read(who, path, deadline)
                if known:
                    passages = [self._names.passage(one) for one in theirs]
                    found.append(ScoredResource(self._names.resource(known.resource), passages))
        return found

    async def read(self, tenant: Tenant, uri: str, deadline: Deadline, kind: Kind | None = None) -> ReadResource:
        """What stands at a URI. Raises `NotFound`."""
        path = await self._names.document_at(tenant, _path(self._homes, tenant, uri, kind), deadline)
        with told_of_resources():
            found = await self._store.read(operator_of(tenant), path, deadline)
        if found is None:
            raise NotFound("there is no such document or skill")
        return self._names.read(found)

    async def task(self, tenant: Tenant, task_id: str) -> ImportTask:
        """One import. Raises `NotFound`."""
        task = await self._tasks.get(tenant, task_id)
        if task is None:
            raise NotFound("there is no such import, or it ended long ago")
        return self._names.task(task)


class RemoveResource:
    """Deletes a resource, and whatever of it is still on its way; what is accepted later is left alone."""

    def __init__(
        self,
        store: ResourceStore,
        tasks: ResourceTasks,
        names: ShownNames,
        drop: Callable[[str], None],
        changed: Callable[[Tenant], None],
        homes: Homes,
    ) -> None:
        """``drop`` deletes a spool; ``changed`` is told of each removal, so that no search answers from before it."""
        self._store = store
        self._tasks = tasks
        self._names = names
        self._drop = drop
        self._changed = changed
        self._homes = homes

    async def run(self, tenant: Tenant, uri: str, kind: Kind, deadline: Deadline) -> str:
        """The path of what was removed, as it is shown. Raises `NotFound`."""
        path = await self._names.resource_at(tenant, _path(self._homes, tenant, uri, kind), deadline)
        resource = Resource(path, kind, "", "", 0, "")
        async with self._tasks.forgetting(tenant, resource, deadline.remaining) as forgotten:
            for spool in forgotten.spools:
                self._drop(spool)
            with told_of_resources():
                there = await self._store.remove(operator_of(tenant), path, deadline)
        self._changed(tenant)
        if not there and not forgotten.accepted:
            raise NotFound(f"there is no such {kind}")
        return self._names.path(path)


def _path(homes: Homes, tenant: Tenant, uri: str, kind: Kind | None) -> str:
    """The path of the caller's resource that a URI names. Raises `NotFound` for one in another user's home."""
    found = known_path(uri)
    if found is None or (kind and found[0] is not kind):
        names = " or ".join(f"viking://~/{one.folder}/" for one in Kind if kind in {None, one})
        raise InvalidRequest(FieldProblem("uri", f"give a URI that begins with {names}"))
    if homes.path(uri, tenant) is None:
        raise NotFound("there is no such document or skill")
    return found[1]
