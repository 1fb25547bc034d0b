"""Bodies are read within bounds: of each, of all, and of time."""

import asyncio
from typing import Any

import pytest
from starlette.datastructures import Headers

from app.api import intake as module
from app.api.intake import Intake, Room
from app.errors import BodyTooLarge, Overloaded, RequestTimeout
from app.observe.bursts import QUIET_S, Bursts
from app.settings import LimitSettings

pytestmark = pytest.mark.anyio
KIB = 1024


def intake(**limits: int) -> Intake:
    return Intake(LimitSettings(**{"max_body_bytes": 4 * KIB, "max_held_bytes": 6 * KIB, **limits}))


def announcing(size: int) -> Headers:
    return Headers({"content-length": str(size)})


def receiving(*chunks: bytes) -> Any:
    left = list(chunks)

    async def receive() -> dict[str, Any]:
        chunk = left.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(left)}

    return receive


async def unread() -> dict[str, Any]:
    raise AssertionError("the body is read")


async def never() -> dict[str, Any]:
    await asyncio.sleep(2)  # cut short, where it is given up
    raise AssertionError("the body is still waited for")


async def test_a_body_comes_whole_and_its_room_is_given_back() -> None:
    door = intake()
    for headers in (announcing(3 * KIB), Headers()):
        async with door.body(headers, receiving(b"a" * KIB, b"b" * 2 * KIB)) as body:
            assert (len(body), door._room.taken) == (3 * KIB, 3 * KIB)
        assert door._room.taken == 0


async def test_a_large_body_is_put_together_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: list[tuple[object, ...]] = []
    to_thread = asyncio.to_thread

    async def watched(*call: Any) -> Any:
        joined.append(call)
        return await to_thread(*call)

    monkeypatch.setattr(asyncio, "to_thread", watched)
    monkeypatch.setattr(module, "AT_ONCE_BYTES", 3 * KIB)
    for size in (3, 4):
        chunks = [bytes([number]) * KIB for number in range(size)]
        async with intake().body(announcing(size * KIB), receiving(*chunks)) as body:
            assert body == b"".join(chunks)
    assert [call[1:] for call in joined] == [([bytes([number]) * KIB for number in range(4)],)]


async def test_too_large_announced_or_not() -> None:
    for headers, receive in ((announcing(5 * KIB), unread), (Headers(), receiving(b"a" * 3 * KIB, b"b" * 3 * KIB))):
        door = intake()
        with pytest.raises(BodyTooLarge):
            async with door.body(headers, receive):
                pass
        assert door._room.taken == 0


async def test_one_that_does_not_arrive_is_given_up() -> None:
    door = intake(body_ms=100)
    with pytest.raises(RequestTimeout):
        async with door.body(announcing(3 * KIB), never):
            pass
    assert door._room.taken == 0


async def test_of_all_together_no_more_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAIT_S", 0.0)
    door = intake()
    logs: list[tuple[str, str]] = []
    monkeypatch.setattr(
        module.log, "warning", lambda event, **facts: logs.append((event, facts["reason"])), raising=False
    )
    async with door.body(announcing(4 * KIB), receiving(b"a" * 4 * KIB)):
        for headers, receive in ((announcing(3 * KIB), unread), (Headers(), receiving(b"b" * 3 * KIB))):
            with pytest.raises(Overloaded):
                async with door.body(headers, receive):
                    pass
        assert door._room.taken == 4 * KIB
    assert logs == [("bodies_refused", "overloaded")], "once a burst"
    async with door.body(announcing(3 * KIB), receiving(b"c" * 3 * KIB)):
        pass


async def test_those_who_wait_get_their_turn_in_order() -> None:
    room = Room(10)
    await room.take(8, 0)
    order: list[int] = []

    async def wait(number: int, amount: int) -> None:
        await room.take(amount, 60)
        order.append(number)

    waiting = [asyncio.create_task(wait(number, amount)) for number, amount in enumerate((6, 1, 3))]
    await asyncio.sleep(0)
    assert order == [], "a small one does not overtake a large one for ever"
    room.give(8)
    await asyncio.gather(*waiting)
    assert (order, room.taken) == ([0, 1, 2], 10)


async def test_who_stops_waiting_holds_nothing() -> None:
    room = Room(10)
    await room.take(8, 0)
    gone = asyncio.create_task(room.take(6, 60))
    await asyncio.sleep(0)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    await room.take(2, 0)
    room.give(10)
    assert room.taken == 0


def test_a_burst_is_told_once() -> None:
    now = [0.0]
    bursts = Bursts(lambda: now[0])
    assert [bursts.begins("a"), bursts.begins("a"), bursts.begins("b")] == [True, False, True]
    now[0] = QUIET_S
    assert not bursts.begins("a")
    now[0] += QUIET_S + 1
    assert bursts.begins("a")
