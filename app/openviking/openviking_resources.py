"""Documents and skills on OpenViking: `app.ports.ResourceStore` over the catalogue and the server.

The server gets passages, and finds them; the catalogue says what they belong to. An import is noted before anything of
it is sent, sent in parts that may be sent again, and shown in one step when all of it is there. What it takes the place
of is gone with the same step, and is deleted from the server afterwards, now or with the tenant's next change.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from anyio import to_thread

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.memories.naming import home_path
from app.core.memories.relevance import relevance
from app.core.recall.hits import Hit
from app.documents.chunking import passages
from app.documents.passage_ranking import CANDIDATES
from app.documents.resource import HOME, FoundPassage, Kind, Resource, Status
from app.gathering import spool
from app.openviking import passage_files
from app.openviking.call_errors import rejected
from app.openviking.document_recall import DocumentRecall, by_words_and_meaning, prefixes
from app.openviking.recall import told_of_the_store
from app.openviking.remote_resources import RemoteResources
from app.openviking.skill_package import SkillPackage, skill_package
from app.ports import CataloguedDocument, NewResource, ReadResource, ResourceCatalogue

MAX_CONTENTS = 2_000
"""Documents of a folder that are named."""
SKILL_FILE = "skill.md"
T = TypeVar("T")


class OpenVikingResources:
    """See the module. ``tenant_of`` says which tenant a request means."""

    def __init__(
        self,
        catalogue: ResourceCatalogue,
        remote: RemoteResources,
        recall: DocumentRecall,
        tenant_of: Callable[[Tenant], Tenant],
    ) -> None:
        self._catalogue = catalogue
        self._remote = remote
        self._recall = recall
        self._tenant_of = tenant_of

    async def digests(self, who: Identity, path: str, deadline: Deadline) -> Mapping[str, str]:  # noqa: ARG002
        """See `ResourceStore.digests`."""
        with told_of_the_store():
            live = await self._catalogue.live(self._tenant_of(who.tenant), path)
        return {name: one.digest for name, one in live.items()}

    async def put(self, who: Identity, new: NewResource, deadline: Deadline) -> None:
        """See `ResourceStore.put`."""
        tenant = self._tenant_of(who.tenant)
        with told_of_the_store():
            is_skill = new.resource.kind is Kind.SKILL
            folders = await (self._put_skill if is_skill else self._put_parts)(tenant, new, deadline)
            if not await self._catalogue.show(tenant, replace(new.resource, status=Status.READY), folders):
                await self._swept(tenant, deadline)
                raise rejected("it was removed while it was taken in")
            await self._swept(tenant, deadline)

    async def listed(
        self,
        who: Identity,
        kind: Kind,
        after: str,
        limit: int,
        deadline: Deadline,  # noqa: ARG002
    ) -> Sequence[Resource]:
        """See `ResourceStore.listed`."""
        with told_of_the_store():
            return await self._catalogue.listed(self._tenant_of(who.tenant), kind, after, limit)

    async def search(
        self, who: Identity, query: str, kind: Kind, limit: int, deadline: Deadline
    ) -> Sequence[FoundPassage]:
        """See `ResourceStore.search`."""
        if limit < 1 or not query.strip():
            return []
        tenant = self._tenant_of(who.tenant)
        if kind is Kind.SKILL:
            skills = await self._remote.find(tenant, query, kind, limit, deadline)
            return await self._skills_found(tenant, query, skills, limit)
        hits = await self._remote.find(tenant, query, kind, max(limit, CANDIDATES), deadline)
        placed = {hit.uri: (hit, place) for hit, place in await self._recall.placed(tenant, hits) if place}
        own = [hit for hit, _ in placed.values()]
        return [
            FoundPassage(placed[hit.uri][1].resource, hit.uri, *hit.text.partition("\n")[::2], score=hit.score)
            for hit in await to_thread.run_sync(by_words_and_meaning, query, own, limit)
        ]

    async def read(self, who: Identity, path: str, deadline: Deadline) -> ReadResource | None:  # noqa: ARG002
        """See `ResourceStore.read`."""
        tenant = self._tenant_of(who.tenant)
        with told_of_the_store():
            resource = await self._catalogue.get(tenant, prefixes(path))
            if resource is None:
                return None
            contents = await self._catalogue.contents(tenant, resource.path, MAX_CONTENTS)
            names = [name for name, _ in contents]
            wanted = path[len(resource.path) + 1 :] or _main(names)
            if not wanted:
                return ReadResource(resource, "\n".join(f"{name}: {told}" for name, told in contents), names)
            document = await self._catalogue.document(tenant, resource.path, wanted)
        return ReadResource(resource, document.text, names) if document else None

    async def remove(self, who: Identity, path: str, deadline: Deadline) -> bool:
        """See `ResourceStore.remove`. It is found no more at once; while the server is away it may be asked again."""
        tenant = self._tenant_of(who.tenant)
        with told_of_the_store():
            there = await self._catalogue.remove(tenant, path)
            await self._swept(tenant, deadline)
        return there

    async def _put_parts(self, tenant: Tenant, new: NewResource, deadline: Deadline) -> list[str]:
        """The folders of all documents, once the server has them."""
        live = await self._catalogue.live(tenant, new.resource.path)
        folders: list[str] = []
        found = passage_files.parts(new.resource, new.spool, new.vault)
        while part := await to_thread.run_sync(_next, found):
            if isinstance(part, spool.Head):
                folders.append(_unchanged(part, live).folder)
                continue
            folders += part.folders
            if await self._catalogue.begin(tenant, new.resource.path, part.documents):
                continue
            await self._remote.put(tenant, part.root, part.archive, deadline)
            if not await self._catalogue.made(tenant, part.folders):
                await self._remote.delete(tenant, part.root, deadline)
                raise rejected("it was removed while it was taken in")
        return folders

    async def _put_skill(self, tenant: Tenant, new: NewResource, deadline: Deadline) -> list[str]:
        package = await to_thread.run_sync(skill_package, new)
        await self._catalogue.begin(tenant, new.resource.path, package.documents)
        await self._remote.put_skill(tenant, package.text, package.archive, deadline)
        folders = [one.folder for one in package.documents]
        if not await self._catalogue.made(tenant, folders):
            await self._remote.delete_skill(tenant, package.name, deadline)
            raise rejected("it was removed while it was taken in")
        return folders

    async def _swept(self, tenant: Tenant, deadline: Deadline) -> None:
        """Delete from the server what is gone."""
        gone = await self._catalogue.gone(tenant)
        for target in sorted({folder.rpartition("/")[0] if alone else folder for folder, alone in gone.items()}):
            name = SkillPackage.name_in(target)
            if name is None:
                await self._remote.delete(tenant, target, deadline)
            elif not await self._catalogue.get(tenant, [f"{Kind.SKILL.folder}/{name}"]):
                await self._remote.delete_skill(tenant, name, deadline)
            below = [one for one in gone if one == target or one.startswith(f"{target}/")]
            await self._catalogue.forget(tenant, below)

    async def _skills_found(self, tenant: Tenant, query: str, hits: Sequence[Hit], limit: int) -> list[FoundPassage]:
        """The passage of each skill that shares most words with the query: OpenViking finds whole skills."""
        found: dict[str, FoundPassage] = {}
        for hit in hits:
            path = "/".join(home_path(hit.uri).split("/")[:2])
            if path in found:
                continue
            with told_of_the_store():
                resource = await self._catalogue.get(tenant, [path])
                names = [name for name, _ in await self._catalogue.contents(tenant, path, MAX_CONTENTS)]
                document = await self._catalogue.document(tenant, path, _main(names) or "")
            if resource and document:
                place, text = await to_thread.run_sync(_best_passage, document, query)
                found[path] = FoundPassage(path, HOME + path, place, text, hit.score)
        return list(found.values())[:limit]


def _next(iterator: Iterator[T]) -> T | None:
    return next(iterator, None)


def _main(names: Sequence[str]) -> str | None:
    """The document that stands for all of them, where one does."""
    if len(names) == 1:
        return names[0]
    return next((name for name in names if name.rsplit("/", 1)[-1].lower() == SKILL_FILE), None)


def _unchanged(head: spool.Head, live: Mapping[str, CataloguedDocument]) -> CataloguedDocument:
    known = live.get(head.path)
    if known is None or known.digest != head.digest:
        raise rejected(f"the unchanged document {head.path!r} has changed meanwhile: import it again")
    return known


def _best_passage(document: CataloguedDocument, query: str) -> tuple[str, str]:
    from app.documents.types import markdown_text  # its parser is needed here and in the process that reads imports

    content = markdown_text.of_text(document.text)
    found = list(passages(document.path.rsplit("/", 1)[-1], content.sections))
    best = max(found, key=lambda one: relevance(query, f"{one.place}\n{one.text}"), default=None)
    return (best.place, best.text) if best else (document.path, document.summary)
