"""What sessions began with, kept on both databases: until the epoch ends, or it is forgotten."""

import pytest

from app.core.injection.session_start.addition import Addition
from app.core.injection.session_start.section import ChatType
from app.core.memories.forget_selection import Erased, Forgetting, Statement
from app.core.memories.memory_outcomes import Selected
from app.store import session_starts
from app.store.turns import SqlTurnStore
from tests.contract.conftest import OpenStore
from tests.unit.turning import FakeClock, a_turn, somebody

pytestmark = pytest.mark.anyio

PRIVATE, GROUP = ChatType.PRIVATE, ChatType.GROUP
FACT = "The vault opens with zebra."
MADE = Addition(f"<openviking-session>\n- {FACT}\n</openviking-session>", ("m_1",))
STATEMENT = Statement("m_2", "viking://x", "notes", (FACT,))
AT = "2099-01-01T00:00:00.000Z"


async def shown(store: SqlTurnStore, chat: ChatType = PRIVATE, **who: str) -> tuple[Addition, bool] | None:
    _, kept = await store.starts.look(somebody(**who), chat)
    return (kept.addition, kept.holds) if kept else None


async def keep(store: SqlTurnStore, addition: Addition = MADE, **who: str) -> Addition | None:
    moment, _ = await store.starts.look(somebody(**who), PRIVATE)
    return await store.starts.keep(somebody(**who), PRIVATE, moment, addition)


async def test_it_holds_until_the_epoch_ends(opened: OpenStore, clock: FakeClock) -> None:
    store = await opened()
    await store.accept(a_turn("Hello."))
    assert await shown(store) is None and await keep(store) == MADE
    assert await keep(store, Addition("another")) == MADE, "who came first wins"
    assert await shown(store, GROUP) is None
    again = await opened()
    assert await shown(again) == (MADE, True)
    await store.reset(somebody(), 128_000)
    assert await shown(store) == (MADE, False)
    assert await keep(store, Addition("after")) == Addition("after") and await shown(store) == (Addition("after"), True)


async def test_what_was_made_before_a_change_is_not_kept(store: SqlTurnStore) -> None:
    who = somebody()
    moment, _ = await store.starts.look(who, PRIVATE)
    await store.waiting.changed(who.tenant)
    assert await store.starts.keep(who, PRIVATE, moment, MADE) is None and await shown(store) is None


@pytest.mark.parametrize(
    ("meant", "there"),
    [
        (Forgetting(AT, (STATEMENT,)), Erased()),
        (Forgetting(AT, (Statement("m_1", "viking://x", "notes", ("Another wording.",)),)), Erased()),
        (Forgetting(AT, session="elsewhere"), Erased(selected=(Selected("m_1", "viking://x", "notes"),))),
        (Forgetting(AT, everything=True), Erased()),
    ],
)
async def test_what_tells_something_forgotten_goes(store: SqlTurnStore, meant: Forgetting, there: Erased) -> None:
    who = somebody()
    await keep(store)
    moment, _ = await store.starts.look(who, PRIVATE)
    await store.erasing.erase(who.tenant, meant, there)
    assert await shown(store) is None
    assert await store.starts.keep(who, PRIVATE, moment, MADE) is None, "it was made of what is forgotten"
    assert await store.erasing.look_again(who.tenant, meant, there) == []


async def test_what_tells_something_else_stays(store: SqlTurnStore) -> None:
    other = Addition("<openviking-session>\n- Tea at four, every day.\n</openviking-session>", ("m_9",))
    await keep(store, other)
    await store.erasing.erase(somebody().tenant, Forgetting(AT, (STATEMENT,)), Erased())
    assert await shown(store) == (other, True)


async def test_so_many_are_kept_of_a_tenant_and_the_newest(
    store: SqlTurnStore, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_starts, "MAX_KEPT", 3)
    for number in range(5):
        clock.now += 1
        await keep(store, session=f"n{number}")
    assert [await shown(store, session=f"n{number}") for number in range(5)] == [None, None, *[(MADE, True)] * 3]


async def test_those_of_forgotten_sessions_go_with_age(opened: OpenStore, clock: FakeClock) -> None:
    store = await opened(keep_days=1)
    await store.accept(a_turn("Hello.", who=somebody("lives")))
    for session in ("lives", "unheard-of"):
        await keep(store, session=session)
    await store.forget_old()
    assert await shown(store, session="unheard-of") is not None
    clock.now += 3 * 86_400
    await store.accept(a_turn("Again.", who=somebody("lives")))
    await store.forget_old()
    assert await shown(store, session="unheard-of") is None and await shown(store, session="lives") is not None
