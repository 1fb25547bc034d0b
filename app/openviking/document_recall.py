"""Recall of documents by the catalogue: what OpenViking finds, without passages of what is removed, or half made."""

from collections.abc import Sequence

from anyio import to_thread

from app.core.identity import Tenant
from app.core.recall.hits import Hit
from app.documents.passage_ranking import Found, of_candidates, ranked
from app.documents.resource import HOME
from app.openviking.passage_files import passage_path, remote_passage
from app.openviking.recall import told_of_the_store
from app.ports import DocumentPlace, ResourceCatalogue
from app.text import bm25


class DocumentRecall:
    """Tells passages of this service's imports by their URIs. What others put there is shown as it is."""

    def __init__(self, catalogue: ResourceCatalogue) -> None:
        self._catalogue = catalogue

    async def best(self, tenant: Tenant, query: str, hits: Sequence[Hit], limit: int) -> list[Hit]:
        """The best ``limit`` of the hits that may be shown, each under the URI of its document and passage."""
        placed = [hit for hit, _ in await self.placed(tenant, hits)]
        return await to_thread.run_sync(by_words_and_meaning, query, placed, limit)

    async def placed(self, tenant: Tenant, hits: Sequence[Hit]) -> list[tuple[Hit, DocumentPlace | None]]:
        """The same, each with the document that it stands in; None for what others put there."""
        passages = [remote_passage(hit.uri) for hit in hits]
        with told_of_the_store():
            places = await self._catalogue.places(tenant, {one.folder for one in passages if one})
        found: list[tuple[Hit, DocumentPlace | None]] = []
        for hit, passage in zip(hits, passages, strict=True):
            if passage is None:
                found.append((hit, None))
            elif place := places.get(passage.folder):
                uri = f"{HOME}{place.resource}/{place.document}#{passage.number}"
                found.append((hit._replace(uri=uri), place))
        return found

    async def remote(self, tenant: Tenant, uri: str) -> str:
        """Where the server has the passage that is shown under a URI; the URI itself for anything else."""
        path, _, number = uri.removeprefix(HOME).partition("#")
        if not number.isdecimal() or not uri.startswith(f"{HOME}resources/"):
            return uri
        with told_of_the_store():
            resource = await self._catalogue.get(tenant, prefixes(path))
            if resource is None:
                return uri
            document = await self._catalogue.document(tenant, resource.path, path[len(resource.path) + 1 :])
        return HOME + passage_path(document.folder, int(number)) if document else uri


def by_words_and_meaning(query: str, hits: Sequence[Hit], limit: int) -> list[Hit]:
    """The best ``limit``, by the server's scores and by the words of the query.

    The server knows what is alike in meaning alone: names, settings and codes of a document mean nothing to it.
    """
    words = bm25.scores(query, [hit.text for hit in hits])
    found = [Found(hit, hit.score, score) for hit, score in zip(hits, words, strict=True)]
    return ranked(query, found, of_candidates([hit.score for hit in hits]), limit)


def prefixes(path: str) -> list[str]:
    """A path and all the paths above it."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
