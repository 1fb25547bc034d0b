"""`/memories` over HTTP: what the wire promises, through an outage, a kill and a second writer."""

import base64
import fcntl
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from httpx import Response
from starlette.testclient import TestClient

from app.core.reasons import Reason
from app.embedded.backend import EmbeddedBackend
from app.embedded.memory_store import EmbeddedMemories
from app.ports import BackendError
from tests.http.conftest import Start
from tests.http.test_errors import problem

LINES = {"content-type": "application/x-ndjson"}


def store(client: TestClient, text: str, status: int = 201, **fields: Any) -> dict[str, Any]:
    answer = client.post("/memories", json={"text": text, **fields})
    assert answer.status_code == status, answer.text
    memory: dict[str, Any] = answer.json()
    return memory


def listed(client: TestClient, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/memories{query}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["memories"]
    return found


def block(client: TestClient, question: str, session: str = "elsewhere", **headers: str) -> str:
    body = {"sessionId": session, "messages": [{"role": "user", "content": question}]}
    answer = client.post("/assemble", json=body, headers=headers)
    return str(answer.json().get("contextBlock") or "")


def said(client: TestClient, text: str, session: str = "chat") -> None:
    body = {"sessionId": session, "wait": True, "messages": [{"role": "user", "content": text}]}
    assert client.post("/after-turn", json=body).json()["delivery"] == "delivered"


@contextmanager
def backend_away(data: Path) -> Iterator[None]:
    """Somebody else holds the lock of every user, so that nothing can be written."""
    users = [lock.parent for lock in data.glob("accounts/*/*/.lock")]
    held = [os.open(user / ".lock", os.O_RDWR) for user in users]
    for descriptor in held:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)


def test_a_memory_has_the_shape_of_the_contract(client: TestClient) -> None:
    answer = client.post(
        "/memories",
        json={
            "text": "Mia prefers tea.",
            "sessionId": "s1",
            "category": "preferences",
            "importance": "high",
            "ttlDays": 1.5,
            "sensitivity": "medium",
            "pinned": True,
        },
    )
    memory = answer.json()
    assert answer.status_code == 201 and answer.headers["etag"] == '"1"'
    assert memory.pop("policy") == []
    assert set(memory) == {
        *("id", "uri", "category", "text", "origin", "peer", "createdAt", "updatedAt", "lastConfirmedAt", "expiresAt"),
        *("confidence", "sensitivity", "pinned", "version", "state", "sources"),
    }
    assert memory["id"].startswith("m_") and memory["uri"].startswith("viking://")
    assert (memory["category"], memory["origin"], memory["peer"]) == ("preferences", "self", None)
    assert (memory["confidence"], memory["sensitivity"], memory["pinned"]) == (1.0, "medium", True)
    assert (memory["version"], memory["state"]) == (1, "live")
    assert memory["sources"] == [{"kind": "api", "session": "s1", "turnId": None, "at": memory["createdAt"]}]
    assert memory["expiresAt"] > memory["createdAt"]
    read = client.get(f"/memories/{memory['id']}")
    assert read.json() == {**memory, "history": []}
    assert listed(client) == [memory] == listed(client, "?session=s1&pinned=true&category=preferences")


def test_the_statement_itself_says_what_it_is(client: TestClient) -> None:
    assert store(client, "I live in Antwerp.")["category"] == "profile"
    assert store(client, "I prefer tea over coffee.")["category"] == "preferences"
    assert store(client, "The wifi password is hunter2, keep it.")["sensitivity"] == "high"
    assert store(client, "Some remark.")["category"] == "notes"


def test_the_next_assemble_of_another_session_recalls_it(client: TestClient) -> None:
    store(client, "The demo starts at half past nine.", sessionId="one")
    assert "half past nine" in block(client, "When does the demo start?", "two")


