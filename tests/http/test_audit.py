"""``GET /audit``: who did what with which memory, and never a text."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.api import large
from tests.http.conftest import Start

SECRET_WORD = "zq7faudited"


def entries(client: TestClient, **wanted: Any) -> list[dict[str, Any]]:
    answer = client.get("/audit", params=wanted)
    assert answer.status_code == 200, answer.text
    assert SECRET_WORD not in answer.text
    found: list[dict[str, Any]] = answer.json()["entries"]
    return found


def flushed(client: TestClient) -> None:
    client.portal.call(client.app.state.services.recalls.flush)  # type: ignore[attr-defined, union-attr]


def test_everything_that_is_done_with_a_memory_is_noted(start: Start) -> None:
    client = start(auth={"tokens": "sesame"}, embedded={"embedder": {"kind": "none"}})
    client.headers["Authorization"] = "Bearer sesame"
    scope = {"sessionId": "s1", "agentId": "ada"}
    stored = client.post(
        "/memories", json={**scope, "text": f"The {SECRET_WORD} is in the attic."}, headers={"X-Request-ID": "req-1"}
    ).json()
    path = f"/memories/{stored['id']}"
    client.get(path)
    messages = [{"role": "user", "content": f"Where is the {SECRET_WORD}?"}]
    asked = client.post("/assemble", json={**scope, "messages": messages, "deadlineMs": 60_000})
    trace_id = asked.json()["recall"]["traceId"]
    flushed(client)  # while the memory is there: of one that is gone nothing is noted
    client.patch(path, json={"pinned": True})
    exported = client.get("/memories/export").content
    client.delete(path)
    client.post("/memories/import", content=exported, headers={"Content-Type": "application/x-ndjson"})
    (again,) = client.get("/memories").json()["memories"]
    assert [one["action"] for one in entries(client, memoryId=again["id"])][-1] == "imported", "as a new memory"
    found = entries(client, memoryId=stored["id"])
    assert {one["action"] for one in found} == {"stored", "read", "recalled", "changed", "exported", "forgotten"}
    by_action = {one["action"]: one for one in found}
    token = hashlib.sha256(b"sesame").hexdigest()[:8]
    assert by_action["stored"]["actor"] == {"token": token, "agent": "ada", "session": "s1"}
    assert by_action["stored"]["requestId"] == "req-1"
    assert (by_action["recalled"]["traceId"], by_action["recalled"]["actor"]["session"]) == (trace_id, "s1")
    assert by_action["forgotten"]["actor"] == {"token": token, "agent": None, "session": None}


def test_pages_and_filters(client: TestClient) -> None:
    ids = [client.post("/memories", json={"text": f"Shelf {number} is full."}).json()["id"] for number in range(5)]
    first = client.get("/audit", params={"action": "stored", "limit": 3}).json()
    rest = client.get("/audit", params={"action": "stored", "limit": 3, "cursor": first["nextCursor"]}).json()
    assert [one["memoryId"] for one in first["entries"] + rest["entries"]] == ids[::-1]
    assert rest["nextCursor"] is None
    middle = first["entries"][-1]["at"]
    assert {one["memoryId"] for one in entries(client, action="stored", until=middle)} >= set(ids[:3])
    assert entries(client, since="2999-01-01T00:00:00Z") == []
    for wrong in ({"action": "burned"}, {"since": "yesterday"}, {"cursor": "x"}, {"limit": 0}):
        assert client.get("/audit", params=wrong).status_code == 400


def test_what_does_nothing_is_not_noted_and_what_is_replaced_is(client: TestClient) -> None:
    ids = []
    for text in ("My colour is blue.", "My colour is red."):
        stored = client.post("/memories", json={"text": text, "key": "colour"}).json()
        ids.append(stored["id"])
    assert [one["memoryId"] for one in entries(client, action="changed")] == ids[:1]
    for _ in range(2):
        assert client.patch(f"/memories/{ids[1]}", json={"pinned": True}).json()["pinned"]
    assert [one["memoryId"] for one in entries(client, action="changed")] == [ids[1], ids[0]]
    lines = client.get("/memories/export").content
    other = json.dumps({**json.loads(lines.splitlines()[0]), "id": "m_1", "uri": "", "text": "Another."}).encode()
    for _ in range(2):
        body = lines.rstrip(b"\n") + b"\n" + other
        client.post("/memories/import", content=body, headers={"Content-Type": "application/x-ndjson"})
    assert [one["memoryId"] for one in entries(client, action="imported")] == ["m_1"]
    assert {one["actor"]["session"] for one in entries(client)} == {None}


def test_what_the_engine_learns_and_takes_in_is_noted(start: Start, tmp_path: Path) -> None:
    client = start(embedded={"embedder": {"kind": "none"}}, capture={"keep_recent": 0}, start={"notes": True})
    for session, said in (("s1", "My name is Mia. I live in Lisbon."), ("s2", "I moved, I live in Porto now.")):
        client.post("/after-turn", json={"sessionId": session, "messages": [{"role": "user", "content": said}]})
        assert client.post("/compact", json={"sessionId": session}).status_code == 200
    memories = {one["text"]: one["id"] for one in client.get("/memories").json()["memories"]}
    stored = {one["memoryId"]: one["actor"]["session"] for one in entries(client, action="stored")}
    assert stored[memories["My name is Mia."]] == "s1" and set(memories.values()) <= set(stored)
    assert [one["actor"]["session"] for one in entries(client, action="changed")] == ["s2"]
    client.post("/sessions/start", json={"sessionId": "s3"})
    [page] = tmp_path.rglob("MEMORY.md")
    page.write_text(page.read_text().replace("My name is Mia.", "My name is Mia Silva.") + "- My bicycle is red.\n")
    client.post("/sessions/start", json={"sessionId": "s4"})
    [bicycle] = [one["id"] for one in client.get("/memories").json()["memories"] if "bicycle" in one["text"]]
    [noted] = entries(client, action="stored", memoryId=bicycle)
    assert (noted["actor"], noted["requestId"]) == ({"token": None, "agent": None, "session": None}, None)
    assert memories["My name is Mia."] in {one["memoryId"] for one in entries(client, action="changed")}


def test_what_a_turn_asks_to_remember_and_a_tool_reads(client: TestClient) -> None:
    said = [{"role": "user", "content": "Remember that my badge number is 5512."}]
    client.post("/after-turn", json={"sessionId": "s1", "agentId": "ada", "messages": said, "wait": True})
    noted = entries(client, action="stored")
    assert [one["actor"]["session"] for one in noted] == ["s1"]
    call = {"sessionId": "s1", "arguments": {"query": "badge number"}}
    assert client.post("/tools/memory_recall", json=call).json()["ok"]
    assert {one["actor"]["session"] for one in entries(client, action="read")} == {"s1"}


def test_a_large_turn_is_noted_like_a_small_one(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read in another process, which knows neither the request nor its token."""
    client = start(
        auth={"tokens": "sesame"},
        limits={"large_turn_ms": 60_000},
        embedded={"embedder": {"kind": "none"}},
    )
    client.headers["Authorization"] = "Bearer sesame"
    said = "Remember that my badge number is 5512. Remember that I park in bay 7."
    found = []
    for name, at_once in (("small", large.AT_ONCE_VALUES), ("large", 0)):
        monkeypatch.setattr(large, "AT_ONCE_VALUES", at_once)
        body = {"sessionId": name, "agentId": "ada", "messages": [{"role": "user", "content": f"I am {name}. {said}"}]}
        answer = client.post("/after-turn", json=body, headers={"X-Request-ID": "req-7"})
        assert answer.json()["status"] == "committed", answer.text
        noted = [one for one in entries(client, action="stored") if one["actor"]["session"] == name]
        found.append(sorted((one["actor"]["token"], one["actor"]["agent"], one["requestId"]) for one in noted))
    token = hashlib.sha256(b"sesame").hexdigest()[:8]
    assert found == [[(token, "ada", "req-7")] * 2] * 2


def test_another_tenant_sees_nothing_of_it(client: TestClient) -> None:
    client.post("/memories", json={"text": "Mine alone."})
    assert client.get("/audit", headers={"X-OpenViking-User": "mallory"}).json()["entries"] == []
