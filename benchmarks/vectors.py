"""Whether all that was told to the embedded backend has its vectors: until then it is found by its words."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

POLL_S = 0.25


async def have_vectors(directory: Path, within_s: float) -> None:
    """Wait until no text below the data ``directory`` lacks its vector. Raises `TimeoutError` after so many seconds."""
    async with asyncio.timeout(within_s):
        while True:
            if not await asyncio.to_thread(lack_vectors, directory):
                return
            await asyncio.sleep(POLL_S)


def lack_vectors(directory: Path) -> bool:
    """Whether a piece of any user's texts has no vector yet."""
    return any(map(_lacks_vectors, directory.rglob("index.db")))


def _lacks_vectors(index: Path) -> bool:
    with closing(sqlite3.connect(index)) as db:
        return db.execute("SELECT 1 FROM chunks WHERE embedded = 0 LIMIT 1").fetchone() is not None
