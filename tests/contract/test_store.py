"""One suite for the turn store on SQLite and on PostgreSQL."""

import os
import sqlite3
import stat
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from sqlalchemy import MetaData, event, insert, select, update

from app.atrest.vault import Vault
from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.history.window import Measured, Window
from app.core.identity import Tenant
from app.core.messages.usage import Usage
from app.core.reasons import Reason
from app.errors import Conflict, KeyReused, NotFound, OutboxFull, StoreUnavailable
from app.ports import Recorded, SeenBefore
from app.store import connections, engines, migrating
from app.store.codec import dump_identity, dump_messages
from app.store.schema import commits, metadata, sessions, turns
from app.store.turns import SqlTurnStore, open_store
from app.store.work import (
    CommitAccepted,
    CommitExtracted,
    CommitPostponed,
    ExtractionFailed,
    FollowCommit,
    Lane,
    Lease,
    LeaseLost,
    Rest,
    SendCommit,
    SendTurn,
    Step,
    TurnDelivered,
    TurnFailed,
    TurnInDoubt,
    TurnRejected,
)
from tests.contract.conftest import OpenStore
from tests.unit.turning import TIME, FakeClock, a_turn, somebody, work_rules

pytestmark = pytest.mark.anyio


async def claimed(store: SqlTurnStore, owner: str = "me") -> tuple[Lease, SendTurn]:
    ((lease, step),) = await store.queue.claim(owner, 1)
    assert isinstance(step, SendTurn)
    return lease, step


async def deliver_all(store: SqlTurnStore) -> list[SendTurn]:
    """Play a worker to whom every write succeeds; what it sent, in order."""
    sent: list[SendTurn] = []
    for lease, first in await store.queue.claim("me", 100):
        step: Step = first
        while isinstance(step, SendTurn):
            sent.append(step)
            step = await store.queue.next_step(lease, TurnDelivered(step))
    return sent


async def test_a_turn_is_there_after_reopening(opened: OpenStore) -> None:
    first = await opened()
    accepted = await first.accept(a_turn("what is up", "all is well"))
    await first.aclose()
    assert accepted.status == "committed" and accepted.captured == 2 and not accepted.delivered
    (sent,) = await deliver_all(await opened())
    assert sent.turn_id == accepted.turn_id
    assert [message.parts for message in sent.messages] == [(TextPart("what is up"),), (TextPart("all is well"),)]
    assert [message.source_id for message in sent.messages] == [f"{accepted.turn_id}.0", f"{accepted.turn_id}.1"]


async def test_messages_come_back_as_they_went_in(store: SqlTurnStore) -> None:
    nasty = "line\n\ttab 漢字 🦀 \x00 \ud83e '\""
    message = CapturedMessage(
        "assistant",
        (
            TextPart(nasty),
            ToolPart("call.1", "run", {"cmd": [nasty, None, 1.5]}, None, True),
            ToolPart("2", "x", 1, ""),
        ),
        TIME,
        peer_id="main",
    )
    turn = a_turn("x")
    await store.accept(type(turn)(**{**{f: getattr(turn, f) for f in turn.__slots__}, "messages": (message,)}))
    (sent,) = await deliver_all(store)
    (back,) = sent.messages
    assert (back.parts, back.created_at, back.peer_id, back.role) == (message.parts, TIME, "main", "assistant")


async def test_the_same_key_is_the_same_turn(store: SqlTurnStore) -> None:
    first = await store.accept(a_turn("a", "b", key="k"))
    again = await store.accept(a_turn("a", "b", key="k"))
    assert (again.status, again.turn_id, again.captured) == ("duplicate", first.turn_id, 2)
    await deliver_all(store)
    assert (await store.accept(a_turn("a", "b", key="k"))).delivered


async def test_a_key_for_another_turn_is_refused(store: SqlTurnStore) -> None:
    await store.accept(a_turn("a", key="k"))
    with pytest.raises(KeyReused):
        await store.accept(a_turn("b", key="k"))
    assert len(await deliver_all(store)) == 1


async def test_keys_live_per_tenant_and_session(store: SqlTurnStore) -> None:
    everyone = [somebody(), somebody("s2"), somebody(user="bob"), somebody(account="other")]
    for who in everyone:
        assert (await store.accept(a_turn("a", who=who, key="k"))).status == "committed"
    assert len(await deliver_all(store)) == 4


async def test_without_a_key_only_a_turn_of_its_own_occurrence_repeats(store: SqlTurnStore) -> None:
    assert (await store.accept(a_turn("yes"))).status == "committed"
    assert (await store.accept(a_turn("yes"))).status == "committed"
    timed = a_turn("1", occurrence="@at 12:00")
    assert (await store.accept(timed)).status == "committed"
    assert (await store.accept(timed)).status == "duplicate"


async def test_a_position_proves_nothing_across_a_reset_but_a_time_does(store: SqlTurnStore) -> None:
    placed = a_turn("hello", occurrence="at 0: hello")
    timed = a_turn("hello", occurrence="@at 12:00 hello")
    await store.accept(placed)
    await store.accept(timed)
    await store.reset(somebody(), 1000)
    assert (await store.accept(placed)).status == "committed"
    assert (await store.accept(timed)).status == "duplicate"


async def test_a_turn_is_compared_with_all_that_came_in_since_it_was(store: SqlTurnStore) -> None:
    """Two processes that read before either has written."""
    await store.accept(a_turn("1", fingerprints=("@1",), span=(10, 19)))
    assert await store.recorded(somebody(), (15, 30), in_order=False) == Recorded(("@1",), 1)
    assert await store.recorded(somebody(), (20, 30), in_order=False) == Recorded((), 1)
    late = a_turn("2", fingerprints=("@2",), span=(15, 30))
    with pytest.raises(SeenBefore):
        await store.accept(late)
    compared = replace(late, compared_through=1)
    await store.accept(a_turn("3", fingerprints=("@3",), span=(30, 40)))
    with pytest.raises(SeenBefore):
        await store.accept(compared)
    assert (await store.accept(replace(late, compared_through=2))).status == "committed"
    assert (await store.recorded(somebody(), None, in_order=True)).fingerprints == ("@1", "@3", "@2")


