"""The port to documents and skills on local files: `.shelf` in worker threads, under a deadline."""

from collections.abc import Collection, Mapping, Sequence

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.documents.passage_ranking import CANDIDATES
from app.documents.resource import FoundPassage, Kind, Resource, known_path
from app.embedded.local_engine import LocalEngine
from app.embedded.memory_store import nothing_is_normal
from app.embedded.resources.resource_files import Outdated
from app.embedded.resources.resource_index import realm_of
from app.embedded.space import UserSpace
from app.gathering.spool import SpoolDamaged
from app.ports import BackendError, NewResource, ReadResource

MAX_CANDIDATES = 400


class EmbeddedResources:
    """`app.ports.ResourceStore` on local files."""

    def __init__(self, engine: LocalEngine) -> None:
        self._engine = engine

    async def digests(self, who: Identity, path: str, deadline: Deadline) -> Mapping[str, str]:
        """See `ResourceStore.digests`."""

        def known(space: "UserSpace") -> Mapping[str, str]:
            index = space.shelf.index()
            return index.digests(path) if index else {}

        with nothing_is_normal():
            return await self._engine.reading(who, known, deadline)
        return {}

    async def put(self, who: Identity, new: NewResource, deadline: Deadline) -> None:
        """See `ResourceStore.put`. It goes on behind a deadline, and may be begun again."""

        def put(space: "UserSpace") -> None:
            try:
                space.shelf.put(new, deadline)
            except SpoolDamaged as error:
                raise Outdated(f"{error}: remove it, and import it again") from error

        try:
            await self._engine.changing(who, put, deadline)
        except Outdated as error:
            raise BackendError(Reason.BACKEND_REJECTED, str(error), retryable=False) from error

    async def listed(self, who: Identity, kind: Kind, after: str, limit: int, deadline: Deadline) -> Sequence[Resource]:
        """See `ResourceStore.listed`."""

        def found(space: "UserSpace") -> Sequence[Resource]:
            index = space.shelf.index()
            return index.listed(kind, after, limit) if index else ()

        with nothing_is_normal():
            return await self._engine.reading(who, found, deadline)
        return ()

    async def search(
        self, who: Identity, query: str, kind: Kind, limit: int, deadline: Deadline
    ) -> Sequence[FoundPassage]:
        """See `ResourceStore.search`."""
        hits = await self.find(who, query, kind, limit, deadline)

        def stored(space: "UserSpace") -> frozenset[str]:
            index = space.shelf.index()
            return frozenset(index.stamps()) if index else frozenset()

        paths = await self._engine.reading(who, stored, deadline) if hits else frozenset()
        return [passage for hit in hits if (passage := _passage(hit, paths))]

    async def find(self, who: Identity, query: str, kind: Kind, limit: int, deadline: Deadline) -> list[Hit]:
        """The hits that recall chooses from, best first; a text begins with its place."""
        if limit < 1 or not query.strip():
            return []
        wanted = min(max(2 * limit, CANDIDATES), MAX_CANDIDATES)
        realms = [realm_of(kind)]
        with nothing_is_normal():
            words, similar = await self._engine.both_searches(
                lambda index: index.word_scores(query, realms, wanted),
                lambda index: index.search_vectors(query, realms, wanted),
                lambda space: space.shelf.index(),
                who,
                deadline,
            )
            return await self._engine.reading(
                who,
                lambda space: index.hits(query, words, similar, limit) if (index := space.shelf.index()) else [],
                deadline,
            )
        return []

    async def read(self, who: Identity, path: str, deadline: Deadline) -> ReadResource | None:
        """See `ResourceStore.read`."""
        with nothing_is_normal():
            return await self._engine.reading(who, lambda space: space.shelf.read(path), deadline)
        return None

    async def remove(self, who: Identity, path: str, deadline: Deadline) -> bool:
        """See `ResourceStore.remove`."""
        with nothing_is_normal():
            return await self._engine.reading(who, lambda space: space.shelf.remove(path, deadline), deadline)
        return False


def _passage(hit: Hit, paths: Collection[str]) -> FoundPassage | None:
    """The passage of a hit; None when its resource was removed meanwhile."""
    place, _, text = hit.text.partition("\n")
    found = known_path(hit.uri)
    path = found[1] if found else ""
    while path and path not in paths:
        path = path.rpartition("/")[0]
    return FoundPassage(path, hit.uri, place, text, hit.score) if path else None
