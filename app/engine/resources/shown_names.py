"""Documents and skills under names that may be shown, and which of them such a name means.

The path of a resource is what it is found by, so a rule that is new can not change it. What is shown is the path with
what the rule hides masked; who gives that back means the resource that is shown so.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.documents.resource import HOME, FoundPassage, ImportTask, Resource, known_path
from app.engine.memories.collaborators import operator_of
from app.engine.policy.names import shown_path, shown_resource, shown_uri
from app.engine.resources.telling import told_of_resources
from app.errors import BackendTrouble, FieldProblem, InvalidRequest, NotFound
from app.policy.policy import is_masked
from app.ports import ReadResource, ResourceStore, ResourceTasks

AT_ONCE = 500
"""Resources looked through at a time."""
_NTH = "#"
"""In a place of a list, before the number among those that are shown alike; no path of a resource has it."""

Known = Mapping[str, Sequence[str]]
"""The paths of all resources of a kind, by what they are shown as."""


class ShownNames:
    """The names of one service's resources. ``rule`` says what may be shown of a text."""

    def __init__(self, store: ResourceStore, tasks: ResourceTasks, rule: Callable[[str], str]) -> None:
        self._store = store
        self._tasks = tasks
        self._rule = rule

    def path(self, path: str) -> str:
        """A path as it is shown."""
        return shown_path(self._rule, path)

    def resource(self, resource: Resource) -> Resource:
        """What is told of a resource."""
        return shown_resource(self._rule, resource)

    def task(self, task: ImportTask) -> ImportTask:
        """What is told of an import."""
        return replace(task, resource=self.resource(task.resource))

    def read(self, found: ReadResource) -> ReadResource:
        """A resource with what it says, likewise."""
        documents = [self.path(one) for one in found.documents]
        return replace(found, resource=self.resource(found.resource), documents=documents)

    def passage(self, passage: FoundPassage) -> FoundPassage:
        """A passage, likewise."""
        return replace(passage, path=self.path(passage.path), uri=shown_uri(self._rule, passage.uri))

    async def resource_at(self, tenant: Tenant, path: str, deadline: Deadline) -> str:
        """The path of the resource that ``path`` means, as it is shown or as it is stored.

        A path of which nothing is hidden is taken as it is. At any other one there must be a resource: raises
        `NotFound`, and `InvalidRequest` where several are shown so.
        """
        if not self._hides(path):
            return path
        known = await self._known(tenant, path, deadline)
        return _meant(path, known.get(self.path(path), ()))

    async def document_at(self, tenant: Tenant, path: str, deadline: Deadline) -> str:
        """The same of a resource or one of its documents."""
        if not self._hides(path):
            return path
        return await self._document_among(await self._known(tenant, path, deadline), tenant, path, deadline)

    async def uris_of(self, tenant: Tenant, uris: Sequence[str], deadline: Deadline) -> Mapping[str, str]:
        """What these URIs mean, of passages too; one is itself where it is not known, or means several."""
        found = {uri: uri for uri in uris}
        known: dict[str, Known] = {}
        for uri, (kind, path) in [(uri, named) for uri in uris if (named := known_path(uri))]:
            if not self._hides(path):
                continue
            try:
                if kind not in known:
                    known[kind] = await self._known(tenant, path, deadline)
                meant = await self._document_among(known[kind], tenant, path, deadline)
            except (NotFound, InvalidRequest, BackendTrouble):
                continue
            found[uri] = "".join([HOME, meant, *uri.partition("#")[1:]])
        return found

    async def place_of(self, tenant: Tenant, path: str, deadline: Deadline) -> str:
        """What names a resource's place in the list without what is hidden of its path. See `path_at`."""
        if not self._hides(path):
            return path
        shown = self.path(path)
        return f"{shown}{_NTH}{(await self._known(tenant, path, deadline))[shown].index(path)}"

    async def path_at(self, tenant: Tenant, place: str, deadline: Deadline) -> str:
        """The path that a `place_of` is for. Raises `InvalidRequest` where there is none any more."""
        path, mark, number = place.partition(_NTH)
        if not mark:
            return place
        alike = (await self._known(tenant, path, deadline)).get(path, ())
        if not number.isdecimal() or int(number) >= len(alike):
            raise InvalidRequest(FieldProblem("query.cursor", "begin with the first page: this place is gone"))
        return alike[int(number)]

    def _hides(self, path: str) -> bool:
        return is_masked(path) or self.path(path) != path

    async def _document_among(self, known: Known, tenant: Tenant, path: str, deadline: Deadline) -> str:
        shown = at = self.path(path)
        while at and at not in known:
            at = at.rpartition("/")[0]
        resource = _meant(path, known.get(at, ()))
        if at == shown:
            return resource
        with told_of_resources():
            found = await self._store.read(operator_of(tenant), resource, deadline)
        documents = [f"{resource}/{one}" for one in found.documents] if found else []
        return _meant(path, [one for one in documents if self.path(one) == shown])

    async def _known(self, tenant: Tenant, path: str, deadline: Deadline) -> Known:
        """All resources of the kind of ``path``, with those that are on their way or could not be imported."""
        found = known_path(path)
        if found is None:
            return {}
        kind, after = found[0], ""
        known: defaultdict[str, list[str]] = defaultdict(list)
        waiting = {task.resource.path for task in await self._tasks.unfinished(tenant, kind)}
        with told_of_resources():
            while page := await self._store.listed(operator_of(tenant), kind, after, AT_ONCE, deadline):
                for one in page:
                    known[self.path(one.path)].append(one.path)
                after = page[-1].path
                waiting.difference_update(one.path for one in page)
        for own in sorted(waiting):
            known[self.path(own)].append(own)
        return known


def _meant(path: str, found: Sequence[str]) -> str:
    """The one of ``found`` that a path is spelled like, or the only one there is."""
    if not found:
        raise NotFound("there is no such document or skill")
    own = next((one for one in found if f"{path}/".startswith(f"{one}/")), None)
    if own is None and len(found) > 1:
        how = f"{len(found)} have this name where it is masked: give the URI without a mask, as it was imported"
        raise InvalidRequest(FieldProblem("uri", how))
    return own or found[0]