def test_the_same_text_is_confirmed_and_the_same_key_supersedes(client: TestClient) -> None:
    first = store(client, "Standup is at nine.", key="standup")
    again = store(client, "standup is at nine", 200)
    assert again["id"] == first["id"] and again["lastConfirmedAt"] >= first["lastConfirmedAt"]
    second = store(client, "Standup is at ten.", key="standup")
    assert second["id"] != first["id"]
    assert [one["id"] for one in listed(client)] == [second["id"]]
    assert [one["id"] for one in listed(client, "?state=superseded")] == [first["id"]]
    assert client.get(f"/memories/{first['id']}").json()["state"] == "superseded"
    assert "nine" not in block(client, "When is standup?")


def test_a_change_is_seen_by_the_next_search_and_not_by_the_cache(start: Start) -> None:
    client = start(recall={"cache_ms": 60_000, "stale_ms": 60_000})
    said(client, "My parking space is 311.")
    memory = store(client, "My parking space is 311.")
    assert "311" in block(client, "What is my parking space?")
    answer = client.patch(f"/memories/{memory['id']}", json={"text": "My parking space is 402."})
    assert answer.status_code == 200 and answer.json()["version"] == 2 and answer.headers["etag"] == '"2"'
    found = block(client, "What is my parking space?")
    assert "402" in found and "311" not in found
    history = client.get(f"/memories/{memory['id']}").json()["history"]
    assert [(one["version"], one["text"], one["reason"]) for one in history] == [
        (1, "My parking space is 311.", "changed")
    ]
    receipt = client.delete(f"/memories/{memory['id']}").json()
    assert "402" not in block(client, "What is my parking space?")
    assert receipt["removed"]["memories"] == 1 and receipt["dryRun"] is False
    problem(client.get(f"/memories/{memory['id']}"), 404, "not_found")


def test_what_was_said_is_forgotten_with_the_memory(client: TestClient) -> None:
    said(client, "My badge number is 7781.")
    memory = store(client, "My badge number is 7781.")
    receipt = client.delete(f"/memories/{memory['id']}").json()
    assert (receipt["removed"]["turns"], receipt["kept"]) == (1, [])
    assert "7781" not in block(client, "What is my badge number?")


def test_a_forgotten_fact_does_not_come_back_from_a_late_extraction(client: TestClient) -> None:
    said(client, "I live in Antwerp. I prefer tea over coffee.", "late")
    memory = store(client, "I live in Antwerp.")
    client.delete(f"/memories/{memory['id']}")
    answer = client.post("/compact", json={"sessionId": "late", "force": True})
    assert answer.json()["reason"] == "commit_completed"
    assert [one["text"] for one in listed(client)] == ["I prefer tea over coffee."]


def test_statements_of_a_commit_are_memories_of_their_own(client: TestClient) -> None:
    said(client, "I live in Antwerp. My sister lives in Ghent. I prefer tea over coffee.", "told")
    client.post("/compact", json={"sessionId": "told", "force": True})
    memories = listed(client)
    assert {one["text"] for one in memories} == {
        "I live in Antwerp.",
        "My sister lives in Ghent.",
        "I prefer tea over coffee.",
    }
    assert len({one["id"] for one in memories}) == 3
    for memory in memories:
        (source,) = memory["sources"]
        assert source["kind"] == "turn" and source["session"] == "told" and source["turnId"].startswith("t_")
        assert client.get(f"/memories/{memory['id']}").json()["text"] == memory["text"]
    assert len(listed(client, "?session=told")) == 3 and listed(client, "?session=other") == []
    assert any(
        one["text"].startswith("I live") and one["category"] == "events" for one in listed(client, "?category=events")
    )


def test_a_stale_version_is_refused(client: TestClient) -> None:
    memory = store(client, "Lunch is at noon.")
    path = f"/memories/{memory['id']}"
    assert client.patch(path, json={"pinned": True}, headers={"If-Match": '"1"'}).json()["version"] == 2
    problem(client.patch(path, json={"text": "Lunch is at two."}, headers={"If-Match": '"1"'}), 412, "version_conflict")
    assert client.patch(path, json={"text": "Lunch is at one."}, headers={"If-Match": "*"}).status_code == 200
    body = problem(client.patch(path, json={}, headers={"If-Match": "soon"}), 400, "invalid_request")
    assert body["errors"][0]["field"] == "headers.If-Match"


