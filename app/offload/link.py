"""Two processes that call each other: pickled messages over a socket, each with its length in front.

Both ends are this program, on one machine, over a socket that nobody else can reach.
"""

import asyncio
import pickle
import socket
from typing import Any

_LENGTH_BYTES = 8
_BUFFER = 4 * 1024 * 1024
"""Bytes read ahead. Large messages arrive in pieces of this size, so that the event loop turns in between."""


class Link:
    """One end of the connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, end: socket.socket) -> "Link":
        """A link over one end of a socket pair."""
        return cls(*await asyncio.open_connection(sock=end, limit=_BUFFER))

    async def send(self, *message: Any) -> None:
        """Send one message; waits while the other end is slow to read."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._writer.write(len(data).to_bytes(_LENGTH_BYTES, "big"))
        self._writer.write(data)
        await self._writer.drain()

    async def receive(self) -> Any:
        """The next message. Raises `EOFError` when the other end is gone."""
        try:
            length = int.from_bytes(await self._reader.readexactly(_LENGTH_BYTES), "big")
            return pickle.loads(await self._reader.readexactly(length))  # noqa: S301 - see above
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise EOFError from error

    def close(self) -> None:
        """Let go of the connection."""
        self._writer.close()
