"""The index of one user's documents and skills, beside that of memories: a search for either never meets the other.

It is made from the files (`.resource_files`) and can be made again from them. A document is taken in whole or not at
all; a new resource is not found until all of its documents are there.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from app.atrest.vault import Vault
from app.core.recall.hits import Hit
from app.documents.passage_ranking import BY_INDEX, Found, Scale, of_candidates, ranked
from app.documents.resource import Kind, Resource
from app.embedded.index.chunk_table import ChunkTable, add_chunks, remove_chunks
from app.embedded.index.database import Database, new_id, one
from app.embedded.index.documents import Document
from app.embedded.index.embedders import Embedder
from app.embedded.index.embedding import PatientEmbedder
from app.embedded.index.similar import NOTHING_SIMILAR, Similar
from app.embedded.index.sqlite import Connection, SqliteError
from app.embedded.index.vectors import Vectors
from app.embedded.resources.resource_files import Stored
from app.gathering.spool import Spooled

SCHEMA = """
CREATE TABLE resources(path TEXT PRIMARY KEY, kind TEXT, header TEXT, stamp TEXT) WITHOUT ROWID;
CREATE TABLE documents(id INTEGER PRIMARY KEY, resource TEXT, path TEXT, digest TEXT, title TEXT, summary TEXT,
                       UNIQUE(resource, path))
"""
BEING_MADE = ""
"""The stamp of a resource whose documents are not all there yet."""


class ResourceIndex(ChunkTable):
    """The documents of one user. All methods may be called from any thread."""

    def __init__(self, file: Path, embedder: Embedder | None, vault: Vault) -> None:
        super().__init__(Database(file, schema=SCHEMA, vault=vault))
        self._embedder = PatientEmbedder(embedder)
        self._vectors = Vectors(self._database, self._embedder.name)
        self._closed = False

    def stop(self) -> None:
        """Take nothing more in, and embed nothing more: both go on after the next start."""
        self._closed = True

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    # keeping up with the files

    def stamps(self) -> dict[str, str]:
        """The stamp of each resource's file as it was taken in."""
        with self._database.reading() as db:
            return {str(path): str(stamp) for path, stamp in db.execute("SELECT path, stamp FROM resources")}

    def take_in(self, stored: Stored, documents: Iterator[Spooled]) -> bool:
        """Bring a resource in step with its file, a document at a time; False when it was stopped before the end."""
        path = stored.resource.path
        self._announce(stored)
        known = self.digests(path)
        for spooled in documents:
            if self._closed:
                return False
            digest = known.pop(spooled.head.path, None)
            if digest != spooled.head.digest:
                with self._writing() as db:
                    _remove_document(db, path, spooled.head.path)
                    _add_document(db, stored.resource, spooled)
        with self._writing() as db:
            for gone in known:
                _remove_document(db, path, gone)
            _write_header(db, stored, stored.stamp)
        return True

    def _announce(self, stored: Stored) -> None:
        """Note a resource that is new, so that its documents belong to something; it is not found yet."""
        with self._writing() as db:
            if db.execute("SELECT 1 FROM resources WHERE path = ?", (stored.resource.path,)).fetchone() is None:
                _write_header(db, stored, BEING_MADE)

    def remove(self, path: str) -> None:
        """Forget a resource with its documents, and leave nothing of their words unless a reader is at work."""
        with self._writing() as db:
            for document in self.digests(path):
                _remove_document(db, path, document)
            db.execute("DELETE FROM resources WHERE path = ?", (path,))
            db.execute("INSERT INTO chunks_fts(chunks_fts) VALUES ('optimize')")
            self._vectors.prune(db)
        with suppress(SqliteError):
            self._database.rewrite()

    def digests(self, path: str) -> dict[str, str]:
        """By their paths, the digests of a resource's documents."""
        with self._database.reading() as db:
            rows = db.execute("SELECT path, digest FROM documents WHERE resource = ?", (path,)).fetchall()
        return {str(document): str(digest) for document, digest in rows}

    # looking things up

    def listed(self, kind: Kind, after: str, limit: int) -> list[Resource]:
        """See `app.ports.ResourceStore.listed`."""
        query = "SELECT header FROM resources WHERE kind = ? AND path > ? AND stamp != '' ORDER BY path LIMIT ?"
        with self._database.reading() as db:
            rows = db.execute(query, (kind.value, after, limit)).fetchall()
        return [_resource(str(header)) for (header,) in rows]

    def get(self, path: str) -> Resource | None:
        """A resource that is all there."""
        with self._database.reading() as db:
            header = one(db.execute("SELECT header FROM resources WHERE path = ? AND stamp != ''", (path,)))
        return _resource(str(header)) if header is not None else None

    def contents(self, path: str, limit: int) -> list[tuple[str, str]]:
        """Path and summary of a resource's documents."""
        query = "SELECT path, summary FROM documents WHERE resource = ? ORDER BY path LIMIT ?"
        with self._database.reading() as db:
            return [(str(name), str(summary)) for name, summary in db.execute(query, (path, limit)).fetchall()]

    def texts(self, uris: Sequence[str]) -> dict[str, str]:
        """The passages at these URIs, of resources that are all there."""
        stamps = self.stamps()
        return {one.uri: one.text for one in self.documents(uris) if stamps.get(one.source, BEING_MADE) != BEING_MADE}

    # searching

    def word_scores(self, query: str, realms: Sequence[str], limit: int) -> dict[int, float]:
        """BM25 scores by chunk id."""
        return dict(self.search_words(query, realms, limit))

    def search_vectors(self, query: str, realms: Sequence[str], limit: int) -> Similar:
        """What is near in meaning; nothing without an embedder. The question's own vector is compared: the map of
        questions (`QueryMap`) was learnt for what people say of themselves."""
        vector = self._embedder.plain(query)
        return NOTHING_SIMILAR if vector is None else self._vectors.search(vector, realms, limit)

    def hits(self, query: str, words: Mapping[int, float], similar: Similar, limit: int) -> list[Hit]:
        """The best passages of what both searches found, of resources that are all there."""
        half_made = {path for path, stamp in self.stamps().items() if stamp == BEING_MADE}
        chunks = [chunk for chunk in self.chunks({**words, **similar.best}) if chunk.document.source not in half_made]
        cosines = similar.of([chunk.id for chunk in chunks])
        found = [Found(_hit(chunk.document), cosines.get(chunk.id), words.get(chunk.id, 0.0)) for chunk in chunks]
        scale = Scale(similar.background, BY_INDEX) if similar.background else of_candidates(list(cosines.values()))
        return ranked(query, found, scale, limit)

    def embed_all(self) -> None:
        """Embed what has no vector yet."""
        self._embedder.embed_all(lambda: self._vectors, lambda: self._closed)

    @property
    def can_embed(self) -> bool:
        """Whether there is an embedder that works."""
        return self._embedder.is_ready

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._database.writing() as db:
            yield db