async def test_twenty_at_once_with_one_key_are_one_turn(store: SqlTurnStore) -> None:
    answers: list[str] = []

    async def accept() -> None:
        answers.append((await store.accept(a_turn("a", key="k"))).status)

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(accept)
    assert sorted(answers) == ["committed", *["duplicate"] * 19]
    assert len(await deliver_all(store)) == 1


async def test_a_skipped_turn_leaves_its_fingerprints_and_nothing_else(store: SqlTurnStore) -> None:
    accepted = await store.accept(a_turn("beat", skipped=Reason.HEARTBEAT))
    assert (accepted.status, accepted.captured) == ("skipped", 0)
    assert await store.seen_fingerprints(somebody()) == ("beat",)
    assert await deliver_all(store) == []


async def test_nothing_at_all_is_not_recorded(store: SqlTurnStore) -> None:
    accepted = await store.accept(a_turn(skipped=Reason.NO_NEW_MESSAGES))
    assert (accepted.status, accepted.turn_id) == ("skipped", "")
    assert (await store.deliveries.page(None)).items == ()


async def test_a_full_outbox_refuses_new_turns_and_keeps_the_old(opened: OpenStore) -> None:
    store = await opened(max_pending_bytes=1000)
    accepted = 0

    async def fill() -> None:
        nonlocal accepted
        for accepted in range(100):
            await store.accept(a_turn("x" * 100, key=f"k{accepted}"))

    with pytest.raises(OutboxFull):
        await fill()
    assert 2 <= accepted < 10
    assert (await store.accept(a_turn("x" * 100, key="k0"))).status == "duplicate"
    assert len(await deliver_all(store)) == accepted
    assert (await store.accept(a_turn("y", key="new"))).status == "committed"


async def test_a_tenant_can_not_fill_the_outbox_of_the_others(opened: OpenStore) -> None:
    store = await opened(max_pending_bytes=10_000, tenant_share=0.25)
    alice, bob = somebody(), somebody(user="bob")
    accepted = 0

    async def fill() -> None:
        nonlocal accepted
        for accepted in range(100):
            await store.accept(a_turn("x" * 100, key=f"k{accepted}", who=somebody(f"s{accepted % 7}")))

    with pytest.raises(OutboxFull, match="of this tenant"):
        await fill()
    assert 2 <= accepted < 20
    assert (await store.accept(a_turn("x" * 100, key="k0", who=somebody("s0")))).status == "duplicate"
    assert (await store.accept(a_turn("x" * 5000, who=bob))).status == "committed", "the first of any size"
    with pytest.raises(OutboxFull, match="of this tenant"):
        await store.accept(a_turn("y", who=bob))
    gauges = await store.gauges()
    assert gauges.fullest_tenant_bytes > 5000 and gauges.bytes > gauges.fullest_tenant_bytes
    await deliver_all(store)
    assert (await store.accept(a_turn("y", key="new", who=alice))).status == "committed"


async def test_the_bound_of_a_tenant_counts_what_other_processes_took(opened: OpenStore) -> None:
    one, other = [await opened(max_pending_bytes=10_000, tenant_share=0.25) for _ in range(2)]
    await one.accept(a_turn("x" * 2000, key="1"))
    with pytest.raises(OutboxFull):
        await other.accept(a_turn("x" * 2000, key="2"))


async def test_one_session_in_order_others_beside_it(store: SqlTurnStore) -> None:
    for number in range(6):
        await store.accept(a_turn(f"{number}", who=somebody(f"s{number % 2}")))
    sent = [message.parts[0] for step in await deliver_all(store) for message in step.messages]
    assert [part for part in sent if part.text in "024"] == [TextPart(c) for c in "024"]  # type: ignore[union-attr]
    assert len(sent) == 6


async def test_a_leased_session_is_nobody_elses_until_the_lease_ends(
    store: SqlTurnStore, opened: OpenStore, clock: FakeClock
) -> None:
    await store.accept(a_turn("a"))
    mine, step = await claimed(store)
    other = await opened()
    assert await other.queue.claim("other", 10) == []
    clock.now += 31
    theirs, taken = await claimed(other, "other")
    with pytest.raises(LeaseLost):
        await store.queue.next_step(mine, TurnDelivered(step))
    with pytest.raises(LeaseLost):
        await store.queue.mark_attempt(mine, step, 0)
    await store.queue.release(mine)
    assert taken.doubt_until == pytest.approx(clock.now - 31 + 15)
    assert isinstance(await other.queue.next_step(theirs, TurnDelivered(taken)), Rest)


async def test_what_was_put_off_before_the_clock_was_set_back_is_not_put_off_for_ever(
    store: SqlTurnStore, clock: FakeClock
) -> None:
    await store.accept(a_turn("leased"))
    await store.accept(a_turn("backing off", who=somebody("s2")))
    for lease, step in await store.queue.claim("me", 10):
        assert isinstance(step, SendTurn)
        if lease.who.session == "s2":
            await store.queue.next_step(lease, TurnFailed(step, "503", clock.now + 10))
    clock.now -= 365 * 86_400
    await store.mend_dates()
    clock.now += 31
    assert {lease.who.session for lease, _ in await store.queue.claim("other", 10)} == {"s1", "s2"}


async def test_a_step_prolongs_the_lease(store: SqlTurnStore, clock: FakeClock) -> None:
    await store.accept(a_turn("a"))
    await store.accept(a_turn("b"))
    mine, step = await claimed(store)
    for _ in range(3):
        clock.now += 20
        await store.queue.mark_attempt(mine, step, 0)
    assert await store.queue.claim("other", 10) == []


async def test_leases_of_dead_processes_end_at_once(store: SqlTurnStore) -> None:
    await store.accept(a_turn("a"))
    mine, _ = await claimed(store, "dead")
    assert await store.queue.expire_leases(lambda owner: owner == "dead") == 1
    assert len(await store.queue.claim("me", 10)) == 1
    with pytest.raises(LeaseLost):
        await store.queue.next_step(mine)