def test_two_writers_at_once_lose_nothing(client: TestClient) -> None:
    memory = store(client, "Round zero.")

    def change(number: int) -> int:
        headers = {"If-Match": '"1"'}
        return client.patch(f"/memories/{memory['id']}", json={"text": f"Round {number}."}, headers=headers).status_code

    def say(_: int) -> str:
        return str(client.post("/memories", json={"text": "Said by everybody."}).json()["id"])

    with ThreadPoolExecutor(16) as threads:
        codes = list(threads.map(change, range(1, 9)))
        ids = set(threads.map(say, range(8)))
    assert sorted(codes) == [200] + [412] * 7
    assert len(ids) == 1 and len(listed(client)) == 2


def test_pages_stay_put_while_others_write(client: TestClient) -> None:
    ids = [store(client, f"Fact {number} of many.")["id"] for number in range(7)]
    seen: list[str] = []
    cursor = None
    while True:
        query = f"?limit=2&cursor={cursor}" if cursor else "?limit=2"
        page = client.get(f"/memories{query}").json()
        seen += [one["id"] for one in page["memories"]]
        store(client, f"Written meanwhile, after {len(seen)}.")
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == ids[::-1]


CRAFTED = [
    base64.urlsafe_b64encode(json.dumps(place).encode()).decode()
    for place in (
        ["2026-01-01T00:00:00.000Z", "\ud800"],
        ["2026-01-01T00:00:00.000Z", "m_\0"],
        ["2026-01-01\ud80000:00:00+00:00", "m_1"],
        ["2026-01-01\00000:00:00+00:00", "m_1"],
    )
]
"""Cursors with what no database can compare."""


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "query.limit"),
        ("limit=201", "query.limit"),
        ("state=gone", "query.state"),
        ("since=yesterday", "query.since"),
        ("until=2026-13-01", "query.until"),
        ("cursor=abc", "query.cursor"),
        ("cursor=WzEsMl0", "query.cursor"),
        *((f"cursor={cursor}", "query.cursor") for cursor in CRAFTED),
        ("pinned=perhaps", "query.pinned"),
    ],
)
def test_wrong_filters_are_named(client: TestClient, query: str, field: str) -> None:
    body = problem(client.get(f"/memories?{query}"), 400, "invalid_request")
    assert [one["field"] for one in body["errors"]] == [field]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": " \n\t"}, "text"),
        ({"text": "\u0000"}, "text"),
        ({"text": "x" * 20_001}, "text"),
        ({"text": 7}, "text"),
        ({"text": "x", "category": "../up"}, "category"),
        ({"text": "x", "category": "Notes"}, "category"),
        ({"text": "x", "key": ""}, "key"),
        ({"text": "x", "importance": "urgent"}, "importance"),
        ({"text": "x", "ttlDays": 0}, "ttlDays"),
        ({"text": "x", "ttlDays": -1}, "ttlDays"),
        ({"text": "x", "ttlDays": 1e12}, "ttlDays"),
        ({"text": "x", "sensitivity": "secret"}, "sensitivity"),
        ({"text": "x", "pinned": "yes"}, "pinned"),
        ({"text": "x", "for": "everybody"}, "for"),
    ],
)
def test_wrong_fields_are_named(client: TestClient, body: dict[str, Any], field: str) -> None:
    refused = problem(client.post("/memories", json=body), 400, "invalid_request")
    assert [one["field"] for one in refused["errors"]] == [field]
    assert listed(client) == []


def test_a_peers_memory_is_the_peers(client: TestClient) -> None:
    store(client, "The door is painted green.", agentId="helper", sessionId="s", **{"for": "peer"})
    (memory,) = listed(client, "?peer=helper")
    assert (memory["origin"], memory["peer"]) == ("peer", "helper")
    ask = {"messages": [{"role": "user", "content": "How is the door painted?"}], "sessionId": "z"}
    mine = client.post("/assemble", json={**ask, "agentId": "helper"}).json().get("contextBlock") or ""
    others = client.post("/assemble", json={**ask, "agentId": "main"}).json().get("contextBlock") or ""
    assert "green" in mine and "green" not in others