def _hit(document: Document) -> Hit:
    return Hit(document.uri, document.text, 0.0, category=document.category, updated_at=document.at)


def realm_of(kind: Kind) -> str:
    """The realm of a kind's chunks."""
    return kind.value


def header_of(resource: Resource) -> str:
    """A resource as a line of JSON."""
    return json.dumps(
        {
            "path": resource.path,
            "kind": resource.kind,
            "title": resource.title,
            "source": resource.source,
            "size": resource.size,
            "updatedAt": resource.updated_at,
            "summary": resource.summary,
            "detail": resource.detail,
            "digest": resource.digest,
        }
    )


def _resource(header: str) -> Resource:
    fields: dict[str, Any] = json.loads(header)
    return Resource(updated_at=fields.pop("updatedAt"), kind=Kind(fields.pop("kind")), **fields)


def _write_header(db: Connection, stored: Stored, stamp: str) -> None:
    row = (stored.resource.path, stored.resource.kind.value, header_of(stored.resource), stamp)
    db.execute("INSERT OR REPLACE INTO resources VALUES (?, ?, ?, ?)", row)


def _add_document(db: Connection, resource: Resource, spooled: Spooled) -> None:
    head, body = spooled.head, spooled.body()
    row = (resource.path, head.path, head.digest, head.title, head.summary)
    db.execute("INSERT INTO documents(resource, path, digest, title, summary) VALUES (?, ?, ?, ?, ?)", row)
    uri = f"{resource.uri}/{head.path}"
    chunks = (
        Document(
            ordinal=number,
            part=0,
            uri=f"{uri}#{number}",
            category=resource.kind.value,
            realm=realm_of(resource.kind),
            at=resource.updated_at,
            speaker="",
            text=passage.shown,
            source=resource.path,
            length=len(passage.shown),
        )
        for number, passage in enumerate(body.passages)
    )
    add_chunks(db, new_id(db), chunks, (passage.words for passage in body.passages))


def _remove_document(db: Connection, resource: str, path: str) -> None:
    document = one(db.execute("SELECT id FROM documents WHERE resource = ? AND path = ?", (resource, path)))
    if document is not None:
        remove_chunks(db, int(document))
        db.execute("DELETE FROM documents WHERE id = ?", (document,))
