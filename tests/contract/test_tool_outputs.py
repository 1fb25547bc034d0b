"""Tool outputs that guards have cut, in the store, on both databases."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from app.core.history.guards.cuts import Cut, Kind
from app.core.history.guards.packing import Original, Packed, pack
from app.core.history.prompt_layout import Layout
from app.core.memories.forget_selection import Erased, Forgetting, Statement
from app.store import forgotten_outputs
from app.store.forgotten_outputs import Held
from app.store.turns import SqlTurnStore
from tests.contract.conftest import OpenStore
from tests.unit.turning import FakeClock, a_turn, somebody

pytestmark = pytest.mark.anyio

CUT = Cut("key1", Kind.TRUNCATED, 400, "call_1", "exec", 9_000, "shown1", 8_000)
TEXT = "line one \ud83e\nline \x00 two\n" * 400
DAY_S = 86_400


async def test_originals_and_decisions_are_there_after_reopening(opened: OpenStore) -> None:
    first, who = await opened(), somebody()
    await first.keep_outputs(who, [Packed(CUT, pack(TEXT), 1_770_000_000_000)])
    await first.aclose()
    store = await opened()
    assert await store.tool_output(who, "call_1") == Original("call_1", "exec", TEXT)
    assert await store.tool_output(who, "call1") == Original("call_1", "exec", TEXT)
    assert await store.tool_output_refs(who, 5) == ("call_1",)
    assert (await store.local_history(who)).cuts == (CUT,)
    cleared = replace(CUT, kind=Kind.CLEARED, room=0, shown="shown2")
    await store.keep_outputs(who, [Packed(cleared)])
    assert (await store.local_history(who)).cuts == (cleared,)
    assert await store.tool_output(who, "call_1") == Original("call_1", "exec", TEXT)


async def test_tenants_and_sessions_are_apart(store: SqlTurnStore) -> None:
    await store.keep_outputs(somebody(), [Packed(CUT, pack(TEXT))])
    for other in (somebody("s2"), somebody(user="bob"), somebody(account="other")):
        assert await store.tool_output(other, "call_1") is None
        assert (await store.local_history(other)).cuts == ()


async def test_two_requests_at_once_decide_once(store: SqlTurnStore) -> None:
    kept = [Packed(replace(CUT, key=f"key{number}"), pack(TEXT)) for number in range(20)]
    await asyncio.gather(*(store.keep_outputs(somebody(), kept) for _ in range(8)))
    assert len((await store.local_history(somebody())).cuts) == 20


async def test_names_that_no_database_takes_are_mended(store: SqlTurnStore) -> None:
    odd = replace(CUT, ref="call\x00\ud800", tool="x\ud800" * 1_000)
    await store.keep_outputs(somebody(), [Packed(odd, pack(TEXT))])
    assert await store.tool_output(somebody(), "call\x00\ud800")


async def test_with_a_person_all_originals_go_where_the_backend_keeps_sessions(store: SqlTurnStore) -> None:
    """It can not tell who spoke in those that it has archived."""
    await store.keep_outputs(somebody(), [Packed(CUT, pack(TEXT))])
    await store.keep_outputs(somebody(user="bob"), [Packed(CUT, pack(TEXT))])
    there = Erased(keeps_sessions=True)
    await store.erasing.erase(somebody().tenant, Forgetting("2030-01-01T00:00:00Z", person="mia"), there)
    mine, theirs = [await store.tool_output(who, "call_1") for who in (somebody(), somebody(user="bob"))]
    assert mine and mine.text is None
    assert theirs and theirs.text == TEXT


FACT = "The name of the vault is orion42."
TOLD = f"{TEXT}{FACT}\nlast line"
STATEMENT = Statement("m_1", "viking://x", "notes", (FACT,))
MEANT = {
    "statement": Forgetting("1970-01-12T13:46:40Z", (STATEMENT,)),  # the clock's own moment
    "session": Forgetting("1970-01-12T13:46:40Z", session="s1"),
    "person": Forgetting("1970-01-12T13:46:40Z", person="mia"),
    "period": Forgetting("1970-01-12T13:46:40Z", since="1970-01-12T00:00:00Z", until="1970-01-12T13:00:00Z"),
    "everything": Forgetting("1970-01-12T13:46:40Z", everything=True),
}


async def kept_later(store: SqlTurnStore, at: float | None, session: str = "s1", **more: str) -> str | None:
    """What is kept of an original that was made then (epoch seconds) and is cut only now."""
    who = somebody(session, **more)
    await store.keep_outputs(who, [Packed(CUT, pack(TOLD), None if at is None else int(at * 1000), "print")])
    original = await store.tool_output(who, "call_1")
    assert original is not None
    return original.text


@pytest.mark.parametrize("by", MEANT)
async def test_what_is_cut_after_a_forgetting_is_kept_as_far_as_it_is_not_forgotten(
    opened: OpenStore, clock: FakeClock, by: str
) -> None:
    store, who = await opened(), somebody()
    meant = MEANT[by]
    for _ in range(2):  # safe to repeat
        await store.erasing.erase(who.tenant, meant, Erased(sessions=frozenset({"s1"})))
    await store.aclose()
    store = await opened()
    clock.now += 60
    before, since = clock.now - 10_000, clock.now - 30
    for user in ("alice", "bob"):
        left = await kept_later(store, before, user=user)
        goes = user == "alice"
        assert left == (TOLD if not goes else TOLD.replace(f"{FACT}\n", "\n") if by == "statement" else None)
    assert await kept_later(store, before, "s2") == {
        "statement": TOLD.replace(f"{FACT}\n", "\n"),
        "session": TOLD,
        "person": TOLD,
    }.get(by)
    assert await kept_later(store, since, "s3") == TOLD
    assert await kept_later(store, None, "s4") == TOLD


async def test_an_output_is_no_newer_than_the_turn_that_has_it(store: SqlTurnStore, clock: FakeClock) -> None:
    """Whatever the host's clock says, or if it says nothing."""
    for session in ("s1", "s2"):
        await store.accept(a_turn("x", who=somebody(session), fingerprints=("other", "print")))
    clock.now += 1
    await store.erasing.erase(somebody().tenant, replace(MEANT["statement"], at="1970-01-12T13:46:41Z"), Erased())
    clock.now += 60
    for at, session in ((clock.now + 500, "s1"), (None, "s2")):
        left = await kept_later(store, at, session)
        assert left is not None and FACT not in left
    assert await kept_later(store, None, "s3") == TOLD, "no turn has it"