def test_ttl_days_null_is_for_good(client: TestClient) -> None:
    memory = store(client, "The code changes soon.", ttlDays=0.25)
    path = f"/memories/{memory['id']}"
    assert client.patch(path, json={"pinned": True}).json()["expiresAt"] is not None
    assert client.patch(path, json={"ttlDays": None}).json()["expiresAt"] is None


def test_a_memory_whose_time_is_over_is_expired(client: TestClient) -> None:
    memory = store(client, "The gate opens at 6.", ttlDays=1e-9)
    assert listed(client) == [] and "gate" not in block(client, "When does the gate open?")
    assert [one["id"] for one in listed(client, "?state=expired")] == [memory["id"]]
    assert [one["id"] for one in listed(client, "?state=expired&query=gate")] == [memory["id"]]


def test_what_was_said_is_listed_as_events_and_can_be_forgotten(client: TestClient) -> None:
    said(client, "The ferry leaves at seven.")
    assert listed(client) == []
    (event,) = listed(client, "?category=events")
    assert event["text"] == "The ferry leaves at seven." and event["sources"][0]["kind"] == "turn"
    assert listed(client, "?query=ferry")[0]["id"] == event["id"]
    problem(client.patch(f"/memories/{event['id']}", json={"text": "x"}), 409, "conflict")
    assert client.delete(f"/memories/{event['id']}").status_code == 200
    assert listed(client, "?category=events") == [] and "seven" not in block(client, "When does the ferry leave?")
    problem(client.get(f"/memories/{event['id']}"), 404, "not_found")


def test_an_outage_loses_nothing_and_hides_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EmbeddedBackend, "call_s", 1.0)  # so long hangs each try to deliver
    client = start(delivery={"backoff_ms": 10, "max_backoff_ms": 20})

    def hasty(method: str, memory: dict[str, Any], **sent: Any) -> Response:
        """A request that waits for the backend no longer than this; others may take their time."""
        app: Any = client.app
        with monkeypatch.context() as patched:
            patched.setattr(app.state.services.settings.limits, "wait_ms", 500)
            return client.request(method, f"/memories/{memory['id']}", **sent)

    before = store(client, "Something from before.")
    said(client, "The vault opens with a brass wheel.")
    with backend_away(tmp_path / "data"):
        memory = store(client, "The spare key lies under the blue pot.", deadlineMs=200)
        again = store(client, "the spare key lies under the blue pot", 200, deadlineMs=200)
        assert again["id"] == memory["id"]
        assert "blue pot" in block(client, "Where is the spare key?")
        assert client.get(f"/memories/{memory['id']}").json()["text"] == memory["text"]
        assert listed(client)[0]["id"] == memory["id"]
        assert listed(client, "?query=spare key")[0]["id"] == memory["id"]
        green = {"text": "The spare key lies under the green pot."}
        changed = hasty("PATCH", memory, json=green, headers={"If-Match": '"1"'})
        assert (changed.json()["version"], changed.headers["etag"]) == (2, '"2"')
        problem(hasty("PATCH", memory, json=green, headers={"If-Match": '"1"'}), 412, "version_conflict")
        found = block(client, "Where is the spare key?")
        assert "green pot" in found and "blue pot" not in found
        assert client.get(f"/memories/{memory['id']}").json()["history"][0]["text"] == memory["text"]
        lines = map(json.loads, client.get("/memories/export").text.splitlines())
        assert next(line for line in lines if line["id"] == memory["id"])["history"][0]["text"] == memory["text"]
        vault = store(client, "The vault opens with a brass wheel.", deadlineMs=200)
        hasty("PATCH", vault, json={"text": "The vault is sold."})
        hasty("DELETE", vault)
        spare = store(client, "The cellar code is 4711.", deadlineMs=200)
        receipt = hasty("DELETE", spare).json()
        assert receipt["selected"][0]["id"] == spare["id"]
        assert "does not answer" in receipt["kept"][0]["why"]
        assert "4711" not in block(client, "What is the cellar code?")
        problem(client.get(f"/memories/{spare['id']}"), 404, "not_found")
        # One that the backend has can only be changed there.
        problem(hasty("PATCH", before, json={"pinned": True}), 503, "deadline_exceeded")
    until = time.monotonic() + 20
    while client.get(f"/memories/{memory['id']}").json()["uri"].startswith("viking://~"):
        assert time.monotonic() < until, "it was not delivered"
    assert [one["text"] for one in listed(client)] == [green["text"], before["text"]]
    found = block(client, "Where is the spare key?", "yet another")
    assert "green pot" in found and "blue pot" not in found
    assert "brass wheel" not in block(client, "How does the vault open?")
    read = client.get(f"/memories/{memory['id']}").json()
    assert (read["version"], [one["text"] for one in read["history"]]) == (2, [memory["text"]])
    assert client.patch(f"/memories/{memory['id']}", json={"pinned": True}).json()["version"] == 3


