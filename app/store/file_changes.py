"""Whether a SQLite file was written to, by a counter in the memory that its connections share."""

import sqlite3
from collections.abc import Callable


class FileChanges:
    """Counts the transactions that changed the file, of this process and of others. For one thread only."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], error: type[Exception]) -> None:
        """``connect`` opens the file with the driver that everybody opens it with; ``error`` is what that raises."""
        self._connect = connect
        self._error = error
        self._connection: sqlite3.Connection | None = None

    def count(self) -> int | None:
        """Another number after each change; None where that can not be told. Takes microseconds, and waits for nobody:
        in WAL mode the counter is in shared memory."""
        try:
            if self._connection is None:
                self._connection = self._connect()
            [count] = self._connection.execute("PRAGMA data_version").fetchone()
        except self._error:
            return None
        return int(count)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
