"""The vectors of an index: kept in a table, a byte a number, and searched in a copy in memory (`.matrix`).

The copy takes in at each search what was added since, by whichever process, and lets go of what is gone. It can do so
by chunk ids alone: no id is used twice, and chunks are embedded in their order.
"""

import hashlib
import threading
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from app.embedded.index.database import Database, get_meta, marks, one, set_meta
from app.embedded.index.embedders import Vector, dimensions, quantised
from app.embedded.index.similar import NOTHING_SIMILAR, Moments, Similar
from app.embedded.index.sqlite import Connection

if TYPE_CHECKING:
    from app.embedded.index.matrix import Matrix

MAX_IN_MEMORY = 250_000
"""Vectors of one user that are kept in memory (96 MB of 384 bytes each); with more, each search reads the table."""
SCANNED_AT_ONCE = 16_384
"""Vectors that such a search has in memory at a time."""


class Vectors:
    """Vectors of one embedder by chunk id. All methods may be called from any thread."""

    def __init__(self, database: Database, embedder: str) -> None:
        """Vectors of another ``embedder`` are thrown away; without one ("") they stay for when it comes back."""
        self._database = database
        self._embedder = embedder
        self._lock = threading.Lock()
        self._matrices: dict[str, Matrix] = {}
        self._newest = 0
        self._too_many = False
        if embedder:
            self._settle()

    # searching

    def search(self, vector: Vector, realms: Sequence[str], limit: int) -> Similar:
        """The ``limit`` chunks that are nearest; nothing before the first chunk was embedded."""
        with self._database.reading() as db:
            if get_meta(db, "dimensions") != str(dimensions(vector)) or get_meta(db, "embedder") != self._embedder:
                return NOTHING_SIMILAR
            while True:
                found = self._nearest(db, quantised(vector), realms, limit)
                gone = found.best.keys() - _present(db, list(found.best))
                if not gone:
                    return found
                with self._lock:
                    for realm in realms:
                        if realm in self._matrices:
                            self._matrices[realm].remove(gone)

    def _nearest(self, db: Connection, vector: bytes, realms: Sequence[str], limit: int) -> Similar:
        from app.embedded.index import matrix  # numpy comes with the embedders' extra

        with self._lock:
            self._catch_up(db)
            views = [self._matrices[realm].view() for realm in realms if realm in self._matrices]
        if self._too_many:
            return _scan(db, vector, realms, limit)
        seen = [(view[0], matrix.cosines(view, vector)) for view in views if len(view[0])]
        spread = Moments()
        for _, cosines in seen:
            spread.add(*matrix.moments(cosines))
        found = matrix.best((pair for ids, cosines in seen for pair in matrix.nearest(ids, cosines, limit)), limit)

        def others(wanted: Collection[int]) -> dict[int, float]:
            known: dict[int, float] = {}
            for ids, cosines in seen:
                known |= matrix.known(ids, cosines, wanted)
            return known

        def vectors(wanted: Collection[int]) -> dict[int, bytes]:
            return {chunk_id: one for view in views for chunk_id, one in matrix.vectors(view, wanted).items()}

        return Similar(dict(found), spread.background(), others, vectors)

    def _catch_up(self, db: Connection) -> None:
        """Take in the vectors that were added since."""
        from app.embedded.index.matrix import Matrix

        if self._too_many:
            return
        rows: list[Any] = db.execute(
            "SELECT c.id, c.realm, v.embedding FROM vectors v JOIN chunks c ON c.id = v.chunk_id"
            " WHERE v.chunk_id > ? ORDER BY v.chunk_id LIMIT ?",
            (self._newest, MAX_IN_MEMORY + 1),
        ).fetchall()
        if sum(map(len, self._matrices.values())) + len(rows) > MAX_IN_MEMORY:
            self._too_many = True
            self._matrices.clear()
            return
        added: dict[str, tuple[list[int], list[bytes]]] = defaultdict(lambda: ([], []))
        for chunk_id, realm, embedding in rows:
            added[realm][0].append(chunk_id)
            added[realm][1].append(embedding)
            self._newest = chunk_id
        for realm, (ids, embeddings) in added.items():
            self._matrices.setdefault(realm, Matrix()).add(ids, embeddings)

    # embedding

    def waiting(self, limit: int) -> list[tuple[int, str]]:
        """Up to ``limit`` chunks without a vector, oldest first: id and the text to embed."""
        with self._database.reading() as db:
            rows = db.execute("SELECT id, text FROM chunks WHERE embedded = 0 ORDER BY id LIMIT ?", (limit,)).fetchall()
        return [(int(chunk_id), str(text)) for chunk_id, text in rows]

    def cached(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are known for these texts."""
        with self._database.reading() as db:
            query = "SELECT vector FROM embedding_cache WHERE hash = ?"
            found = {text: one(db.execute(query, (self._text_hash(text),))) for text in texts}
        return {text: vector for text, vector in found.items() if vector is not None}

    def add(self, embedded: Sequence[tuple[int, str, Vector]]) -> None:
        """Store (chunk id, text, vector) for chunks that still are there."""
        if not embedded:
            return
        with self._database.writing() as db:
            _make_room(db, dimensions(embedded[0][2]))
            for chunk_id, text, vector in embedded:
                waiting = db.execute("UPDATE chunks SET embedded = 1 WHERE id = ? AND embedded = 0", (chunk_id,))
                if waiting.rowcount:  # else it is gone, and its vector goes with it
                    cached = (self._text_hash(text), vector)
                    db.execute("INSERT OR IGNORE INTO embedding_cache VALUES (?, ?)", cached)
                    db.execute("INSERT INTO vectors VALUES (?, ?)", (chunk_id, quantised(vector)))

    def prune(self, db: Connection) -> None:
        """Drop the vectors of texts that are in no chunk any more, within a transaction."""
        present = {self._text_hash(str(row[0])) for row in db.execute("SELECT DISTINCT text FROM chunks")}
        hashes = [bytes(row[0]) for row in db.execute("SELECT hash FROM embedding_cache")]
        gone = [(digest,) for digest in hashes if digest not in present]
        db.executemany("DELETE FROM embedding_cache WHERE hash = ?", gone)

    def _settle(self) -> None:
        with self._database.reading() as db:
            if get_meta(db, "embedder") == self._embedder:
                return
        with self._database.writing() as db:
            _begin_anew(db, dimensions="")
            set_meta(db, "embedder", self._embedder)

    def _text_hash(self, text: str) -> bytes:
        return hashlib.sha256(f"{self._embedder}\0{text}".encode("utf-8", "replace")).digest()


def forget_vectors(db: Connection, chunk_ids: Sequence[int]) -> None:
    """Delete the vectors of these chunks, if there are any."""
    db.executemany("DELETE FROM vectors WHERE chunk_id = ?", [(chunk_id,) for chunk_id in chunk_ids])


def _make_room(db: Connection, numbers: int) -> None:
    """Vectors of another length than ``numbers`` go."""
    if get_meta(db, "dimensions") != str(numbers):
        _begin_anew(db, dimensions=str(numbers))


def _begin_anew(db: Connection, *, dimensions: str) -> None:
    db.execute("DELETE FROM vectors")
    db.execute("UPDATE chunks SET embedded = 0 WHERE embedded = 1")
    set_meta(db, "dimensions", dimensions)


def _scan(db: Connection, vector: bytes, realms: Sequence[str], limit: int) -> Similar:
    """The nearest vectors of these realms, read from the table a part at a time."""
    from app.embedded.index.matrix import Matrix, best, cosines, moments, nearest

    rows = db.execute(
        "SELECT v.chunk_id, v.embedding FROM vectors v JOIN chunks c ON c.id = v.chunk_id"  # noqa: S608
        f" WHERE c.realm IN ({marks(realms)})",
        realms,
    )
    found: list[tuple[int, float]] = []
    spread = Moments()
    while part := rows.fetchmany(SCANNED_AT_ONCE):
        matrix = Matrix()
        matrix.add([chunk_id for chunk_id, _ in part], [embedding for _, embedding in part])
        near = cosines(matrix.view(), vector)
        spread.add(*moments(near))
        found = best([*found, *nearest(matrix.view()[0], near, limit)], limit)
    return Similar(dict(found), spread.background())


def _present(db: Connection, chunk_ids: Sequence[int]) -> set[int]:
    """Those that are still in the index."""
    return {row[0] for row in db.execute(f"SELECT id FROM chunks WHERE id IN ({marks(chunk_ids)})", chunk_ids)}  # noqa: S608
