"""``/memories/freshness``: what is over, old, said twice or said otherwise since, and what the check makes of it."""

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.deadline import Deadline
from app.core.memories.freshness import MAX_REVISIONS, Check, FreshnessRules, Revision, RevisionKind
from app.core.memories.memory import Memory
from app.engine.memories import check_freshness
from tests.http.conftest import Start
from tests.unit.turning import FakeClock

LONG_AGO = "2025-01-06T09:00:00.000Z"  # a Monday
LATER = "2025-02-06T09:00:00.000Z"


def memory(memory_id: str, text: str, at: str = LONG_AGO, **fields: Any) -> dict[str, Any]:
    source = {"kind": "turn", "session": f"s-{memory_id}", "turnId": f"t_{memory_id}", "at": at}
    told = {"category": "notes", "createdAt": at, "updatedAt": at, "confidence": 0.95, "sources": [source]}
    return {"id": memory_id, "text": text, **told, **fields}


def imported(client: TestClient, *memories: dict[str, Any]) -> None:
    lines = "\n".join(json.dumps(one) for one in memories)
    answer = client.post("/memories/import", content=lines, headers={"Content-Type": "application/x-ndjson"})
    assert answer.json() == {"imported": len(memories), "skipped": 0, "rejected": []}


def checked(client: TestClient) -> dict[str, Any]:
    answer = client.post("/memories/freshness", json={})
    assert answer.status_code == 200, answer.text
    report: dict[str, Any] = answer.json()
    assert client.get("/memories/freshness").json() == report
    return report


def ids(found: list[dict[str, Any]]) -> set[str]:
    return {one["id"] for one in found}


def test_before_the_first_check(client: TestClient) -> None:
    empty: dict[str, Any] = {name: [] for name in ("expired", "stale", "unconfirmed", "duplicates", "conflicts")}
    assert client.get("/memories/freshness").json() == {"checkedAt": None, **empty}


def test_what_is_over_by_its_own_words_expires(client: TestClient) -> None:
    imported(
        client,
        memory("m_1", "The office is closed until Friday."),
        memory("m_2", "I am on holiday this week."),
        memory("m_3", "Remind me on 3 March 2025 to renew the passport."),
        memory("m_4", "办公室关门到周五。"),
        memory("m_5", "I moved to Porto this week."),
        memory("m_6", "The lease runs until 2093-05-01."),
        memory("m_7", "The gym is closed until tomorrow.", lastConfirmedAt=datetime.now(UTC).isoformat()),
        memory("m_8", "Anna worked at the mill until March 2020."),
    )
    report = checked(client)
    assert ids(report["expired"]) == {"m_1", "m_2", "m_3", "m_4"}
    over = client.get("/memories/m_1").json()
    assert (over["state"], over["expiresAt"][:10]) == ("expired", "2025-01-10")
    assert [one["reason"] for one in over["history"]] == ["expired"]
    assert client.get("/memories/m_5").json()["state"] == "live"
    assert ids(checked(client)["expired"]) == set()


def test_what_expired_and_is_stored_again_holds_again(client: TestClient) -> None:
    imported(client, memory("m_1", "The gym is closed until tomorrow."))
    assert ids(checked(client)["expired"]) == {"m_1"}
    again = client.post("/memories", json={"text": "The gym is closed until tomorrow."}).json()
    assert again["state"] == "live" and again["expiresAt"] > datetime.now(UTC).isoformat()


def test_categories_have_a_time_to_live(start: Start) -> None:
    client = start(freshness={"ttl_days": {"events": 30}})
    imported(client, memory("m_1", "The fair was crowded.", category="events"), memory("m_2", "The fair is in May."))
    assert ids(checked(client)["expired"]) == {"m_1"}


def test_the_same_said_twice_becomes_one_with_both_sources(client: TestClient) -> None:
    imported(client, memory("m_1", "I drink oat milk."), memory("m_2", "I drink oat milk", LATER))
    assert [set(one["ids"]) for one in checked(client)["duplicates"]] == [{"m_1", "m_2"}]
    left = client.get("/memories/m_1").json()
    assert {source["session"] for source in left["sources"]} == {"s-m_1", "s-m_2"}
    assert [one["id"] for one in client.get("/memories").json()["memories"]] == ["m_1"]
    gone = client.get("/memories/m_2").json()
    assert (gone["state"], [one["reason"] for one in gone["history"]]) == ("superseded", ["merged"])


@pytest.mark.parametrize(("confidence", "holds"), [(0.95, "m_2"), (0.6, None)])
def test_of_two_that_contradict_the_later_holds_unless_it_is_less_certain(
    client: TestClient, confidence: float, holds: str | None
) -> None:
    imported(
        client,
        memory("m_1", "I live in Lisbon with my sister."),
        memory("m_2", "I live in Porto now, not in Lisbon.", LATER, confidence=confidence),
    )
    assert [one["ids"] for one in checked(client)["conflicts"]] == [["m_1", "m_2"]]
    live = {one["id"] for one in client.get("/memories").json()["memories"]}
    assert live == ({holds} if holds else {"m_1", "m_2"})


