"""The search index of one user: FTS5 for words, a table of vectors for meaning. The files are the truth, this is not:
it can be deleted at any time and is built again from them.
"""

import hashlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from app.embedded.index import memory_rows, superseded_rows
from app.embedded.index.database import Database, marks, new_id, one, storable
from app.embedded.index.documents import Document, file_entries, turn_documents, turn_uri
from app.embedded.index.index_terms import MAX_QUERY_TERMS, any_of, document_terms, query_terms
from app.embedded.index.sqlite import Connection
from app.embedded.index.vectors import Vectors, forget_vectors
from app.embedded.storage.entries import message_of, parse_entry
from app.embedded.storage.layout import readable
from app.embedded.storage.records import TRAILER
from app.text.near import is_near
from app.text.words import token_set

MAX_INDEXED_BYTES = 4 * 1024 * 1024
"""A Markdown file is indexed up to here."""
MAX_TRAILER_BYTES = 64 * 1024 * 1024
"""But one with records is read to its end: without the trailer they would be lines that nothing is known of."""
_TAIL_BYTES = 4096
_SCAN_SHARE = 10
"""Looking for edited files takes at most one part in so many of the time."""

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


class Index:
    """The index of the user whose files are under ``root``. All methods may be called from any thread."""

    def __init__(
        self,
        root: Path,
        uri_root: str,
        *,
        embedder: str = "",
        is_searchable: Callable[[str], bool] = lambda _: True,
        afresh: bool = False,
    ) -> None:
        """``is_searchable`` tells which kinds of session are; ``afresh`` builds the index anew whatever is there."""
        self._root = root
        self._uri_root = uri_root
        self._is_searchable = is_searchable
        self._lock = threading.RLock()
        self._known: dict[str, tuple[int, int]] = {}
        self._known_version = -1
        self._next_scan = 0.0
        self._database = Database(
            root / "index.db", schema=f"{memory_rows.SCHEMA};{superseded_rows.SCHEMA}", afresh=afresh
        )
        self.memories = memory_rows.MemoryRows(self._database)
        self.superseded = superseded_rows.SupersededRows(self._database)
        self.vectors = Vectors(self._database, embedder)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    # keeping up with the files

    def sync(self, *, at_once: bool = False) -> bool:
        """Take in every file that is new, changed or gone, unless that was just looked at; whether there were any."""
        with self._lock:
            begun = time.monotonic()
            if begun < self._next_scan and not at_once:
                return False
            seen = dict(_files_under(self._root))
            known = self._files()
            changed = sorted(path for path in seen.keys() | known.keys() if known.get(path) != seen.get(path))
            if changed:
                with self._writing() as db:
                    for path in changed:
                        self._take_in(db, path)
            done = time.monotonic()
            self._next_scan = done + (done - begun) * _SCAN_SHARE
            return bool(changed)

    def look_again(self) -> None:
        """Make the next `sync` look, whenever the last one was."""
        self._known_version = -1
        self._next_scan = 0.0

    def sync_file(self, path: Path) -> None:
        """Take in one file that was just written."""
        with self._lock, self._writing() as db:
            self._take_in(db, str(path.relative_to(self._root)))

    def scrub(self, paths: Sequence[Path]) -> None:
        """Take in files that lost something for good, and leave nothing of it: no term, no vector, no log.

        FTS5 keeps the terms of deleted rows until its segments are merged, and SQLite, whatever ``secure_delete`` says,
        copies of what it moved within a page: so the file is written anew, even when nothing seems to have changed. A
        search may have taken the files in before, or a process that was killed then.
        """
        with self._lock:
            with self._writing() as db:
                for path in paths:
                    self._take_in(db, str(path.relative_to(self._root)))
                db.execute("INSERT INTO chunks_fts(chunks_fts) VALUES ('optimize')")
                self.vectors.prune(db)
            self._database.rewrite()

    # searching

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

    def rarity(self, asked: str) -> dict[str, float]:
        """How much each word that is ``asked`` and says something tells: its inverse document frequency."""
        wanted = token_set(asked)
        counts: dict[str, int] = {}
        with self._database.reading() as db:
            total = int(one(db.execute("SELECT count(*) FROM chunks_fts_docsize")) or 0)
            for word in sorted(wanted, key=len, reverse=True)[:MAX_QUERY_TERMS]:
                terms = query_terms(word)
                count = _holders(db, terms, MAX_COUNTED) if terms else total
                near = [] if count else [other for term in terms for other in _near_words(db, term)]
                counts[near[0] if near else word] = _holders(db, near[:1], MAX_COUNTED) if near else count
        return {word: math.log(1 + total / (1 + count)) for word, count in counts.items()}

    def chunks(self, ids: Iterable[int]) -> list[Chunk]:
        """The chunks of these ids; those that are gone are left out."""
        wanted = list(ids)
        with self._database.reading() as db:
            rows = db.execute(
                f"SELECT id, file_id, {_DOCUMENT_COLUMNS} FROM chunks WHERE id IN ({marks(wanted)})",  # noqa: S608
                wanted,
            ).fetchall()
        return [_chunk(row) for row in rows]

    def turns_at(self, places: Iterable[tuple[int, int]]) -> list[Chunk]:
        """The turns (their first pieces) at these places in their files."""
        wanted = sorted(set(places))
        values = ",".join(["(?,?)"] * len(wanted))
        with self._database.reading() as db:
            query = f"WITH wanted(f, o) AS (VALUES {values}) SELECT id, file_id, {_DOCUMENT_COLUMNS}"
            query += " FROM wanted CROSS JOIN chunks ON file_id = f AND ordinal = o AND part = 0 AND speaker != ''"
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

    # files into chunks

    def _take_in(self, db: Connection, path: str) -> None:
        """Bring what is known of one file in step with it. The file is looked at within the transaction, so that what
        another process has taken in before it is not taken back."""
        take_in = self._take_in_session if path.startswith("sessions/") else self._take_in_markdown
        try:
            with Path(self._root, path).open("rb") as file:
                status = os.fstat(file.fileno())
                indexed = take_in(db, path, file, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:
            self._forget(db, path)
        else:
            self._known[path] = (status.st_mtime_ns, indexed)

    def _take_in_markdown(self, db: Connection, path: str, file: BinaryIO, mtime_ns: int, size: int) -> int:
        data = file.read(MAX_INDEXED_BYTES)
        if len(data) == MAX_INDEXED_BYTES and (trailer := file.read(MAX_TRAILER_BYTES)).find(TRAILER.encode()) >= 0:
            data += trailer
        digest = hashlib.sha256(data).digest()
        row = db.execute("SELECT id, hash FROM files WHERE path = ?", (path,)).fetchone()
        if row and row[1] == digest:
            db.execute("UPDATE files SET mtime_ns = ?, size = ? WHERE id = ?", (mtime_ns, size, row[0]))
        else:
            self._forget(db, path)
            file_id = self._add_file(db, path, mtime_ns, size, digest, 0, "")
            text = data.decode("utf-8", "replace")
            entries = list(file_entries(path, text, mtime_ns / 1e9, self._uri_root))
            self._add(db, file_id, (entry.document for entry in entries if entry.document))
            memory_rows.add(db, file_id, entries)
            superseded_rows.add(db, file_id, (entry.record for entry in entries if entry.record))
        return size

    def _take_in_session(self, db: Connection, path: str, file: BinaryIO, mtime_ns: int, size: int) -> int:
        """The bytes that are indexed now: a line without its end waits until the file has grown."""
        query = "SELECT id, size, hash, turns, kind, mtime_ns FROM files WHERE path = ?"
        row = db.execute(query, (path,)).fetchone()
        if row and (row[5], row[1]) == (mtime_ns, size):
            return size
        if row and not (size > row[1] and _tail_hash(file, row[1]) == row[2]):
            self._forget(db, path)
            row = None
        file_id, start, turns, kind = (row[0], row[1], row[3], row[4]) if row else (0, 0, 0, "")
        file.seek(start)
        data = file.read(size - start)
        data = data[: data.rfind(b"\n") + 1]
        if not row:
            header = parse_entry(data.partition(b"\n")[0]) or {}
            kind = str(header.get("kind") or "chat")
            file_id = self._add_file(db, path, mtime_ns, 0, b"", 0, kind)
        session = Path(path).stem
        for line in data.split(b"\n"):
            entry = parse_entry(line)
            if entry and entry.get("type") == "message":
                if self._is_searchable(kind):
                    message = message_of(entry)
                    self._add(db, file_id, turn_documents(message, turns, session, self._uri_root))
                    uri = turn_uri(message, turns, session, self._uri_root)
                    memory_rows.add_turn(db, file_id, readable(session), turns, message, uri)
                turns += 1
        end = start + len(data)
        db.execute(
            "UPDATE files SET mtime_ns = ?, size = ?, hash = ?, turns = ? WHERE id = ?",
            (mtime_ns, end, _tail_hash(file, end), turns, file_id),
        )
        return end

    def _add_file(
        self, db: Connection, path: str, mtime_ns: int, size: int, digest: bytes, turns: int, kind: str
    ) -> int:
        db.execute(
            "INSERT INTO files(path, mtime_ns, size, hash, turns, kind) VALUES (?, ?, ?, ?, ?, ?)",
            (path, mtime_ns, size, digest, turns, kind),
        )
        return new_id(db)

    def _add(self, db: Connection, file_id: int, documents: Iterable[Document]) -> None:
        for document in documents:
            row = (
                file_id,
                document.ordinal,
                document.part,
                storable(document.uri),
                storable(document.category),
                storable(document.realm),
                document.at,
                document.speaker,
                storable(document.text),
                storable(document.source),
                document.until,
                document.parts,
                document.length,
                storable(document.replaces),
            )
            insert = f"INSERT INTO chunks(file_id, {_DOCUMENT_COLUMNS}) VALUES ({marks(row)})"  # noqa: S608 - constants
            db.execute(insert, row)
            words = " ".join(document_terms(document))
            db.execute("INSERT INTO chunks_fts(rowid, body) VALUES (?, ?)", (new_id(db), words))

    def _forget(self, db: Connection, path: str) -> None:
        file_id = one(db.execute("SELECT id FROM files WHERE path = ?", (path,)))
        if file_id is not None:
            chunk_ids = [row[0] for row in db.execute("SELECT id FROM chunks WHERE file_id = ?", (file_id,))]
            db.executemany("DELETE FROM chunks_fts WHERE rowid = ?", [(i,) for i in chunk_ids])
            forget_vectors(db, chunk_ids)
            db.execute("DELETE FROM chunks WHERE file_id = ?", (file_id,))
            memory_rows.forget(db, file_id)
            superseded_rows.forget(db, file_id)
            db.execute("DELETE FROM files WHERE id = ?", (file_id,))
        self._known.pop(path, None)

    def _files(self) -> dict[str, tuple[int, int]]:
        version = self._database.version
        if version != self._known_version:
            with self._database.reading() as db:
                rows: list[Any] = db.execute("SELECT path, mtime_ns, size FROM files").fetchall()
            self._known = {str(row[0]): (int(row[1] or 0), int(row[2] or 0)) for row in rows}
            self._known_version = version
        return self._known

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction; what is remembered of the files goes with it when it fails."""
        try:
            with self._database.writing() as db:
                yield db
        except BaseException:
            self._known_version = -1
            raise


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


def _files_under(root: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Relative path, change time and size of every file that is indexed."""
    for folder, suffix in (("memories", ".md"), ("memory", ".md"), ("peers", ".md"), ("sessions", ".jsonl")):
        waiting = [root / folder]
        while waiting:
            with suppress(FileNotFoundError, NotADirectoryError), os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    elif entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        yield os.path.relpath(entry.path, root), (status.st_mtime_ns, status.st_size)


def _tail_hash(file: BinaryIO, size: int) -> bytes:
    """Of the bytes just before ``size``: a file that was only appended to still has them there."""
    file.seek(max(0, size - _TAIL_BYTES))
    return hashlib.sha256(file.read(min(size, _TAIL_BYTES))).digest()


def _chunk(row: tuple[Any, ...]) -> Chunk:
    return Chunk(row[0], row[1], Document._make(row[2:]))


def _id_and_score(row: Any) -> tuple[int, float]:
    return int(row[0]), float(row[1])
