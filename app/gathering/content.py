"""What a caller sends, held once: neither this process nor the one that reads it has another copy."""

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self


class Content:
    """Bytes that arrive in pieces, in a file without a name, which is gone when it is closed.

    On Linux the file is in memory and never on a disk; elsewhere it is in the system's directory for temporary files.
    A child process is lent its descriptor instead of being sent the bytes.
    """

    def __init__(self) -> None:
        """Raises `OSError` where there is no descriptor left."""
        self._lock = threading.Lock()
        if hasattr(os, "memfd_create"):
            self._file = os.fdopen(os.memfd_create("upload", os.MFD_CLOEXEC), "r+b", buffering=0)
        else:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `close` closes it
        self.size = 0

    @classmethod
    def of(cls, data: bytes) -> Self:
        """What is there already."""
        made = cls()
        made.write(data)
        return made

    def write(self, piece: bytes) -> None:
        """Add a piece. Raises `OSError` where there is no room for it."""
        left = memoryview(piece)
        while left:
            left = left[self._file.write(left) :]
        self.size += len(piece)

    def read(self) -> bytes:
        """All of it, as one more copy."""
        with self.lent() as descriptor:
            return os.pread(descriptor, self.size, 0)

    @contextmanager
    def lent(self) -> Iterator[int]:
        """A descriptor that holds the bytes until the block ends, whoever closes this meanwhile.

        Raises `ValueError` where it is closed already.
        """
        with self._lock:
            descriptor = os.dup(self._file.fileno())
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Close it. Safe to repeat."""
        with self._lock:
            self._file.close()
