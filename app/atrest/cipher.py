"""What an encryption has to do, and the one that does nothing."""

import io
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NamedTuple, Protocol

MAGIC = b"\x89OVSEAL1"
"""What an encrypted file begins with; behind it stands the id of its key, `KEY_ID_BYTES` long."""
KEY_ID_BYTES = 8
PIECE_BYTES = 256 * 1024
"""What is written as a whole is encrypted in pieces of about this size, so that it can be read piece by piece."""
SCANNED_BYTES = 4 * 1024 * 1024


class Tail(NamedTuple):
    """Some of a file's content, and the position behind it.

    Positions are offsets in the file as it lies on disk, for whoever reads on from there; of an encrypted file they say
    nothing of how much content there is.
    """

    data: bytes
    end: int


class Cipher(Protocol):
    """How content stands in files and databases. No method opens a file by its name."""

    key_id: str
    """Tells one key from another, and nothing else of it; empty without a key."""
    head_bytes: int
    """Size of what stands before the content of a file."""
    sqlite: ModuleType
    """The SQLite driver: the standard library's, or one like it. A process opens a file with one of them only:
    POSIX locks of one are dropped when the other closes the file."""

    def head(self) -> bytes:
        """What a new file begins with."""

    def sealed(self, head: bytes, data: bytes, position: int) -> bytes:
        """``data`` as it is to stand at ``position`` of the file with this head: read again as a whole, or not at
        all."""

    def frames(self, file: BinaryIO, start: int) -> Iterator[Tail]:
        """The content behind the position ``start``, in pieces that were written as such, or in lines.

        An end that a crash cut short is left out. Raises `SealBroken` and `OtherKey`.
        """

    def reader(self, file: BinaryIO) -> BinaryIO:
        """The content, to be read from its begin; closes ``file`` with itself."""

    def attach(self, connection: sqlite3.Connection, path: Path, name: str, page_bytes: int) -> None:
        """Add a new database to a connection of a driver that knows encryption; it gets pages of this size."""

    def unlock(self, connection: sqlite3.Connection, page_bytes: int) -> None:
        """Let a new connection read a database whose pages have this size."""

    def pages(self, file: BinaryIO, *, is_log: bool) -> Iterator[bytes]:
        """The pages of a database or of its write-ahead log, used or not, as SQLite sees them."""

    def for_child(self) -> str:
        """What a child process makes the cipher for files from; see `app.atrest.lent_vault.vault_in_child`."""


class SealBroken(OSError):
    """A file was changed by somebody else, or by the disk."""


class OtherKey(OSError):
    """A file is encrypted with another key."""


class Plain:
    """Nothing is encrypted: content stands in files as it is."""

    key_id = ""
    head_bytes = 0
    sqlite: ModuleType = sqlite3

    def head(self) -> bytes:
        """See `Cipher.head`."""
        return b""

    def sealed(self, head: bytes, data: bytes, position: int) -> bytes:  # noqa: ARG002 - the protocol's signature
        """See `Cipher.sealed`."""
        return data

    def frames(self, file: BinaryIO, start: int) -> Iterator[Tail]:
        """See `Cipher.frames`: lines, and behind them what is no whole line."""
        file.seek(start)
        for piece in pieces(file.read()):
            start += len(piece)
            yield Tail(piece, start)

    def reader(self, file: BinaryIO) -> BinaryIO:
        """See `Cipher.reader`."""
        return file

    def attach(self, connection: sqlite3.Connection, path: Path, name: str, page_bytes: int) -> None:
        """See `Cipher.attach`."""
        connection.execute(f"ATTACH DATABASE ? AS {name} KEY ''", (str(path),)).close()
        connection.execute(f"PRAGMA {name}.page_size = {page_bytes}").close()

    def unlock(self, connection: sqlite3.Connection, page_bytes: int) -> None:
        """See `Cipher.unlock`."""

    def pages(self, file: BinaryIO, *, is_log: bool) -> Iterator[bytes]:  # noqa: ARG002 - the protocol's signature
        """See `Cipher.pages`."""
        while data := file.read(SCANNED_BYTES):
            yield data

    def for_child(self) -> str:
        """See `Cipher.for_child`."""
        return ""


def key_id_in(head: bytes) -> str:
    """The id of the key that a file with this head is encrypted with; empty for one in plain."""
    key_id = head[len(MAGIC) :][:KEY_ID_BYTES]
    return key_id.hex() if head.startswith(MAGIC) and len(key_id) == KEY_ID_BYTES else ""


def pieces(data: bytes) -> Iterator[bytes]:
    """``data`` in pieces of some lines; behind them what is no whole line."""
    start, lines = 0, data.rfind(b"\n") + 1
    while start < lines:
        end = data.find(b"\n", min(start + PIECE_BYTES, lines) - 1) + 1
        yield data[start:end]
        start = end
    if start < len(data):
        yield data[start:]


class ContentReader(io.RawIOBase):
    """Pieces of content as a file to read from."""

    def __init__(self, found: Iterator[bytes], file: BinaryIO) -> None:
        self._found = found
        self._file = file
        self._left = memoryview(b"")

    def readable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """Of the file that the content comes from."""
        return self._file.fileno()

    def readinto(self, buffer: Any) -> int:
        """See `io.RawIOBase.readinto`."""
        while not self._left:
            piece = next(self._found, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        """Close the file, too."""
        self._file.close()
        super().close()