def test_what_waits_is_forgotten_while_the_backend_answers_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(*_: Any, **__: Any) -> Any:
        raise BackendError(Reason.DEADLINE_EXCEEDED, "the deadline passed", retryable=True)

    client = start()
    store(client, "Something from before.")
    with backend_away(tmp_path / "data"):
        spare = store(client, "The cellar code is 4711.", deadlineMs=200)
        monkeypatch.setattr(EmbeddedMemories, "statement", late)
        would = client.post("/memories/forget", json={"id": spare["id"]}).json()
        assert would["dryRun"] and would["selected"][0]["id"] == spare["id"] and would["kept"]
        receipt = client.delete(f"/memories/{spare['id']}").json()
        assert receipt["selected"][0]["id"] == spare["id"] and receipt["kept"]
        assert "4711" not in block(client, "What is the cellar code?")


def test_what_waits_survives_a_restart(start: Start, tmp_path: Path) -> None:
    client = start()
    store(client, "Something from before.")
    with backend_away(tmp_path / "data"):
        memory = store(client, "The spare key lies under the blue pot.", deadlineMs=200)
        second = start(recall={"timeout_ms": 3_000})  # what it waits for the backend
        assert "blue pot" in block(second, "Where is the spare key?")
        assert second.get(f"/memories/{memory['id']}").json()["text"] == memory["text"]


def test_a_change_in_one_process_is_seen_by_the_cache_of_another(start: Start) -> None:
    one, other = start(recall={"cache_ms": 60_000}), start(recall={"cache_ms": 60_000})
    memory = store(one, "My desk is on floor two.")
    for _ in range(2):
        assert "floor two" in block(other, "Which floor is my desk on?")
    one.patch(f"/memories/{memory['id']}", json={"text": "My desk is on floor nine."})
    found = block(other, "Which floor is my desk on?")
    assert "floor nine" in found and "floor two" not in found


def test_an_export_makes_the_same_memories_elsewhere(start: Start, tmp_path: Path) -> None:
    client = start()
    said(client, "I prefer tea over coffee. We decided to ship Atlas on Friday.", "told")
    client.post("/compact", json={"sessionId": "told", "force": True})
    first = store(client, "The build runs on port 9100.", key="port")
    store(client, "The build runs on port 9200.", key="port")
    store(client, "Line one:\n\n- two\n- three 发布", ttlDays=3)
    client.patch(f"/memories/{first['id']}", json={"pinned": True})
    lines = client.get("/memories/export").text.splitlines()
    assert len(lines) == 5 and all("history" in json.loads(line) for line in lines)
    fresh = start(data_dir=tmp_path / "fresh")
    body = "\n".join([*lines, "", "no json", '{"id": "m_1"}', lines[0]])
    answer = fresh.post("/memories/import", content=body, headers=LINES).json()
    assert (answer["imported"], answer["skipped"]) == (5, 1)
    assert [one["line"] for one in answer["rejected"]] == [7, 8] and "category" in answer["rejected"][1]["detail"]
    assert fresh.get("/memories/export").text.splitlines() == lines
    for query in ("build port", "tea", "atlas friday", "发布", "three"):
        without = "?category={}&query=" + query
        for category in ("notes", "preferences", "profile", "entities"):
            asked = without.format(category)
            assert listed(fresh, asked) == listed(client, asked)
    assert fresh.post("/memories/import", content=body, headers=LINES).json()["imported"] == 0


