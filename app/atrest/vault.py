"""The one way to files and databases of the data directory: whatever the cipher, written durably and read whole."""

import io
import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from app.atrest import durable as _durable
from app.atrest.cipher import PIECE_BYTES, Cipher, ContentReader, Plain, Tail, key_id_in, pieces

READ_BYTES = 64 * 1024


class Vault:
    """Files and databases under one cipher. Every method may be called from any thread."""

    def __init__(self, cipher: Cipher) -> None:
        self.cipher = cipher

    # reading

    def read(self, path: Path) -> bytes:
        """The content of a file."""
        with self.open(path) as file:
            return file.read()

    def read_text(self, path: Path) -> str:
        """The content as text, like `Path.read_text`: lines end with ``\\n``, and what is no UTF-8 is replaced."""
        text = self.read(path).decode("utf-8", "replace")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    def open(self, path: Path) -> BinaryIO:
        """The content, to be read from its begin; its ``fileno`` is that of the file."""
        return self.reader(path.open("rb"))

    def reader(self, file: BinaryIO) -> BinaryIO:
        """The same of an open file."""
        return self.cipher.reader(file)

    def read_from(self, path: Path, position: int) -> Tail:
        """What stands behind a position, as far as it is whole: a `Tail` whose end is a position to read on from."""
        with path.open("rb") as file:
            return _joined(list(self.cipher.frames(file, position)), position)

    def lines_from(self, file: BinaryIO, position: int) -> Tail:
        """The same of an open file, without a last line that has no end yet."""
        found = list(self.cipher.frames(file, position))
        if found and not found[-1].data.endswith(b"\n"):
            del found[-1]
        return _joined(found, position)

    # writing

    def write_atomic(self, path: Path, data: bytes, *, durable: bool = True) -> None:
        """Replace ``path`` by ``data`` on disk: readers and a crash see the old content or the new one, nothing
        between.

        Without ``durable`` only readers do: the caller syncs many such files at once.
        """
        with self._replacing(path, durable=durable) as temporary:
            _durable.put(temporary, b"".join(self._whole(data)), os.O_EXCL, durable=durable)

    @contextmanager
    def replacing(self, path: Path, *, mtime_ns: int | None = None) -> Iterator[BinaryIO]:
        """A file to write to, which takes the place of ``path`` on disk when the block ends without an error.

        ``mtime_ns``: when it was changed, where that is not now.
        """
        with self._replacing(path, durable=True) as temporary:
            with self.creating(temporary) as file:
                yield file
            if mtime_ns is not None:
                os.utime(temporary, ns=(mtime_ns, mtime_ns))

    @contextmanager
    def creating(self, path: Path) -> Iterator[BinaryIO]:
        """A new file to write to, on disk when the block ends; what it holds by then when that raises."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            writer = _Writer(self.cipher, file)
            yield cast("BinaryIO", writer)
            writer.end()
            file.flush()
            os.fsync(file.fileno())

    def append(self, path: Path, data: bytes, position: int) -> int:
        """Put ``data`` at the end of ``path``, which is at ``position``, on disk; the position behind it.

        What stands behind that position is what a crash left of an append, and goes. An error cuts the file back.
        Only one may append at a time.
        """
        head = self.cipher.head() if position == 0 else self._head_of(path)
        if key_id_in(head) != self.cipher.key_id:  # a file that a person put there in plain
            self.write_atomic(path, self.read(path) + data)
            return path.stat().st_size
        begin = head if position == 0 else b""
        sealed = begin + self.cipher.sealed(head, data, position + len(begin))
        with suppress(FileNotFoundError):
            if path.stat().st_size > position:
                _durable.truncate(path, position)
        try:
            _durable.put(path, sealed, os.O_APPEND)
        except BaseException:
            with suppress(OSError):
                os.truncate(path, position)
            raise
        if position == 0:
            _durable.sync_dir(path.parent)
        return position + len(sealed)

    def cut(self, path: Path, position: int, keep: int) -> int:
        """Leave of what stands behind ``position`` the first ``keep`` bytes, on disk; the position behind those."""
        end, left = position, keep
        with path.open("rb") as file:
            for tail in self.cipher.frames(file, position):
                if len(tail.data) > left:
                    break
                end, left = tail.end, left - len(tail.data)
        if not left:
            _durable.truncate(path, end)
            return end
        behind = self.read_from(path, position).data  # the cut is within a piece: only of what was written as a whole
        before = self.read(path)
        self.write_atomic(path, before[: len(before) - len(behind)] + behind[:keep])
        return path.stat().st_size

    def _whole(self, data: bytes) -> Iterator[bytes]:
        yield (head := self.cipher.head())
        position = len(head)
        for piece in pieces(data):
            yield (sealed := self.cipher.sealed(head, piece, position))
            position += len(sealed)

    def _head_of(self, path: Path) -> bytes:
        with path.open("rb") as file:
            return file.read(self.cipher.head_bytes)

    @contextmanager
    def _replacing(self, path: Path, *, durable: bool) -> Iterator[Path]:
        _durable.make_private_dir(path.parent)
        temporary = path.with_name(f"{_durable.TEMPORARY}{uuid.uuid4().hex}")
        try:
            yield temporary
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if durable:
            _durable.sync_dir(path.parent)

    # databases

    def connect(self, path: Path | str, page_bytes: int, **options: Any) -> sqlite3.Connection:
        """A connection to the SQLite file at ``path``, which has pages of this size, or gets them."""
        connection: sqlite3.Connection = self.cipher.sqlite.connect(str(path), **options)
        try:
            self.cipher.unlock(connection, page_bytes)
        except BaseException:
            connection.close()
            raise
        return connection

    def open_pages(self, path: Path) -> BinaryIO:
        """The pages of an SQLite file or of its log, used or not, to look for bytes in them."""
        file = path.open("rb")
        found = self.cipher.pages(file, is_log=path.name.endswith("-wal"))
        return cast("BinaryIO", io.BufferedReader(ContentReader(found, file), READ_BYTES))


PLAIN = Vault(Plain())
"""Files and databases as they are."""


def _joined(found: list[Tail], position: int) -> Tail:
    return Tail(b"".join(tail.data for tail in found), found[-1].end if found else position)


class _Writer:
    """Gathers what is written, and puts it into a file piece by piece."""

    def __init__(self, cipher: Cipher, file: BinaryIO) -> None:
        self._cipher = cipher
        self._file = file
        self._head = cipher.head()
        self._position = file.write(self._head)
        self._waiting: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> int:
        """Add ``data``; whole lines of it are put into the file when there are enough."""
        self._waiting.append(data)
        self._size += len(data)
        if self._size >= PIECE_BYTES and b"\n" in data:
            waiting = b"".join(self._waiting)
            lines = waiting.rfind(b"\n") + 1
            self._put(waiting[:lines])
            self._waiting, self._size = [waiting[lines:]], len(waiting) - lines
        return len(data)

    def end(self) -> None:
        """Put what waits into the file."""
        self._put(b"".join(self._waiting))
        self._waiting.clear()

    def _put(self, data: bytes) -> None:
        for piece in pieces(data):
            self._position += self._file.write(self._cipher.sealed(self._head, piece, self._position))