def test_old_and_unconfirmed(client: TestClient) -> None:
    imported(
        client,
        memory("m_1", "The boiler is serviced by Acme."),
        memory("m_2", "Perhaps Ines likes jazz.", confidence=0.6),
        memory("m_3", "The salary is 4,000 a month.", sensitivity="high"),
        memory("m_4", "The spare key is with Tobias.", pinned=True),
    )
    fresh = client.post("/memories", json={"text": "The new boiler came today."}).json()["id"]
    report = checked(client)
    assert ids(report["stale"]) == {"m_1", "m_2", "m_3"}
    assert ids(report["unconfirmed"]) == {"m_2", "m_3"}
    weaker = client.get("/memories/m_2").json()
    assert weaker["confidence"] < 0.6 and [one["reason"] for one in weaker["history"]] == ["unconfirmed"]
    assert fresh not in json.dumps(report)
    again = checked(client)
    assert client.get("/memories/m_2").json()["version"] == weaker["version"] and ids(again["unconfirmed"])


def test_another_tenant_is_not_checked_along(client: TestClient) -> None:
    imported(client, memory("m_1", "The office is closed until Friday."))
    answer = client.post("/memories/freshness", json={}, headers={"X-OpenViking-User": "mallory"})
    assert answer.json()["expired"] == []
    assert client.get("/memories/m_1").json()["state"] == "live"


def test_a_check_that_is_not_done_in_time_answers_what_the_last_one_found(client: TestClient) -> None:
    assert client.post("/memories", json={"text": "The shed key hangs in the hall."}).status_code == 201
    first = client.post("/memories/freshness", json={}).json()["checkedAt"]
    late = client.post("/memories/freshness", json={"deadlineMs": 1})
    assert late.status_code == 200
    assert late.json()["checkedAt"] >= first


def test_what_a_check_changes_in_slices_is_changed_once_and_noted(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_freshness, "FILES", 1)
    monkeypatch.setattr(check_freshness, "PAGE", 4)
    kinds = ("notes", "events", "entities")
    weak = [
        memory(f"m_{n}", f"Perhaps shelf {n} holds pears.", confidence=0.6, category=kinds[n % 3]) for n in range(10)
    ]
    imported(client, *weak, memory("m_old", "I drink tea.", LATER), memory("m_same", "I drink tea", LATER))
    report = checked(client)
    assert ids(report["unconfirmed"]) == {one["id"] for one in weak} and len(report["duplicates"]) == 1
    assert {client.get(f"/memories/{one['id']}").json()["version"] for one in weak} == {2}
    noted = client.get("/audit", params={"action": "changed", "limit": 50}).json()["entries"]
    assert sorted(one["memoryId"] for one in noted) == sorted([*(one["id"] for one in weak), "m_old", "m_same"])


def test_the_changes_of_one_memory_are_made_in_one_slice() -> None:
    """Each names the version that was looked at: behind another slice it would be out of date."""
    made = [Revision(f"m_{n % 70}", 1, kind, files=(f"f_{n % 7}",)) for kind in RevisionKind for n in range(70)]
    slices = list(check_freshness._slices(made))
    assert len(slices) > 1 and sum(map(len, slices)) == len(made)
    for some in slices:
        assert all(sum(one.id == other.id for other in some) == len(RevisionKind) for one in some)
        assert len({file for one in some for file in one.files}) <= check_freshness.FILES


def stored(memory_id: str, text: str, file: str, confidence: float = 0.95) -> Memory:
    uri = f"viking://user/default/memories/notes/{file}.md#{memory_id}"
    return Memory(memory_id, uri, "notes", text, LONG_AGO, LONG_AGO, confidence=confidence)


def test_what_changes_is_chosen_so_that_few_files_are_written() -> None:
    check = Check(FreshnessRules(), datetime(2026, 1, 1, tzinfo=UTC), lambda _earlier, _later: False)
    for number in range(3 * MAX_REVISIONS):
        file = f"many-{number % 7}" if number % 2 else f"few-{number}"
        check.add(stored(f"m_{number}", f"Perhaps shelf {number} holds pears.", file, 0.6))
    chosen = check.revisions
    assert len(chosen) == MAX_REVISIONS
    assert len({file for one in chosen for file in one.files}) <= 7


def test_what_is_uncertain_waits_for_what_is_over_or_said_twice() -> None:
    """A check changes so many memories and no more: with thousands that nobody confirmed, the others never came up."""
    check = Check(FreshnessRules(), datetime(2026, 1, 1, tzinfo=UTC), lambda _earlier, _later: False)
    for number in range(2 * MAX_REVISIONS):
        check.add(stored(f"m_{number}", f"Perhaps shelf {number} holds pears.", "one", 0.6))
    check.add(stored("m_over", "The office is closed until Friday.", "two"))
    for name in ("m_same", "m_again"):
        check.add(stored(name, "I drink oat milk.", "three"))
    assert len(list(check.finish())) == 1
    first = {(one.id, one.kind) for one in check.revisions[:2]}
    assert first == {("m_over", RevisionKind.EXPIRE), ("m_same", RevisionKind.MERGE)}
    assert len(check.revisions) == MAX_REVISIONS


@pytest.mark.anyio
async def test_a_check_pauses_for_others_until_half_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, slept = FakeClock(), list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(check_freshness.anyio, "sleep", sleep)
    pauses = check_freshness._Pauses(Deadline(clock.now + 100, clock))
    began = time.monotonic() - 0.01
    await pauses.after(began)
    clock.now += 49
    await pauses.after(began)
    clock.now += 2
    await pauses.after(began)
    assert len(slept) == 2 and all(0.01 * check_freshness.SHARE <= one <= check_freshness.MAX_PAUSE_S for one in slept)