async def test_what_is_forgotten_while_an_original_is_looked_at_is_not_kept(
    store: SqlTurnStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Held.left_of
    who = somebody()
    rule = partial(forgotten_outputs.note, tenant=who.tenant, forgetting=MEANT["session"], touched=None)

    def meanwhile(self: Held, *asked: Any) -> Any:
        monkeypatch.setattr(Held, "left_of", real)
        with store._database._writers.begin() as connection:
            rule(connection)
        return real(self, *asked)

    monkeypatch.setattr(Held, "left_of", meanwhile)
    assert await kept_later(store, 1_000.0) is None


LAYOUT = Layout("edge1", 3, 2, "last", "It was said.", of_cut=True, of_archives=False, budget=32_000)


async def test_a_session_has_one_layout(opened: OpenStore) -> None:
    store, who = await opened(), somebody()
    newer = replace(LAYOUT, edge="edge2", body="More \x00 was said.")
    for layout in (LAYOUT, newer):
        await store.keep_outputs(who, [], layout)
    await store.aclose()
    store = await opened()
    assert (await store.local_history(who)).layout == replace(newer, body="More  was said.")
    assert (await store.local_history(somebody("s2"))).layout is None
    assert (await store.local_history(somebody(user="bob"))).layout is None
    await store.reset(who, 1_000)
    assert (await store.local_history(who)).layout is None


async def test_layouts_of_requests_at_once_are_one(store: SqlTurnStore) -> None:
    several = [replace(LAYOUT, edge=f"edge{number}") for number in range(8)]
    await asyncio.gather(*(store.keep_outputs(somebody(), [], layout) for layout in several))
    assert (await store.local_history(somebody())).layout in several


async def test_a_layout_goes_with_any_forgetting_and_one_from_before_it_is_not_kept(store: SqlTurnStore) -> None:
    who = somebody()
    await store.keep_outputs(who, [], LAYOUT)
    await store.keep_outputs(somebody(user="bob"), [], LAYOUT)
    before = (await store.local_history(who)).changes
    await store.erasing.erase(who.tenant, Forgetting("2030-01-01T00:00:00Z", everything=True), Erased())
    assert (await store.local_history(who)).layout is None
    assert (await store.local_history(somebody(user="bob"))).layout == LAYOUT
    await store.keep_outputs(who, [], LAYOUT, before)
    assert (await store.local_history(who)).layout is None
    await store.keep_outputs(who, [], LAYOUT, (await store.local_history(who)).changes)
    assert (await store.local_history(who)).layout == LAYOUT


async def test_a_compaction_lays_the_prompt_out_anew(store: SqlTurnStore) -> None:
    await store.keep_outputs(somebody(), [], LAYOUT)
    await store.compact(somebody(), 0, 1_000)
    assert (await store.local_history(somebody())).layout is None


async def test_the_oldest_originals_make_room_and_decisions_stay(opened: OpenStore) -> None:
    body = pack(TEXT)
    store, who = await opened(max_pending_bytes=2 * len(body)), somebody()
    for number in range(3):
        cut = replace(CUT, key=f"key{number}", ref=f"call_{number}")
        await store.keep_outputs(who, [Packed(cut, body)])
    texts = [await store.tool_output(who, f"call_{number}") for number in range(3)]
    assert [one.text is not None for one in texts if one] == [False, True, True]
    assert len((await store.local_history(who)).cuts) == 3


async def test_processes_at_once_keep_within_the_share(opened: OpenStore) -> None:
    body, who = pack(TEXT), somebody()
    stores = [await opened(max_pending_bytes=2 * len(body)) for _ in range(3)]
    kept = [[Packed(replace(CUT, key=f"key{number}", ref=f"call_{number}"), body)] for number in range(24)]
    await asyncio.gather(*(stores[number % 3].keep_outputs(who, one) for number, one in enumerate(kept)))
    texts = [await stores[0].tool_output(who, f"call_{number}") for number in range(24)]
    assert sum(one is not None and one.text is not None for one in texts) == 2


async def test_they_stay_as_long_as_the_session(opened: OpenStore, clock: FakeClock) -> None:
    store, who = await opened(keep_days=2), somebody()
    await store.keep_outputs(who, [Packed(CUT, pack(TEXT))])
    await store.accept(a_turn("hello", who=who))
    clock.now += DAY_S
    await store.forget_old()
    assert await store.tool_output(who, "call_1")
    await store.reset(who, 1_000)
    assert await store.tool_output(who, "call_1") is None
    await store.keep_outputs(somebody("never"), [Packed(CUT, pack(TEXT))])
    clock.now += 3 * DAY_S
    await store.forget_old()
    assert await store.tool_output(somebody("never"), "call_1") is None


@pytest.mark.parametrize("whole", [False, True])
async def test_forgetting_takes_them_and_they_do_not_come_back(store: SqlTurnStore, whole: bool) -> None:
    fact, at = "The name of the vault is zq7f-vault.", "2099-01-01T00:00:00.000Z"
    who, text = somebody(), f"All is quiet.\n{fact}\nNothing else."
    await store.keep_outputs(who, [Packed(CUT, pack(text))])
    meant = Forgetting(at, everything=True) if whole else Forgetting(at, (Statement("m", "u", "notes", (fact,)),))
    await store.erasing.erase(who.tenant, meant, Erased())
    assert await store.erasing.look_again(who.tenant, meant, Erased()) == []
    await store.keep_outputs(who, [Packed(CUT, pack(text))])
    left = await store.tool_output(who, "call_1")
    assert left and (left.text is None if whole else "vault" not in (left.text or "") and "quiet" in (left.text or ""))