def test_an_import_says_what_it_is(client: TestClient) -> None:
    refused = client.post("/memories/import", content="{}", headers={"content-type": "text/plain"})
    body = problem(refused, 400, "invalid_request")
    assert body["errors"][0]["field"] == "headers.Content-Type"


def test_tenants_stay_apart_under_load(client: TestClient) -> None:
    def one(number: int) -> list[str]:
        headers = {"X-OpenViking-User": f"user{number % 8}"}
        mine = client.post("/memories", json={"text": f"Secret {number} of mine."}, headers=headers).json()
        other = {"X-OpenViking-User": f"user{(number + 1) % 8}"}
        path = f"/memories/{mine['id']}"
        codes = [client.get(path, headers=other).status_code, client.delete(path, headers=other).status_code]
        codes.append(client.patch(path, json={"text": "x"}, headers=other).status_code)
        assert codes == [404, 404, 404], codes
        assert client.get(path, headers=headers).json()["text"] == f"Secret {number} of mine."
        found = client.get("/memories?limit=200", headers=headers).json()["memories"]
        found += client.get("/memories?query=secret", headers=headers).json()["memories"]
        return [memory["text"] for memory in found]

    with ThreadPoolExecutor(64) as threads:
        for number, texts in enumerate(threads.map(one, range(64))):
            owners = {int(text.split()[1]) % 8 for text in texts}
            assert owners == {number % 8}


@pytest.mark.parametrize(
    ("text", "question", "statement"),
    [
        ("Please remember that my badge number is 7781.", "What is my badge number?", "my badge number is 7781."),
        ("记住我的工号是7781。", "我的工号是多少？", "我的工号是7781。"),
        (
            "Use tabs. Never ask me about tabs again.",
            "Should I use tabs in this file?",
            "Use tabs. Never ask me about tabs again.",
        ),
    ],
)
def test_what_is_to_be_remembered_holds_from_the_next_turn_on(
    start: Start, tmp_path: Path, text: str, question: str, statement: str
) -> None:
    client = start()
    store(client, "Something from before.")
    with backend_away(tmp_path / "data"):
        body = {"sessionId": "one", "messages": [{"role": "user", "content": text}]}
        turn = client.post("/after-turn", json={**body, "advancementKey": "k"}).json()
        assert client.post("/after-turn", json={**body, "advancementKey": "k"}).json()["status"] == "duplicate"
        assert statement in block(client, question, "two")
        memory = listed(client)[0]
        assert memory["text"] == statement
        (source,) = memory["sources"]
        assert (source["kind"], source["session"], source["turnId"]) == ("turn", "one", turn["turnId"])
    client.post("/compact", json={"sessionId": "one", "force": True})
    assert [one["text"] for one in listed(client)].count(statement) == 1


def test_what_is_remembered_on_purpose_takes_the_place_of_what_it_corrects(client: TestClient) -> None:
    for session, city in (("one", "in Porto"), ("two", "in Madrid now")):
        said = {"role": "user", "content": f"Remember that my sister Ana lives {city}."}
        client.post("/after-turn", json={"sessionId": session, "messages": [said], "wait": True})
        asked = {"sessionId": session, "force": True, "keepRecentCount": 0, "deadlineMs": 60_000}
        assert client.post("/compact", json=asked).json()["reason"] == "commit_completed"
    states = {one["text"]: one["state"] for one in listed(client)}
    assert [(text, state) for text, state in states.items() if "Madrid" in text] != []
    assert {state for text, state in states.items() if "Madrid" in text} == {"live"}, states
    assert "live" not in {state for text, state in states.items() if "Porto" in text}, states
    assert "Porto" not in block(client, "Where does my sister Ana live?", "three")


def test_automation_is_not_remembered(client: TestClient) -> None:
    body = {"sessionKey": "agent:main:cron:nightly", "wait": True}
    body |= {"messages": [{"role": "user", "content": "Remember that the backup ran."}]}
    client.post("/after-turn", json=body)
    assert listed(client) == []
