"""Has anybody written to a SQLite file? Told by a counter in the memory that its connections share."""

import sqlite3
from pathlib import Path


class FileChanges:
    """Counts the transactions that changed the file, of this process and of others. For one thread only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def count(self) -> int | None:
        """Another number after each change; None where that can not be told. Takes microseconds, and waits for nobody:
        in WAL mode the counter is in shared memory."""
        try:
            if self._connection is None:
                self._connection = sqlite3.connect(self._path, timeout=0, isolation_level=None)
            [count] = self._connection.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            return None
        return int(count)

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
