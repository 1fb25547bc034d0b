"""Forgetting, audit and freshness in the turn store, on both databases."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.atrest.residue import Needles
from app.atrest.vault import Vault
from app.core.capture.captured_message import TextPart
from app.core.identity import Tenant
from app.core.memories.audit import Action, Actor, AuditEntry, AuditFilter
from app.core.memories.forget_selection import Erased, Forgetting, Statement
from app.core.memories.freshness import Finding, FreshnessReport
from app.core.memories.memory import MemorySource, NewMemory
from app.store.turns import SqlTurnStore
from tests.contract.conftest import OpenStore
from tests.scan import places_of
from tests.unit.turning import TIME, FakeClock, a_turn, somebody

pytestmark = pytest.mark.anyio

MARK = "orion42"
FACT = f"The name of the vault is {MARK}."
AT = "2099-01-01T00:00:00.000Z"
STATEMENT = Statement("m_1", "viking://x", "notes", (FACT,), said_in=())


@pytest.fixture(params=["sqlite", "encrypted", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> str:
    """Encrypted in every run: whether anything is left is what encryption makes hard to see."""
    return str(request.param)


async def filled(store: SqlTurnStore) -> str:
    turn = a_turn(f"{FACT} The dog is called Rex.", fingerprint="f", fingerprints=("p",))
    accepted = await store.accept(turn)
    await store.compact(turn.who, 0, 1_000, f"Keep this: {FACT}")
    await store.waiting.put(turn.who.tenant, NewMemory("m_1", FACT, TIME, MemorySource("api", TIME), "notes"))
    return accepted.turn_id


@pytest.mark.parametrize("whole", [False, True])
async def test_nothing_is_left_in_a_row(store: SqlTurnStore, vault: Vault, tmp_path: Path, whole: bool) -> None:
    turn_id, who = await filled(store), somebody()
    on_files = (tmp_path / "private").exists()
    assert bool(places_of(tmp_path, MARK, vault=vault)) is on_files
    meant = Forgetting(AT, everything=True) if whole else Forgetting(AT, (STATEMENT,))
    other = await store.erasing.look(Tenant("else", "where"), meant)
    assert (other.turns, other.memories) == (frozenset(), 0)
    await store.erasing.begin("f_1", who.tenant, meant)
    assert [one[0] for one in await store.erasing.unfinished()] == ["f_1"]
    erased = await store.erasing.erase(who.tenant, meant, Erased())
    assert (erased.turns, erased.undelivered, erased.memories) == (frozenset({turn_id}), frozenset({turn_id}), 1)
    assert await store.erasing.look_again(who.tenant, meant, Erased()) == []
    left = await store.undelivered(who)
    parts = [part for message in left for part in message.parts]
    assert parts == ([] if whole else [TextPart("The dog is called Rex.")])
    assert await store.waiting.of(who.tenant) == ()
    await store.erasing.nearly_done("f_1")
    kept = await store.erasing.clean(Needles(erased.removed))
    await store.erasing.end("f_1")
    assert await store.erasing.unfinished() == []
    assert len(kept) == (0 if on_files else 1)  # what a server overwrites in its own time is named
    assert places_of(tmp_path, MARK, vault=vault) == []


async def test_sessions_of_a_period_are_known_without_their_messages(store: SqlTurnStore, clock: FakeClock) -> None:
    await filled(store)
    who = somebody()
    now = datetime.fromtimestamp(clock(), UTC)
    before, after = ((now + timedelta(days=days)).isoformat() for days in (-400_000 // 365, 1))
    known = store.erasing.sessions_in
    assert await known(who.tenant, Forgetting(AT, since=before)) == {who.session}
    assert await known(who.tenant, Forgetting(AT, person="bob")) == {who.session}
    assert await known(who.tenant, Forgetting(AT, since=after)) == frozenset()
    assert await known(Tenant("else", "where"), Forgetting(AT, since=before)) == frozenset()


async def test_the_audit_trail_is_bounded_by_age(opened: OpenStore, clock: FakeClock) -> None:
    store, tenant = await opened(keep_audit_days=1), Tenant("acme", "ann")
    entries = [AuditEntry(f"2020-01-01T00:00:0{n}.000Z", Action.READ, f"m_{n}", Actor("abcdef12")) for n in range(3)]
    await store.audit.add(tenant, entries)
    store.audit.add_soon(tenant, [AuditEntry(AT, Action.STORED, "m_9", Actor(None, "ada", "s1"), "r1", "t1")])
    page = await store.audit.page(tenant, AuditFilter(), 2, None)
    assert [one.memory_id for one in page.entries] == ["m_9", "m_2"] and page.after is not None
    assert page.entries[0] == AuditEntry(AT, Action.STORED, "m_9", Actor(None, "ada", "s1"), "r1", "t1")
    rest = await store.audit.page(tenant, AuditFilter(), 2, page.after)
    assert [one.memory_id for one in rest.entries] == ["m_1", "m_0"]
    assert (await store.audit.page(Tenant("acme", "bob"), AuditFilter(), 2, None)).entries == ()
    clock.now = 1_700_000_000.0
    await store.forget_old()
    assert [one.memory_id for one in (await store.audit.page(tenant, AuditFilter(), 9, None)).entries] == ["m_9"]


async def test_the_last_report_stands(store: SqlTurnStore) -> None:
    who = somebody()
    await filled(store)
    assert await store.freshness.last(who.tenant) is None
    assert await store.freshness.due(AT) == [who.tenant]
    report = FreshnessReport(AT, stale=(Finding(("m_1",), "old"),), conflicts=(Finding(("m_1", "m_2"), "both"),))
    await store.freshness.put(who.tenant, report)
    assert await store.freshness.last(who.tenant) == report
    assert await store.freshness.due(AT) == []