async def test_a_turn_accepted_under_a_lease_is_not_forgotten(store: SqlTurnStore) -> None:
    await store.accept(a_turn("a"))
    mine, step = await claimed(store)
    await store.accept(a_turn("b"))
    following = await store.queue.next_step(mine, TurnDelivered(step))
    assert isinstance(following, SendTurn)
    assert isinstance(await store.queue.next_step(mine, TurnDelivered(following)), Rest)
    await store.accept(a_turn("c"))
    assert len(await deliver_all(store)) == 1


async def test_a_back_off_holds_for_turns_that_come_meanwhile(store: SqlTurnStore, clock: FakeClock) -> None:
    await store.accept(a_turn("a"))
    mine, step = await claimed(store)
    assert await store.queue.next_step(mine, TurnFailed(step, "503", clock.now + 10)) == Rest(clock.now + 10)
    await store.accept(a_turn("b"))
    assert await store.queue.claim("me", 1) == []
    clock.now += 10
    assert [next(iter(step.messages)).parts for step in await deliver_all(store)] == [
        (TextPart("a"),),
        (TextPart("b"),),
    ]


async def dead_letter(store: SqlTurnStore, words: str = "bad") -> str:
    turn_id = (await store.accept(a_turn(words, key=words))).turn_id
    mine, step = await claimed(store)
    await store.queue.next_step(mine, TurnRejected(step, "400 no"))
    return turn_id


async def test_a_dead_letter_lets_the_others_pass_and_can_be_retried(store: SqlTurnStore) -> None:
    turn_id = await dead_letter(store)
    await store.accept(a_turn("good"))
    assert [next(iter(step.messages)).parts for step in await deliver_all(store)] == [(TextPart("good"),)]
    found = await store.deliveries.get(Tenant("acme", "alice"), turn_id)
    assert (found.state, found.error) == ("dead", "400 no")
    assert (await store.deliveries.retry(Tenant("acme", "alice"), turn_id)).state == "pending"
    assert [step.turn_id for step in await deliver_all(store)] == [turn_id]
    with pytest.raises(Conflict):
        await store.deliveries.discard(None, turn_id)


async def test_a_discarded_turn_is_gone_but_its_key_is_known(store: SqlTurnStore) -> None:
    turn_id = await dead_letter(store)
    assert (await store.deliveries.discard(Tenant("acme", "alice"), turn_id)).state == "discarded"
    assert await deliver_all(store) == []
    assert (await store.accept(a_turn("bad", key="bad"))).status == "duplicate"
    assert (await store.gauges()).dead == 0


async def test_what_waits_can_be_tried_now_and_given_up(store: SqlTurnStore, clock: FakeClock) -> None:
    turn_id = (await store.accept(a_turn("stuck"))).turn_id
    await store.accept(a_turn("behind"))
    mine, step = await claimed(store)
    assert await store.queue.next_step(mine, TurnFailed(step, "503", clock.now + 600)) == Rest(clock.now + 600)
    assert (await store.deliveries.retry(None, turn_id)).next_attempt_at is None
    mine, step = await claimed(store)
    assert step.turn_id == turn_id
    assert await store.queue.next_step(mine, TurnFailed(step, "503", clock.now + 600)) == Rest(clock.now + 600)
    given_up = await store.deliveries.discard(None, turn_id)
    assert (given_up.state, given_up.bytes) == ("discarded", 0)
    assert [next(iter(step.messages)).parts for step in await deliver_all(store)] == [(TextPart("behind"),)]


async def test_a_turn_in_doubt_that_is_retried_keeps_its_doubt(store: SqlTurnStore, clock: FakeClock) -> None:
    turn_id = (await store.accept(a_turn("in_doubt"))).turn_id
    mine, step = await claimed(store)
    await store.queue.next_step(mine, TurnInDoubt(step, "time-out", clock.now, clock.now + 60))
    assert (await store.deliveries.retry(None, turn_id)).state == "sending"
    _, again = await claimed(store)
    assert again.doubt_until == clock.now


@pytest.mark.parametrize("arrived", [True, False])
async def test_a_turn_that_is_given_up_while_it_is_sent_stays_given_up(
    store: SqlTurnStore, clock: FakeClock, arrived: bool
) -> None:
    turn_id = (await store.accept(a_turn("long", "turn"))).turn_id
    await store.accept(a_turn("behind"))
    mine, step = await claimed(store)
    await store.deliveries.discard(None, turn_id)
    assert not await store.queue.mark_attempt(mine, step, 1)
    outcome = TurnDelivered(step) if arrived else TurnInDoubt(step, "time-out", clock.now, clock.now + 5)
    following = await store.queue.next_step(mine, outcome)
    found = await store.deliveries.get(None, turn_id)
    assert (found.state, found.sent, found.bytes) == ("discarded", 2 if arrived else 0, 0)
    assert following == Rest(clock.now + 5) if not arrived else isinstance(following, SendTurn)


async def test_a_dead_letter_goes_back_to_its_place_unless_it_was_overtaken(store: SqlTurnStore) -> None:
    one, two = [await dead_letter(store, words) for words in ("1", "2")]
    await store.accept(a_turn("3"))
    await store.deliveries.retry(None, two)
    await store.deliveries.retry(None, one)
    sent = [next(iter(step.messages)).parts for step in await deliver_all(store)]
    assert sent == [(TextPart("1"),), (TextPart("2"),), (TextPart("3"),)]
    four = await dead_letter(store, "4")
    await store.accept(a_turn("5"))
    await deliver_all(store)
    await store.accept(a_turn("6"))
    await store.deliveries.retry(None, four)
    sent = [next(iter(step.messages)).parts for step in await deliver_all(store)]
    assert sent == [(TextPart("6"),), (TextPart("4"),)]


