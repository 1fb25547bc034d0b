"""The search index of one user: FTS5 for words, a table of vectors for meaning. The files are the truth, this is not:
it can be deleted at any time and is built again from them.
"""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import structlog

from app.atrest.cipher import SealBroken
from app.atrest.vault import PLAIN, Vault
from app.embedded.index import memory_rows, superseded_rows
from app.embedded.index.chunk_table import ChunkTable, add_chunks, put_chunks, remove_chunks
from app.embedded.index.database import Database, new_id, one
from app.embedded.index.documents import file_entries, turn_documents, turn_uri
from app.embedded.index.sqlite import Connection
from app.embedded.index.vectors import Vectors
from app.embedded.storage.entries import message_of, parse_entry
from app.embedded.storage.layout import readable
from app.embedded.storage.record_lines import TRAILER

MAX_INDEXED_BYTES = 4 * 1024 * 1024
"""A Markdown file is indexed up to here."""
MAX_TRAILER_BYTES = 64 * 1024 * 1024
"""But one with records is read to its end: without the trailer they would be lines that nothing is known of."""
_TAIL_BYTES = 4096
_SCAN_SHARE = 10
"""Looking for edited files takes at most one part in so many of the time."""

log = structlog.get_logger(__name__)


class Index(ChunkTable):
    """The index of the user whose files are under ``root``. All methods may be called from any thread."""

    def __init__(
        self,
        root: Path,
        uri_root: str,
        *,
        embedder: str = "",
        is_searchable: Callable[[str], bool] = lambda _: True,
        afresh: bool = False,
        vault: Vault = PLAIN,
    ) -> None:
        """``is_searchable`` tells which kinds of session are; ``afresh`` builds the index anew whatever is there."""
        self._root = root
        self._vault = vault
        self._uri_root = uri_root
        self._is_searchable = is_searchable
        self._lock = threading.RLock()
        self._known: dict[str, tuple[int, int]] = {}
        self._known_version = -1
        self._next_scan = 0.0
        super().__init__(
            Database(
                root / "index.db",
                schema=f"{memory_rows.SCHEMA};{superseded_rows.SCHEMA}",
                afresh=afresh,
                vault=vault,
            )
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

    # files into chunks

    def _take_in(self, db: Connection, path: str) -> None:
        """Bring what is known of one file in step with it. The file is looked at within the transaction, so that what
        another process has taken in before it is not taken back."""
        take_in = self._take_in_session if path.startswith("sessions/") else self._take_in_markdown
        try:
            with Path(self._root, path).open("rb") as file:
                status = os.fstat(file.fileno())
                indexed = take_in(db, path, file, status.st_mtime_ns, status.st_size)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):  # gone, or a folder took its place
            self._forget(db, path)
        except SealBroken as error:  # what was indexed of it can be found on
            log.error("file_damaged", file=path, error=str(error))
        else:
            self._known[path] = (status.st_mtime_ns, indexed)

    def _take_in_markdown(self, db: Connection, path: str, file: BinaryIO, mtime_ns: int, size: int) -> int:
        content = self._vault.reader(file)
        data = content.read(MAX_INDEXED_BYTES)
        if len(data) == MAX_INDEXED_BYTES and (trailer := content.read(MAX_TRAILER_BYTES)).find(TRAILER.encode()) >= 0:
            data += trailer
        digest = hashlib.sha256(data).digest()
        row = db.execute("SELECT id, hash FROM files WHERE path = ?", (path,)).fetchone()
        if row and row[1] == digest:
            db.execute("UPDATE files SET mtime_ns = ?, size = ? WHERE id = ?", (mtime_ns, size, row[0]))
        else:
            file_id = row[0] if row else self._add_file(db, path, mtime_ns, size, digest, 0, "")
            if row:
                whole = (mtime_ns, size, digest, file_id)
                db.execute("UPDATE files SET mtime_ns = ?, size = ?, hash = ? WHERE id = ?", whole)
            text = data.decode("utf-8", "replace")
            entries = list(file_entries(path, text, mtime_ns / 1e9, self._uri_root))
            put_chunks(db, file_id, (entry.document for entry in entries if entry.document))
            memory_rows.put(db, file_id, entries)
            superseded_rows.put(db, file_id, (entry.record for entry in entries if entry.record))
        return size

    def _take_in_session(self, db: Connection, path: str, file: BinaryIO, mtime_ns: int, size: int) -> int:
        """Up to where it is indexed now: a line without its end waits until the file has grown."""
        query = "SELECT id, size, hash, turns, kind, mtime_ns FROM files WHERE path = ?"
        row = db.execute(query, (path,)).fetchone()
        if row and (row[5], row[1]) == (mtime_ns, size):
            return size
        if row and not (size > row[1] and _tail_hash(file, row[1]) == row[2]):
            self._forget(db, path)
            row = None
        file_id, start, turns, kind = (row[0], row[1], row[3], row[4]) if row else (0, 0, 0, "")
        data, end = self._vault.lines_from(file, start)
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
                    add_chunks(db, file_id, turn_documents(message, turns, session, self._uri_root))
                    uri = turn_uri(message, turns, session, self._uri_root)
                    memory_rows.add_turn(db, file_id, readable(session), turns, message, uri)
                turns += 1
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

    def _forget(self, db: Connection, path: str) -> None:
        file_id = one(db.execute("SELECT id FROM files WHERE path = ?", (path,)))
        if file_id is not None:
            remove_chunks(db, file_id)
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


def _files_under(root: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Relative path, change time and size of every file that is indexed."""
    for top, suffix in (("memories", ".md"), ("memory", ".md"), ("peers", ".md"), ("sessions", ".jsonl")):
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            with suppress(FileNotFoundError, NotADirectoryError), os.scandir(root / folder) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    path = f"{folder}/{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    elif entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        yield path, (status.st_mtime_ns, status.st_size)


def _tail_hash(file: BinaryIO, size: int) -> bytes:
    """Of the bytes just before ``size``: a file that was only appended to still has them there."""
    file.seek(max(0, size - _TAIL_BYTES))
    return hashlib.sha256(file.read(min(size, _TAIL_BYTES))).digest()
