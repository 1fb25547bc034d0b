"""Reading bodies: how large each may be and how long it may take, and how much is held of all of them at once."""

import asyncio
from collections import deque
from types import TracebackType
from typing import Self

import structlog
from starlette.datastructures import Headers
from starlette.types import Receive

from app.errors import BodyTooLarge, Overloaded, RequestTimeout
from app.observe.bursts import Bursts
from app.settings import LimitSettings

log = structlog.get_logger(__name__)

AT_ONCE_BYTES = 2 * 1024 * 1024
"""What is not longer is joined sooner than a thread is woken and others notice."""
WAIT_S = 2.0
"""How long a body waits for room: others are read and answered meanwhile."""


class Intake:
    """The bodies of one application. An announced length is reserved before the first byte is read."""

    def __init__(self, limits: LimitSettings) -> None:
        self.max_body = limits.max_body_bytes
        self.seconds = limits.body_ms / 1000
        self._room = Room(max(limits.max_held_bytes, limits.max_body_bytes))
        self._bursts = Bursts()

    def body(self, headers: Headers, receive: Receive) -> "Whole":
        """The whole body, as `pieces` gives it."""
        return Whole(self.pieces(headers, receive))

    def pieces(self, headers: Headers, receive: Receive) -> "Pieces":
        """The body as it arrives; its room is taken until the block ends. A caller that goes away leaves what it sent.

        Raises `BodyTooLarge`, `RequestTimeout`, `Overloaded`, at the beginning or between two pieces.
        """
        return Pieces(self, Held(self._room), _announced(headers), receive)

    def refused(self, refusal: BaseException | None) -> None:
        """Say in the log, once a burst, that bodies are refused. What else ended a block is for others to tell."""
        if isinstance(refusal, Overloaded | RequestTimeout) and self._bursts.begins(refusal.code):
            log.warning("bodies_refused", reason=str(refusal.code), held_bytes=self._room.taken)


class Pieces:
    """One body as it arrives: a context that holds its room, and what is iterated over in it."""

    # A class, and no generator with `asynccontextmanager`: every request takes this way, and that costs three times
    # as much.

    def __init__(self, intake: Intake, held: "Held", announced: int, receive: Receive) -> None:
        self._intake = intake
        self._held = held
        self._announced = announced
        self._receive = receive
        self._size = 0
        self._end = 0.0
        self._complete = False

    async def __aenter__(self) -> Self:
        if self._announced > self._intake.max_body:
            raise self._too_large()
        try:
            await self._held.reserve(self._announced, WAIT_S)
        except Overloaded as refusal:
            self._intake.refused(refusal)
            raise
        self._end = asyncio.get_running_loop().time() + self._intake.seconds
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, problem: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._intake.refused(problem)
        self._held.release()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._complete:
            raise StopAsyncIteration
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError:
            raise RequestTimeout(f"the body has to arrive within {self._intake.seconds:g} seconds") from None
        if message["type"] != "http.request":
            self._complete = True
            raise StopAsyncIteration
        piece: bytes = message.get("body", b"")
        self._size += len(piece)
        if self._size > self._intake.max_body:
            raise self._too_large()
        self._held.grow(self._size)
        self._complete = not message.get("more_body", False)
        return piece

    def _too_large(self) -> BodyTooLarge:
        return BodyTooLarge(f"the body may have {self._intake.max_body} bytes")


class Whole:
    """`Pieces` put together: a context that gives the whole body."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces

    async def __aenter__(self) -> bytes:
        pieces = await self._pieces.__aenter__()
        try:
            return await _joined([piece async for piece in pieces])
        except BaseException as problem:
            await pieces.__aexit__(type(problem), problem, None)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pieces.__aexit__(kind, problem, trace)


async def _joined(chunks: list[bytes]) -> bytes:
    """The body. A large one is put together in a thread, which lets the others go on: Python copies it without its
    lock."""
    if sum(map(len, chunks)) <= AT_ONCE_BYTES:
        return b"".join(chunks)
    return await asyncio.to_thread(b"".join, chunks)


class Room:
    """A number of bytes, shared out in order of asking."""

    def __init__(self, total: int) -> None:
        self._total = total
        self.taken = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    def take_now(self, amount: int) -> None:
        """Take ``amount`` bytes, or raise `Overloaded`."""
        if amount > self._total - self.taken:
            raise Overloaded("too much is being read at once; try again")
        self.taken += amount

    async def take(self, amount: int, seconds: float) -> None:
        """Take ``amount`` bytes, after at most ``seconds``; or raise `Overloaded`."""
        if not self._waiting and amount <= self._total - self.taken:
            self.taken += amount
            return
        place = (amount, asyncio.get_running_loop().create_future())
        self._waiting.append(place)
        try:
            async with asyncio.timeout(seconds):
                await place[1]
        except BaseException as error:
            if place in self._waiting:
                self._waiting.remove(place)
            elif not place[1].cancelled():
                self.give(amount)
            if isinstance(error, TimeoutError):
                raise Overloaded("too much is being read at once; try again") from None
            raise
        finally:
            self._serve()

    def give(self, amount: int) -> None:
        """Give ``amount`` bytes back."""
        self.taken -= amount
        self._serve()

    def _serve(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._total - self.taken:
            amount, turn = self._waiting.popleft()
            if not turn.done():
                self.taken += amount
                turn.set_result(None)


class Held:
    """What one request holds of the room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._bytes = 0

    async def reserve(self, amount: int, seconds: float) -> None:
        """Take what was announced."""
        await self._room.take(amount, seconds)
        self._bytes = amount

    def grow(self, size: int) -> None:
        """Hold ``size`` bytes at least; a body without an announced length does not wait, for it holds some already."""
        if size > self._bytes:
            self._room.take_now(size - self._bytes)
            self._bytes = size

    def release(self) -> None:
        """Give everything back."""
        self._room.give(self._bytes)
        self._bytes = 0


def _announced(headers: Headers) -> int:
    length = headers.get("content-length", "")
    return int(length[:20]) if length.isascii() and length.isdigit() else 0