async def test_a_dead_letter_of_an_epoch_that_has_ended_does_not_go_live_in_the_next(store: SqlTurnStore) -> None:
    early, late = await dead_letter(store, "early"), await dead_letter(store, "late")
    planned = await store.reset(somebody(), 1000)
    assert planned is not None
    await store.deliveries.retry(None, early)  # the reset has not been carried out yet, and will wait for it
    mine, turn = await claimed(store)
    assert turn.turn_id == early
    reset = await store.queue.next_step(mine, TurnDelivered(turn))
    assert isinstance(reset, SendCommit) and reset.new_epoch
    await store.queue.next_step(mine, CommitAccepted(reset.id, None, "archive_001", 0.0))
    with pytest.raises(Conflict, match="reset"):
        await store.deliveries.retry(None, late)
    assert (await store.deliveries.discard(None, late)).state == "discarded"


async def test_a_reset_behind_a_commit_that_is_put_off_still_holds_back_what_follows_it(store: SqlTurnStore) -> None:
    """The refused commit is the first in line; the new epoch's turn must not slip into the archive of the reset."""
    await store.accept(a_turn("old", key="k0"))
    await deliver_all(store)
    (planned,) = await store.compact(somebody(), 0, 1000)
    ((mine, _),) = await store.queue.claim("me", 10)
    put_off = CommitPostponed(planned.id, "503", retry_at=FakeClock().now + 60)
    assert isinstance(await store.queue.next_step(mine, put_off), Rest)
    assert await store.reset(somebody(), 1000) is not None
    await store.accept(a_turn("new", key="k1"))
    assert await store.queue.claim("me", 10) == []


async def test_a_dead_letter_that_was_overtaken_does_not_move_behind_a_reset_that_waits(store: SqlTurnStore) -> None:
    early = await dead_letter(store, "early")
    await store.accept(a_turn("late"))
    await deliver_all(store)
    await store.reset(somebody(), 1000)
    with pytest.raises(Conflict, match="reset"):
        await store.deliveries.retry(None, early)
    assert (await store.deliveries.get(None, early)).state == "dead"


async def test_two_who_decide_about_a_dead_letter_do_not_both_get_their_way(store: SqlTurnStore) -> None:
    turn_id = await dead_letter(store)
    taken: list[str] = []

    async def decide(decision: Callable[..., Awaitable[object]], name: str) -> None:
        try:
            await decision(None, turn_id)
            taken.append(name)
        except Conflict:
            pass

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(decide, store.deliveries.retry, "retry")
            group.start_soon(decide, store.deliveries.discard, "discard")
    assert taken.count("discard") == 1 and taken[-1] == "discard"
    assert await deliver_all(store) == []


async def test_a_page_may_begin_at_any_number(store: SqlTurnStore) -> None:
    await store.accept(a_turn("q"))
    page = await store.deliveries.page(None, cursor=str(2**31))
    assert [item.captured for item in page.items] == [1]


async def test_words_that_no_database_takes(store: SqlTurnStore) -> None:
    turn_id = (await store.accept(a_turn("q", "a"))).turn_id
    mine, step = await claimed(store)
    odd = "half \ud83e and \x00 nothing"
    again = await store.queue.next_step(mine, TurnFailed(step, odd, retry_at=0.0))
    assert (await store.deliveries.get(None, turn_id)).error == "half \ufffd and  nothing"
    assert isinstance(again, SendTurn)
    await store.queue.next_step(mine, TurnDelivered(again))
    (planned,) = await store.compact(somebody(), 0, 1000)
    ((mine, _),) = await store.queue.claim("me", 10)
    await store.queue.next_step(mine, CommitAccepted(planned.id, odd, None, poll_at=0.0))
    await store.queue.next_step(mine, CommitExtracted(planned.id, odd))
    assert (await store.local_history(somebody())).summary == "half \ufffd and  nothing"


