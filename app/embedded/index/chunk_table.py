"""The table of chunks of one index: searched for words, looked up, filled and emptied. Whose chunks they are, and what
keeps them in step with files, is decided elsewhere.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from app.embedded.index.database import Database, marks, new_id, one, storable
from app.embedded.index.documents import Document
from app.embedded.index.index_terms import MAX_QUERY_TERMS, any_of, document_terms, query_terms
from app.embedded.index.sqlite import Connection
from app.embedded.index.vectors import forget_vectors
from app.text.near import is_near
from app.text.words import token_set

MAX_COUNTED = 1_000
"""Pieces that are counted for how rare a word is: one in more of them is common, however many they are."""

MIN_TYPED = 5
"""Shorter words have too many neighbours to guess which was meant."""
MAX_COMPARED = 5_000
"""Words of the index, beginning with the same letter, that one is compared with."""
MAX_NEAR = 3
"""Words that are searched for in the place of one that the index does not know."""

_DOCUMENT_COLUMNS = "ordinal, part, uri, category, realm, at, speaker, text, source, until, parts, length, replaces"


class Chunk(NamedTuple):
    """A document in the index."""

    id: int
    file: int
    document: Document

    @property
    def place(self) -> tuple[int, int]:
        """File and ordinal: neighbours in a session differ by one in the second."""
        return self.file, self.document.ordinal


class ChunkTable:
    """The chunks in a database. All methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search_words(self, asked: str, realms: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Chunk ids with their BM25 score, best first; nothing when no word that is ``asked`` says something."""
        wanted = query_terms(asked)
        if not wanted:
            return []
        with self._database.reading() as db:
            unknown = [word for word in wanted if not _holders(db, [word], 1)]
            wanted += [near for word in unknown for near in _near_words(db, word)]
        query = "SELECT id, -rank FROM chunks_fts CROSS JOIN chunks ON id = chunks_fts.rowid"
        query += f" WHERE chunks_fts MATCH ? AND realm IN ({marks(realms)}) ORDER BY rank LIMIT ?"
        with self._database.reading() as db:
            rows = db.execute(query, (any_of(wanted), *realms, limit)).fetchall()
        return [_id_and_score(row) for row in rows]

    def rarity(self, asked: str) -> tuple[dict[str, float], int]:
        """How much each word that is ``asked`` and says something tells: its inverse document frequency; and of how
        many pieces."""
        wanted = token_set(asked)
        counts: dict[str, int] = {}
        with self._database.reading() as db:
            total = int(one(db.execute("SELECT count(*) FROM chunks_fts_docsize")) or 0)
            for word in sorted(wanted, key=len, reverse=True)[:MAX_QUERY_TERMS]:
                terms = query_terms(word)
                count = _holders(db, terms, MAX_COUNTED) if terms else total
                near = [] if count else [other for term in terms for other in _near_words(db, term)]
                counts[near[0] if near else word] = _holders(db, near[:1], MAX_COUNTED) if near else count
        return {word: math.log(1 + total / (1 + count)) for word, count in counts.items()}, total

    def chunks(self, ids: Iterable[int]) -> list[Chunk]:
        """The chunks of these ids; those that are gone are left out."""
        wanted = list(ids)
        with self._database.reading() as db:
            rows = db.execute(
                f"SELECT id, file_id, {_DOCUMENT_COLUMNS} FROM chunks WHERE id IN ({marks(wanted)})",  # noqa: S608
                wanted,
            ).fetchall()
        return [_chunk(row) for row in rows]

    def turns_at(self, places: Iterable[tuple[int, int]], *, whole: bool = False) -> list[Chunk]:
        """The turns at these places in their files: their first pieces, or all of the ``whole``."""
        wanted = sorted(set(places))
        values = ",".join(["(?,?)"] * len(wanted))
        with self._database.reading() as db:
            query = f"WITH wanted(f, o) AS (VALUES {values}) SELECT id, file_id, {_DOCUMENT_COLUMNS}"
            query += " FROM wanted CROSS JOIN chunks ON file_id = f AND ordinal = o AND speaker != ''"
            query += "" if whole else " AND part = 0"
            rows = db.execute(query, [number for place in wanted for number in place]).fetchall() if wanted else []
        return [_chunk(row) for row in rows]

    def documents(self, uris: Sequence[str]) -> list[Document]:
        """What stands at these URIs; those that are gone are left out."""
        with self._database.reading() as db:
            query = f"SELECT {_DOCUMENT_COLUMNS} FROM chunks WHERE uri IN ({marks(uris)})"  # noqa: S608 - constants
            return [Document._make(row) for row in db.execute(query, list(uris)).fetchall()]

    def count(self) -> int:
        """How many chunks there are."""
        with self._database.reading() as db:
            return int(one(db.execute("SELECT count(*) FROM chunks")) or 0)


def add_chunks(db: Connection, file_id: int, documents: Iterable[Document], words: Iterable[str] | None = None) -> None:
    """Insert documents as the chunks of a file; ``words`` are those that each is known by, where they are known."""
    found = iter(words) if words is not None else None
    for document in documents:
        row = (file_id, *_as_stored(document))
        insert = f"INSERT INTO chunks(file_id, {_DOCUMENT_COLUMNS}) VALUES ({marks(row)})"  # noqa: S608 - constants
        db.execute(insert, row)
        said = next(found) if found else " ".join(document_terms(document))
        db.execute("INSERT INTO chunks_fts(rowid, body) VALUES (?, ?)", (new_id(db), said))


def put_chunks(db: Connection, file_id: int, documents: Iterable[Document]) -> None:
    """Have these documents be the chunks of a file, and write only what differs from those that are there.

    A chunk whose text stays keeps its words and its vector, whatever else is known of it now.
    """
    there: defaultdict[tuple[str, ...], list[tuple[int, Document]]] = defaultdict(list)
    query = f"SELECT id, {_DOCUMENT_COLUMNS} FROM chunks WHERE file_id = ? ORDER BY id DESC"  # noqa: S608 - constants
    for chunk_id, *fields in db.execute(query, (file_id,)):
        known = Document._make(fields)
        there[_found_by(known)].append((chunk_id, known))
    new: list[Document] = []
    changed: list[tuple[Any, ...]] = []
    for document in map(_as_stored, documents):
        same = there.get(_found_by(document))
        if not same:
            new.append(document)
            continue
        chunk_id, known = same.pop()
        if known != document:
            changed.append((*document, chunk_id))
    columns = ", ".join(f"{name} = ?" for name in _DOCUMENT_COLUMNS.split(", "))
    db.executemany(f"UPDATE chunks SET {columns} WHERE id = ?", changed)  # noqa: S608 - constants
    _remove(db, [chunk_id for left in there.values() for chunk_id, _ in left])
    add_chunks(db, file_id, new)


def remove_chunks(db: Connection, file_id: int) -> None:
    """Delete the chunks of a file, with their vectors."""
    _remove(db, [row[0] for row in db.execute("SELECT id FROM chunks WHERE file_id = ?", (file_id,))])


def _remove(db: Connection, chunk_ids: Sequence[int]) -> None:
    rows = [(chunk_id,) for chunk_id in chunk_ids]
    db.executemany("DELETE FROM chunks_fts WHERE rowid = ?", rows)
    forget_vectors(db, chunk_ids)
    db.executemany("DELETE FROM chunks WHERE id = ?", rows)


def _as_stored(document: Document) -> Document:
    """The document as its row has it."""
    return document._replace(
        uri=storable(document.uri),
        category=storable(document.category),
        realm=storable(document.realm),
        text=storable(document.text),
        source=storable(document.source),
        replaces=storable(document.replaces),
    )


def _found_by(document: Document) -> tuple[str, ...]:
    """What its words and its vector are made of, and the realm in which those who hold vectors in memory know it."""
    return document.realm, document.text, document.speaker, document.at if document.speaker else ""


def _holders(db: Connection, words: Sequence[str], most: int) -> int:
    """How many pieces hold one of the words; ``most`` stands for more."""
    query = "SELECT count(*) FROM (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT ?)"
    return int(one(db.execute(query, (any_of(words), most))) or 0)


def _near_words(db: Connection, word: str) -> list[str]:
    """Words of the index, as it stems them, that may be meant by one that it does not know; the likest first."""
    if len(word) < MIN_TYPED or not (word.isascii() and word.isalpha()):
        return []
    query = "SELECT term, doc FROM chunks_vocab WHERE term >= ? AND term < ? LIMIT ?"
    known = db.execute(query, (word[0], chr(ord(word[0]) + 1), MAX_COMPARED)).fetchall()
    near = [(abs(len(term) - len(word)), -doc, term) for term, doc in known if len(term) > 2 and is_near(word, term)]
    return [term for _, _, term in sorted(near)[:MAX_NEAR]]


def _chunk(row: tuple[Any, ...]) -> Chunk:
    return Chunk(row[0], row[1], Document._make(row[2:]))


def _id_and_score(row: Any) -> tuple[int, float]:
    return int(row[0]), float(row[1])
