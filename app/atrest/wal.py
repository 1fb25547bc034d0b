"""Switching an SQLite file to its write-ahead log, for the turn store, the traces and the embedded index alike."""

import time
from typing import Any

RETRY_S = 0.01


def into_wal_mode(connection: Any, busy: type[Exception] | tuple[type[Exception], ...], patience_s: float) -> None:
    """Switch a new file to WAL; ``connection`` is any driver's, ``busy`` what that driver raises for a locked file.

    SQLite does not wait for another process that is making the same switch, whatever its busy time-out, so we do.
    """
    give_up = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except busy:
            if time.monotonic() > give_up:
                raise
            time.sleep(RETRY_S)
        else:
            return