async def test_a_tenant_sees_its_own_deliveries_page_by_page(store: SqlTurnStore) -> None:
    mine = [(await store.accept(a_turn(str(n), who=somebody(f"s{n % 2}")))).turn_id for n in range(5)]
    other = (await store.accept(a_turn("x", who=somebody(user="bob")))).turn_id
    tenant = Tenant("acme", "alice")
    seen, cursor = [], None
    while True:
        page = await store.deliveries.page(tenant, limit=2, cursor=cursor)
        seen += [item.turn_id for item in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == mine[::-1]
    assert len((await store.deliveries.page(tenant, session="s1")).items) == 2
    assert (await store.deliveries.page(tenant, states=["dead"])).items == ()
    assert len((await store.deliveries.page(None)).items) == 6
    for name in (other, "nonsense"):
        with pytest.raises(NotFound):
            await store.deliveries.get(tenant, name)


async def test_gauges_count_the_outbox(store: SqlTurnStore, clock: FakeClock) -> None:
    await dead_letter(store)
    await store.accept(a_turn("a"))
    clock.now += 7
    gauges = await store.gauges()
    assert (gauges.depth, gauges.dead, gauges.oldest_seconds) == (1, 1, pytest.approx(7))
    assert gauges.bytes > 0
    await deliver_all(store)
    assert (await store.gauges()).depth == 0


async def test_the_agent_last_seen(store: SqlTurnStore) -> None:
    assert await store.last_agent(Tenant("acme", "alice"), "s1") is None
    await store.accept(a_turn("a"))
    assert await store.last_agent(Tenant("acme", "alice"), "s1") == "main"


async def test_old_sessions_are_forgotten_but_nothing_undelivered(opened: OpenStore, clock: FakeClock) -> None:
    store = await opened(keep_days=1)
    await store.accept(a_turn("old", key="old"))
    await store.accept(a_turn("waiting", who=somebody("s2"), key="k"))
    (mine, step), _ = await store.queue.claim("me", 10)
    assert isinstance(step, SendTurn)
    await store.queue.next_step(mine, TurnDelivered(step))
    clock.now += 2 * 86_400
    await store.forget_old()
    assert [item.session for item in (await store.deliveries.page(None)).items] == ["s2"]
    assert not (await store.local_history(mine.who)).known


async def test_a_lease_of_a_session_that_was_forgotten_meanwhile_is_given_back_for_nothing(
    opened: OpenStore, clock: FakeClock
) -> None:
    store = await opened(keep_days=1)
    await store.accept(a_turn("old"))
    mine, step = await claimed(store)
    await store.queue.next_step(mine, TurnDelivered(step))
    clock.now += 2 * 86_400
    while await store.forget_old():
        pass
    assert not (await store.local_history(mine.who)).known
    assert await store.queue.release(mine) is None
    with pytest.raises(LeaseLost):
        await store.queue.release(mine, TurnDelivered(step))


async def test_a_session_that_goes_on_is_kept_however_little_is_to_be(opened: OpenStore, clock: FakeClock) -> None:
    store = await opened(keep_days=0)
    await store.accept(a_turn("live", key="k"))
    await deliver_all(store)
    clock.now += 3600
    await store.forget_old()
    assert (await store.accept(a_turn("live", key="k"))).status == "duplicate"


@pytest.mark.long
async def test_everything_that_is_old_is_forgotten_however_much(opened: OpenStore, clock: FakeClock) -> None:
    store = await opened(keep_days=1)
    for number in range(520):
        await store.accept(a_turn("beat", who=somebody(f"s{number}"), skipped=Reason.HEARTBEAT))
    clock.now += 2 * 86_400
    await store.accept(a_turn("new", who=somebody("new")))
    assert await store.forget_old() == 520
    assert [item.session for item in (await store.deliveries.page(None, limit=500)).items] == ["new"]


async def test_a_turn_that_comes_while_its_session_is_forgotten_begins_a_new_one(
    opened: OpenStore, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SLICE_S", 0)
    store = await opened(keep_days=1)
    for number in range(250):
        await store.accept(a_turn(f"beat {number}", skipped=Reason.HEARTBEAT))
    clock.now += 2 * 86_400
    write = store._database.write_behind
    slices = 0

    async def interrupted(*args: object) -> object:
        nonlocal slices
        slices += 1
        written = await write(*args)  # type: ignore[arg-type]
        if slices == 1:
            await store.accept(a_turn("back again"))
        return written

    monkeypatch.setattr(store._database, "write_behind", interrupted)
    await store.forget_old()
    assert slices > 1
    assert [item.captured for item in (await store.deliveries.page(None)).items] == [1]
    assert [next(iter(step.messages)).parts for step in await deliver_all(store)] == [(TextPart("back again"),)]


async def test_a_dead_letter_waits_for_a_decision_however_long(opened: OpenStore, clock: FakeClock) -> None:
    store = await opened(keep_days=1)
    turn_id = await dead_letter(store)
    await store.reset(somebody(), 1000)
    clock.now += 400 * 86_400
    while await store.forget_old():
        pass
    assert (await store.deliveries.retry(None, turn_id)).state == "pending"


async def test_delivered_text_is_bounded(opened: OpenStore) -> None:
    store = await opened(max_pending_bytes=3000)
    for number in range(8):
        await store.accept(a_turn("x" * 1000, key=str(number)))
        await deliver_all(store)
    await store.forget_old()
    kept = [item.bytes for item in (await store.deliveries.page(None)).items]
    assert 0 < sum(kept) <= 3000 and len(kept) == 8


async def test_opening_twice_at_once_makes_one_schema(url: str, vault: Vault) -> None:
    stores: list[SqlTurnStore] = []

    async def open_one() -> None:
        stores.append(await open_store(url, rules=work_rules(), vault=vault))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(open_one)
    for store in stores:
        assert await store.check() is None
        await store.aclose()


@pytest.mark.parametrize("made_by", ["code", "migrations"])
def test_the_migrations_make_the_schema_of_the_code(url: str, vault: Vault, made_by: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    engine = engines.make_engine(url, vault)
    with engine.begin() as connection:
        if made_by == "migrations":
            migrating.upgrade(connection)
    migrating.migrate(engine)
    with engine.connect() as connection:
        ours = {*metadata.tables, "alembic_version"}
        context = MigrationContext.configure(
            connection, opts={"include_name": lambda name, kind, _: kind != "table" or name in ours}
        )
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == migrating.latest_revision()
    engine.dispose()


EARLIER = sorted(path.name[:4] for path in (migrating.MIGRATIONS / "versions").glob("[0-9]*.py"))[:-1]
"""Every schema that there was before the present one."""


def fill_version(url: str, vault: Vault, revision: str, now: float) -> None:
    """A store as an earlier version left it: one session with a turn without times, and one with."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrating.MIGRATIONS))
    turn = {"session_id": 1, "epoch": 0, "repeatable": True, "host_messages": 1, "bytes": 9, "captured": 1}
    turn |= {"tokens": 1, "remember": False, "state": "pending", "created_at": now}
    one = turn | {"turn_id": "t_1", "position": 1, "first_message": 0, "prints": '["said"]', "fingerprint": "placed"}
    two = turn | {"turn_id": "t_2", "position": 2, "first_message": 1, "prints": '["@then"]', "fingerprint": "timed"}
    rows = [one | {"occurrence": "placed"}, two | {"first_at": int(now * 1000), "last_at": int(now * 1000)}]
    session = {"id": 1, "account": "acme", "user_name": "alice", "session": "s1", "identity": dump_identity(somebody())}
    session |= {"next_position": 3, "next_message": 2, "token_budget": 1000, "last_turn_at": now, "due_at": now}
    session["lane"] = Lane.TURN
    engine = engines.make_engine(url, vault)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        reflected = MetaData()
        reflected.reflect(connection)

        def put(table: str, row: dict[str, object]) -> None:
            columns = reflected.tables[table].columns.keys()
            known = {name: value for name, value in row.items() if name in columns}
            connection.execute(insert(reflected.tables[table]), known)

        put("sessions", session)
        for row in rows:
            said = CapturedMessage("user", (TextPart(row["turn_id"]),), TIME, f"{row['turn_id']}.0")
            put("turns", row | {"payload": dump_messages([said])})
    engine.dispose()


@pytest.mark.parametrize("revision", EARLIER)
async def test_turns_of_an_older_version_are_upgraded_delivered_and_known_again(
    url: str, vault: Vault, opened: OpenStore, clock: FakeClock, revision: str
) -> None:
    fill_version(url, vault, revision, clock.now)
    store = await opened()
    assert [step.turn_id for step in await deliver_all(store)] == ["t_1", "t_2"]
    assert (await store.accept(a_turn("said", occurrence="placed"))).turn_id == "t_1"
    said_at = int(clock.now * 1000)
    assert await store.recorded(somebody(), (said_at, said_at), in_order=False) == Recorded(("@then",), 2)
    with pytest.raises(SeenBefore):
        await store.accept(a_turn("then", occurrence="@then", span=(said_at, said_at)))
    later = said_at + 2 * 86_400_000
    assert (await store.accept(a_turn("later", occurrence="@later", span=(later, later)))).status == "committed"


@pytest.mark.parametrize(
    ("unnamed", "waiting"),
    [("default", {"s1": ["t_0", "t_1", "t_2"]}), (None, {"s1": ["t_1", "t_2"], "s1 of default": ["t_0"]})],
)
async def test_sessions_of_both_spellings_of_a_tenant_are_joined(
    url: str,
    vault: Vault,
    opened: OpenStore,
    clock: FakeClock,
    unnamed: str | None,
    waiting: dict[str, list[str]],
) -> None:
    """What was told to the one that was quiet longer is delivered first, and its key is no longer another turn's."""
    fill_version(url, vault, "0022", clock.now)
    engine = engines.make_engine(url, vault)
    with engine.begin() as connection:
        row = connection.execute(select(sessions)).one()
        quiet = {**row._asdict(), "id": 2, "account": "default", "last_turn_at": clock.now - 60, "next_position": 2}
        connection.execute(update(sessions).values(account=""))
        connection.execute(insert(sessions), quiet)
        turn = connection.execute(select(turns).where(turns.c.turn_id == "t_1")).one()._asdict()
        doubled = {**turn, "id": 3, "session_id": 2, "turn_id": "t_0", "key_hash": "key"}
        connection.execute(update(turns).where(turns.c.turn_id == "t_1").values(key_hash="key"))
        connection.execute(insert(turns), doubled)
    engine.dispose()
    store = await opened(unnamed=unnamed)
    found: dict[str, list[str]] = {}
    for step in await deliver_all(store):
        delivery = await store.deliveries.get(None, step.turn_id)
        name = f"{delivery.session} of {delivery.account}" if delivery.account else delivery.session
        found.setdefault(name, []).append(step.turn_id)
    assert found == waiting


async def test_a_store_of_a_newer_version_is_left_alone(
    store: SqlTurnStore, url: str, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "latest_revision", lambda: "0000")
    with pytest.raises(RuntimeError, match="newer version"):
        await open_store(url, rules=work_rules(), vault=vault)


async def test_a_sqlite_store_is_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "turns.db"
    store = await open_store(f"sqlite:///{path}", rules=work_rules())
    await store.accept(a_turn("a"))
    for each in path.parent.iterdir():
        assert stat.S_IMODE(each.stat().st_mode) == 0o600, each
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    await store.aclose()


async def test_what_is_asked_for_every_turn_reads_no_more_for_a_long_session(tmp_path: Path) -> None:
    """By SQLite's own account: one index finds the oldest turn that waits, and one holds all that is summed up."""
    store = await open_store(f"sqlite:///{tmp_path / 'turns.db'}", rules=work_rules())
    await store.accept(a_turn("first", who=somebody("other")))
    asked: list[str] = []
    event.listen(store._database._engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    await store.accept(a_turn("q"))
    await deliver_all(store)
    await store.aclose()
    connection = sqlite3.connect(tmp_path / "turns.db")
    plans = []
    for statement in {each for each in asked if each.startswith("SELECT") and "FROM turns" in each}:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", [0] * statement.count("?"))
        plans += [row[3].replace("TABLE ", "") for row in rows]
    connection.close()
    assert "SEARCH turns USING INDEX turns_by_state (session_id=? AND state=?)" in plans
    assert "SEARCH turns USING COVERING INDEX turns_by_state (session_id=? AND state=? AND position>?)" in plans
    assert not [plan for plan in plans if "SCAN" in plan or plan.endswith("turns_by_position (session_id=?)")]


async def test_how_a_session_stands_is_told_without_reading_what_waits(tmp_path: Path) -> None:
    """A turn may hold tens of megabytes, and `/compact` looks time and again while it waits."""
    store = await open_store(f"sqlite:///{tmp_path / 'turns.db'}", rules=work_rules())
    await store.accept(a_turn("q"))
    [(lease, step)] = await store.queue.claim("me", 1)
    assert isinstance(step, SendTurn)
    asked: list[str] = []
    event.listen(store._database._engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    size = await store.size_of(somebody())
    assert size is not None and size.tokens > 0
    await store.queue.mark_attempt(lease, step, 0)
    await store.queue.release(lease)
    await store.aclose()
    assert asked and not [statement for statement in asked if "payload" in statement or "prints" in statement]


async def test_who_is_due_next_is_found_without_reading_those_who_wait(tmp_path: Path) -> None:
    """By SQLite's own account: the plan of everything that the worker asks to find the next session."""
    store = await open_store(f"sqlite:///{tmp_path / 'turns.db'}", rules=work_rules())
    asked: list[str] = []
    event.listen(store._database._engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    await store.accept(a_turn("q"))
    asked.clear()
    await store.queue.first_due()
    await store.queue.claim("me", 1)
    await store.queue.first_due()
    await store.aclose()
    connection = sqlite3.connect(tmp_path / "turns.db")
    plans = set()
    for statement in {each for each in asked if each.startswith("SELECT") and "FROM sessions" in each}:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", [0] * statement.count("?"))
        plans |= {row[3] for row in rows if "sessions" in row[3]}
    connection.close()
    assert plans == {
        "SEARCH sessions USING INDEX sessions_by_due (lane=? AND due_at>?)",
        "SEARCH sessions USING INDEX sessions_by_due (lane=? AND due_at<?)",
        "SCAN sessions USING INDEX sessions_by_lease",  # of those alone that are leased
        "SEARCH sessions USING INDEX sessions_by_lease (lease_until<?)",
    }


async def test_undelivered_bytes_are_counted_without_reading_what_was_delivered(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'turns.db'}", rules=work_rules())
    asked: list[str] = []
    event.listen(store._database._engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    await store.gauges()
    await store.aclose()
    (counting,) = [each for each in asked if "sum(turns.bytes)" in each]
    connection = sqlite3.connect(tmp_path / "turns.db")
    rows = connection.execute(f"EXPLAIN QUERY PLAN {counting}", [0] * counting.count("?"))
    plan = [row[3] for row in rows]
    connection.close()
    assert "SEARCH turns USING COVERING INDEX turns_by_age (state=?)" in plan
    assert "SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)" in plan


async def test_a_damaged_store_says_so(tmp_path: Path) -> None:
    path = tmp_path / "turns.db"
    path.write_bytes(os.urandom(8192))
    with pytest.raises(StoreUnavailable):
        await open_store(f"sqlite:///{path}", rules=work_rules())


async def test_a_full_disk_is_a_store_that_can_not_be_used(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'turns.db'}", rules=work_rules())
    await store.accept(a_turn("first", key="1"))

    def no_more_pages(connection: object) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]

    await store._database.write(no_more_pages)

    async def fill() -> None:
        for number in range(2, 50):
            await store.accept(a_turn("x" * 5000, key=str(number)))

    with pytest.raises(StoreUnavailable, match="full"):
        await fill()
    assert next(iter((await deliver_all(store))[0].messages)).parts == (TextPart("first"),)
    await store.aclose()


# Commits


async def test_what_a_dead_process_left_uncommitted_is_swept_up(store: SqlTurnStore) -> None:
    await store.accept(a_turn("q", "a"))
    await deliver_all(store)
    await store.queue.sweep(lambda _: False)
    await store.queue.sweep(lambda _: False)
    ((mine, step),) = await store.queue.claim("me", 10)
    assert step == SendCommit(1, 0, new_epoch=False, attempts=0, in_doubt=False)
    following = await store.queue.next_step(mine, CommitAccepted(1, "task", "archive_001", poll_at=0.0))
    assert isinstance(following, FollowCommit) and following.task_id == "task"
    assert isinstance(await store.queue.next_step(mine, CommitExtracted(1, "a summary")), Rest)
    assert (await store.local_history(somebody())).fingerprints == ()


async def test_what_the_backend_does_not_have_yet_is_told(store: SqlTurnStore) -> None:
    assert await store.undelivered(somebody()) == ()
    await store.accept(a_turn("q0", "a0"))
    await deliver_all(store)
    await store.accept(a_turn("q1", "a1"))
    assert [message.parts for message in await store.undelivered(somebody())] == [(TextPart("q1"),), (TextPart("a1"),)]
    await store.reset(somebody(), 1000)
    assert await store.undelivered(somebody()) == ()


async def test_what_the_first_turns_tell_is_kept_until_a_reset(store: SqlTurnStore) -> None:
    told = ["I am Ilse Brandt and the launch is on 14 March 2027.", "Got it.", "The budget is 48,250 euros."]
    for number, words in enumerate(told):
        await store.accept(a_turn(words, key=f"k{number}"))
    for number in range(40):
        await store.accept(
            a_turn(f"The invoice INV-{number} is for {'a very long list of things ' * 6}", key=f"x{number}")
        )
    opening = (await store.local_history(somebody())).opening
    assert [opening[0], opening[1], opening[2]] == [f"- {told[0]}", "", f"- {told[2]}"]
    assert len(opening) <= 20 and sum(map(len, opening)) <= 3_000
    await store.reset(somebody(), 1_000)
    assert (await store.local_history(somebody())).opening == ()
    await store.accept(a_turn("A new beginning in Lisbon.", key="new"))
    assert (await store.local_history(somebody())).opening == ("- A new beginning in Lisbon.",)


async def test_the_opening_tells_no_more_while_the_same_turns_are_out_of_sight(store: SqlTurnStore) -> None:
    told = ["The budget is 48,250 euros.", "The launch is on 14 March 2027.", "The venue is Hall 7 in Lisbon."]
    for words in told[:2]:
        await store.accept(a_turn(words, "Noted.", key=words))
    await deliver_all(store)
    (planned,) = await store.compact(somebody(), 2, 1_000)
    ((mine, _),) = await store.queue.claim("me", 10)
    await store.queue.next_step(mine, CommitAccepted(planned.id, "task", "archive_001", poll_at=0.0))
    await store.queue.next_step(mine, CommitExtracted(planned.id, "A summary."))
    assert (await store.local_history(somebody())).opening == (f"- {told[0]}",)
    await store.accept(a_turn(told[2], "Noted.", key=told[2]))
    assert (await store.local_history(somebody())).opening == (f"- {told[0]}",)


async def test_commits_go_by_the_smaller_of_both_budgets(store: SqlTurnStore) -> None:
    async def state_after(session: str, prompt_budget: int) -> str:
        who = somebody(session)
        for number in range(4):
            if number == 1 and prompt_budget:  # of a session that nobody knows yet there is nothing to note
                store.note_budget(who, prompt_budget)
                with anyio.fail_after(5):
                    while (await store.local_history(who)).assemble_budget != prompt_budget:
                        await anyio.lowlevel.checkpoint()
            answer = await store.accept(a_turn(who=who, key=f"k{number}", tokens=400, token_budget=4_000))
        return str(answer.compaction.state)

    assert await state_after("one", 0) == "idle"
    assert await state_after("two", 2_000) == "uploading"
    assert await state_after("three", 40_000) == "idle"


async def test_compact_and_reset_leave_the_prompt_what_they_should(store: SqlTurnStore) -> None:
    await store.accept(a_turn("q0", "a0"))
    await store.accept(a_turn("q1", "a1"))
    await deliver_all(store)
    (planned,) = await store.compact(somebody(), 2, 1000)
    ((mine, step),) = await store.queue.claim("me", 10)
    assert step == SendCommit(planned.id, 2, new_epoch=False, attempts=0, in_doubt=False)
    await store.queue.next_step(mine, CommitAccepted(planned.id, "task", "archive_001", poll_at=0.0))
    await store.queue.next_step(mine, ExtractionFailed(planned.id, "model down", retry_at=0.0))
    history = await store.local_history(somebody())
    assert history.fingerprints == ("q0", "a0") and len(history.unsummarised) == 2 and history.summary == ""
    await store.queue.next_step(mine, CommitAccepted(planned.id, "another task", None, poll_at=0.0))
    await store.queue.next_step(mine, CommitExtracted(planned.id, "a summary"))
    history = await store.local_history(somebody())
    assert history.fingerprints == ("q0", "a0") and history.unsummarised == () and history.summary == "a summary"
    assert (await store.commits([planned.id]))[0].archive_id == "archive_001"
    await store.reset(somebody(), 1000)
    history = await store.local_history(somebody())
    assert (history.fingerprints, history.summary, history.epoch, history.resetting) == ((), "", 1, True)
    size = await store.size_of(somebody())
    assert size is not None and size.tokens == 0


async def test_what_a_compaction_is_asked_to_keep_waits_for_the_backend_and_no_longer(store: SqlTurnStore) -> None:
    await store.accept(a_turn("q0", "a0"))
    await deliver_all(store)
    (planned,) = await store.compact(somebody(), 0, 1000, "Keep the ports.")
    assert (await store.compact(somebody(), 0, 1000)) == [planned]
    ((mine, step),) = await store.queue.claim("me", 10)
    assert isinstance(step, SendCommit) and step.instructions == "Keep the ports."
    again = await store.queue.next_step(mine, CommitPostponed(step.id, "503", retry_at=0.0, in_doubt=False))
    assert isinstance(again, SendCommit) and again.instructions == "Keep the ports."
    await store.queue.next_step(mine, CommitAccepted(planned.id, "task", "archive_001", poll_at=0.0))
    kept = select(commits.c.instructions)
    assert await store._database.read(lambda connection: list(connection.execute(kept).scalars())) == [""]


async def test_a_new_turn_goes_before_sessions_that_are_only_to_be_committed(
    store: SqlTurnStore, clock: FakeClock
) -> None:
    for number in range(5):
        await store.accept(a_turn("left", who=somebody(f"old{number}")))
    await deliver_all(store)
    await store.queue.sweep(lambda _: False)
    clock.now += 1
    await store.accept(a_turn("new", who=somebody("new")))
    lease, _ = await claimed(store)
    assert lease.who.session == "new"


async def test_a_place_for_turns_is_given_back_when_only_a_commit_is_left(store: SqlTurnStore) -> None:
    await store.accept(a_turn("remember this", remember=True))
    lease, step = await claimed(store)
    assert isinstance(await store.queue.next_step(lease, TurnDelivered(step)), Rest)
    ((_, following),) = await store.queue.claim("me", 1)
    assert isinstance(following, SendCommit)


async def test_a_new_turn_goes_before_a_look_at_a_task(store: SqlTurnStore) -> None:
    await store.accept(a_turn("q", remember=True))
    await deliver_all(store)
    ((lease, _),) = await store.queue.claim("me", 1)
    await store.accept(a_turn("next"))
    following = await store.queue.next_step(lease, CommitAccepted(1, "task", "archive_001", poll_at=0.0))
    assert isinstance(following, SendTurn)
    assert isinstance(await store.queue.next_step(lease, TurnFailed(following, "503", retry_at=0.0)), FollowCommit)


async def test_the_turns_after_a_moment_with_their_archive(store: SqlTurnStore, clock: FakeClock) -> None:
    who = somebody()
    await store.accept(a_turn("the first", "one"))
    clock.now += 60
    asked_at = clock()
    ids = [(await store.accept(a_turn(f"turn {n}", "yes"))).turn_id for n in range(4)]
    await store.accept(a_turn("of another user", who=somebody(user="bob")))
    found = await store.turns_since(who.tenant, who.session, asked_at)
    assert [turn.turn_id for turn in found] == ids[:3]
    assert found[0].messages[0].parts == (TextPart("turn 0"),) and found[0].archive_id is None
    assert await store.turns_since(who.tenant, who.session, asked_at - 90_000) == ()
    await deliver_all(store)
    (planned,) = await store.compact(who, 0, 1000)
    ((mine, _),) = await store.queue.claim("me", 10)
    await store.queue.next_step(mine, CommitAccepted(planned.id, "task", "archive_001", poll_at=0.0))
    await store.queue.next_step(mine, CommitExtracted(planned.id, "a summary"))
    archived = await store.turns_since(who.tenant, who.session, asked_at)
    assert [(turn.turn_id, turn.messages, turn.archive_id) for turn in archived] == [
        (turn_id, (), "archive_001") for turn_id in ids[:3]
    ]


async def test_a_flush_is_told_once_for_each_compaction(store: SqlTurnStore) -> None:
    who = somebody("flushed")
    assert await store.begin_flush(who, 900, 1_000)
    assert not await store.begin_flush(who, 950, 1_000)
    assert (await store.window(who)).tokens == 950
    full = replace(a_turn("q", "a", who=who, key="k1", tokens=100), flush_at=900)
    assert not (await store.accept(full)).flushes
    await store.compact(who, 0, 1_000)
    assert (await store.window(who)).tokens == 0
    assert not (await store.accept(replace(full, key="k2", fingerprint="2"))).flushes
    longer = replace(full, key="k3", fingerprint="3", tokens=800)
    assert (await store.accept(longer)).flushes
    assert not (await store.accept(longer)).flushes
    assert not (await store.accept(replace(longer, key="k4", fingerprint="4"))).flushes


async def test_a_window_is_as_the_host_measured_it(store: SqlTurnStore) -> None:
    who = somebody("measured")
    usage = Measured(Usage(5_000, 100), grown=4_000, estimated=2_000)
    await store.accept(replace(a_turn("q", "a", who=who), usage=usage))
    window = await store.window(who)
    assert (window.tokens, window.measured) == (5_100, 5_100)
    assert window.ratio == pytest.approx(1.3) and window.scale == pytest.approx(1.3125)
    assert (await store.window(somebody("nobody"))) == Window()
