"""Two processes that call each other: pickled messages over a socket, each with its lengths in front.

Both ends are this program, on one machine, over a socket that no other process can reach.
"""

import asyncio
import pickle
import socket
from typing import Any

_NUMBER_BYTES = 8
_PIECE = 1024 * 1024
"""Bytes written and read at once."""
_BUFFER = 4 * 1024 * 1024
"""Bytes read ahead. Large messages arrive in pieces of this size, so that the event loop turns in between."""


Bytes = pickle.PickleBuffer
"""Many bytes in a message, which are sent from where they are; they arrive as ``bytes``."""


class Link:
    """One end of the connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._sending = asyncio.Lock()

    @classmethod
    async def over(cls, end: socket.socket) -> "Link":
        """A link over one end of a socket pair."""
        return cls(*await asyncio.open_connection(sock=end, limit=_BUFFER))

    async def send(self, *message: Any) -> None:
        """Send one message; waits while the other end is slow to read.

        Who gives up waiting has sent all of it, unless there are `Bytes` in it: then the link is of no use any more.
        """
        apart: list[pickle.PickleBuffer] = []
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL, buffer_callback=apart.append)
        views = [buffer.raw() for buffer in apart]
        numbers = (1 + len(views), len(data), *map(len, views))
        async with self._sending:
            self._writer.writelines([*(number.to_bytes(_NUMBER_BYTES, "big") for number in numbers), data])
            for view in views:
                for start in range(0, len(view), _PIECE):
                    await self._writer.drain()
                    self._writer.write(view[start : start + _PIECE])
            await self._writer.drain()

    async def receive(self) -> Any:
        """The next message. Raises `EOFError` when the other end is gone."""
        try:
            lengths = [await self._number() for _ in range(await self._number())]
            data, *apart = [await self._exactly(length) for length in lengths]
            return pickle.loads(data, buffers=apart)  # noqa: S301 - see above
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise EOFError from error

    async def _exactly(self, length: int) -> bytes:
        """So many bytes. Many are put together in a thread, where Python copies them without its lock."""
        if length <= _PIECE:
            return await self._reader.readexactly(length)
        pieces: list[bytes] = []
        while length > 0:
            pieces.append(await self._reader.readexactly(min(length, _PIECE)))
            length -= len(pieces[-1])
        return await asyncio.to_thread(b"".join, pieces)

    async def _number(self) -> int:
        return int.from_bytes(await self._reader.readexactly(_NUMBER_BYTES), "big")

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()
