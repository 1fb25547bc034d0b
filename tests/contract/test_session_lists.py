"""Looking at sessions, on SQLite and on PostgreSQL."""

import pytest

from app.core.capture.captured_message import TextPart
from app.core.history.commit_policy import Cause
from app.core.identity import Identity, PeerRole, Tenant
from app.errors import NotFound
from app.store import session_lists
from app.store.turns import SqlTurnStore
from app.store.work import CommitPhase, SendTurn, TurnRejected
from tests.unit.turning import FakeClock, a_turn, somebody

pytestmark = pytest.mark.anyio

ALICE = Tenant("acme", "alice")


async def names(store: SqlTurnStore, search: str = "", limit: int = 50) -> list[str]:
    found, cursor = [], None
    while True:
        page = await store.sessions.page(ALICE, search, limit=limit, cursor=cursor)
        found += [line.session for line in page.sessions]
        if page.cursor is None:
            return found
        cursor = page.cursor


async def test_the_latest_first_and_nobody_elses(store: SqlTurnStore, clock: FakeClock) -> None:
    for number in range(5):
        clock.now += number > 2  # the first ones at one moment
        await store.accept(a_turn("hi", who=somebody(f"s{number}")))
    await store.accept(a_turn("hi", who=somebody("secret", user="bob")))
    everything = await names(store)
    assert everything[:2] == ["s4", "s3"] and sorted(everything) == ["s0", "s1", "s2", "s3", "s4"]
    assert await names(store, limit=2) == everything
    assert (await store.sessions.page(ALICE, "", limit=9, cursor="nonsense")).sessions == ()
    for missing in ("secret", "s9"):
        for look in (store.sessions.get(ALICE, missing), store.sessions.commits(ALICE, missing)):
            with pytest.raises(NotFound):
                await look
        with pytest.raises(NotFound):
            await store.sessions.turns(ALICE, missing, limit=9, cursor=None)


@pytest.mark.parametrize(
    ("search", "found"),
    [("OTHER", ["s2"]), ("旅行", ["s3"]), ("s_", ["s_1"]), ("%", []), ("agent:main:s", ["s_1"]), ("\\", []), ("/", [])],
)
async def test_by_part_of_the_name_or_the_key(store: SqlTurnStore, search: str, found: list[str]) -> None:
    keys = {"s2": "agent:other:x", "s3": "chat:旅行", "s_1": "agent:main:s_1"}
    for session, key in keys.items():
        who = Identity(ALICE, session, key, key.split(":")[1], None, PeerRole.ASSISTANT)
        await store.accept(a_turn("hi", who=who))
    assert await names(store, search) == found


async def test_turns_with_what_they_say(store: SqlTurnStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        await store.accept(a_turn(f"question {number}", f"answer {number}"))
    ((lease, step),) = await store.queue.claim("me", 1)
    assert isinstance(step, SendTurn)
    await store.queue.next_step(lease, TurnRejected(step, "no such user"))
    line = await store.sessions.get(ALICE, "s1")
    assert (line.session_key, line.turns, line.waiting, line.dead) == ("agent:main:s1", 3, 2, 1)
    page = await store.sessions.turns(ALICE, "s1", limit=2, cursor=None)
    rest = await store.sessions.turns(ALICE, "s1", limit=2, cursor=page.cursor)
    said = [turn.messages and turn.messages[0].parts for turn in (*page.turns, *rest.turns)]
    assert said == [(TextPart(f"question {number}"),) for number in (2, 1, 0)]
    assert rest.cursor is None
    monkeypatch.setattr(session_lists, "MAX_TURN_BYTES", 10)
    assert [turn.messages for turn in (await store.sessions.turns(ALICE, "s1", limit=9, cursor=None)).turns] == [
        None
    ] * 3


async def test_how_the_archives_are_getting_on(store: SqlTurnStore) -> None:
    await store.accept(a_turn("hi"))
    assert await store.sessions.commits(ALICE, "s1") == ()
    await store.end(somebody(), 1000)
    (commit,) = await store.sessions.commits(ALICE, "s1")
    assert (commit.cause, commit.phase, commit.archive_id) == (Cause.END, CommitPhase.PLANNED, None)
