"""Turns that the backend had taken and has lost, on SQLite and on PostgreSQL."""

import pytest

from app.store.turns import SqlTurnStore
from app.store.work import DeliveredLost, Lease, SendTurn, Sent, Step, TurnDelivered, TurnInDoubt
from tests.unit.turning import FakeClock, a_turn

pytestmark = pytest.mark.anyio


async def in_doubt(store: SqlTurnStore, clock: FakeClock) -> tuple[list[str], Lease, SendTurn]:
    """Two turns of two messages that are delivered, and a third whose write had no answer; it is looked for next."""
    ids = [(await store.accept(a_turn(f"q{n}", f"a{n}"))).turn_id for n in range(3)]
    ((lease, first),) = await store.queue.claim("me", 1)
    step: Step = first
    for _ in ids[:2]:
        assert isinstance(step, SendTurn)
        clock.now += 1
        step = await store.queue.next_step(lease, TurnDelivered(step))
    assert isinstance(step, SendTurn)
    clock.now += 1
    again = await store.queue.next_step(lease, TurnInDoubt(step, "time-out", clock.now, clock.now))
    assert isinstance(again, SendTurn)
    return ids, lease, again


async def test_a_turn_in_doubt_names_the_one_that_was_delivered_before(store: SqlTurnStore, clock: FakeClock) -> None:
    ids, _, again = await in_doubt(store, clock)
    assert (again.turn_id, again.before) == (ids[2], Sent(ids[1], 2))


async def test_what_is_lost_is_looked_for_and_sent_in_order_and_asked_about_once(
    store: SqlTurnStore, clock: FakeClock
) -> None:
    ids, lease, again = await in_doubt(store, clock)
    step = await store.queue.next_step(lease, DeliveredLost(again))
    seen = []
    while isinstance(step, SendTurn):
        seen.append((step.turn_id, step.sent, step.doubt_until is not None, step.before))
        clock.now += 1
        step = await store.queue.next_step(lease, TurnDelivered(step))
    assert seen == [(turn_id, 0, True, None) for turn_id in ids]
    assert {one.state for one in (await store.deliveries.page(None)).items} == {"delivered"}
