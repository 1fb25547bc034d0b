"""`/memories` and its tools on OpenViking: the whole sidecar, and a server that goes away and comes back."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.recall import searches
from tests.contract.openviking import FakeOpenViking, served
from tests.http.conftest import Start
from tests.http.test_memories import block, listed, problem, store
from tests.postgres import new_database

HOME = "viking://user/mia/memories"


@pytest.fixture(autouse=True)
def time_for_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the store may take longer than a recall waits for it."""
    monkeypatch.setattr(searches, "NEWS_MS", 60_000)
    monkeypatch.setattr(searches, "NEWS_SHARE", 0.9)


@pytest.fixture
def server() -> FakeOpenViking:
    return FakeOpenViking()


@pytest.fixture
def sidecar(start: Start, server: FakeOpenViking) -> Iterator[Callable[..., TestClient]]:
    """Starts sidecars on the server, all on one store."""
    with served(server) as url:
        openviking = {"url": url, "user": "mia", "breaker_failures": 1_000, "timeout_ms": 5_000}

        def started(**values: Any) -> TestClient:
            delivery = {"backoff_ms": 10, "max_backoff_ms": 20}
            return start(backend="openviking", openviking=openviking, delivery=delivery, **values)

        yield started


@pytest.fixture
def client(sidecar: Callable[..., TestClient]) -> TestClient:
    return sidecar()


def until(look: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not look():
        assert time.monotonic() < end


def tool(client: TestClient, name: str, **arguments: Any) -> dict[str, Any]:
    answer = client.post(f"/tools/{name}", json={"sessionId": "s", "arguments": arguments}).json()
    assert answer["ok"], answer
    return dict(answer)


def test_a_memory_is_stored_recalled_changed_and_forgotten(client: TestClient, server: FakeOpenViking) -> None:
    memory = store(client, "The printer stands in Antwerp.", category="entities", ttlDays=30, pinned=True)
    assert server.files == {f"{HOME}/entities/{memory['id']}.md": "The printer stands in Antwerp."}
    assert "Antwerp" in block(client, "Where does the printer stand?")
    path, ghent = f"/memories/{memory['id']}", {"text": "The printer stands in Ghent."}
    changed = client.patch(path, json=ghent, headers={"If-Match": '"1"'})
    assert (changed.json()["version"], changed.json()["pinned"]) == (2, True)
    problem(client.patch(path, json={"text": "x"}, headers={"If-Match": '"1"'}), 412, "version_conflict")
    found = block(client, "Where does the printer stand?", "another")
    assert "Ghent" in found and "Antwerp" not in found
    assert [one["text"] for one in listed(client, "?query=printer")] == [ghent["text"]]
    assert client.get(path).json()["history"][0]["text"] == memory["text"]
    assert client.delete(path).json()["selected"][0]["id"] == memory["id"]
    assert server.files == {} and "Ghent" not in block(client, "Where does the printer stand?", "a third")
    problem(client.get(path), 404, "not_found")


def test_tools_store_recall_and_forget(client: TestClient) -> None:
    tool(client, "memory_store", text="The harbour master's parrot is called Bartholomew.")
    assert "Bartholomew" in tool(client, "memory_recall", query="harbour master parrot")["content"][0]["text"]
    assert "Bartholomew" in tool(client, "ov_search", query="parrot Bartholomew")["content"][0]["text"]
    tool(client, "memory_forget", query="harbour master parrot Bartholomew")
    assert "Bartholomew" not in tool(client, "memory_recall", query="harbour master parrot")["content"][0]["text"]


def test_an_outage_loses_nothing_and_hides_nothing(sidecar: Callable[..., TestClient], server: FakeOpenViking) -> None:
    client = sidecar()
    blue = store(client, "The spare key lies under the blue pot.")
    safe = store(client, "The safe opens with 8213.")
    server.down = True
    lamp = store(client, "The lamp is green.")
    assert store(client, "the lamp is green", 200)["id"] == lamp["id"]
    assert client.patch(f"/memories/{blue['id']}", json={"text": "The spare key hangs on the wall."}).is_success
    assert client.patch(f"/memories/{lamp['id']}", json={"text": "The lamp is red."}).json()["version"] == 2
    receipt = client.delete(f"/memories/{safe['id']}").json()
    assert any(safe["id"] in one["what"] for one in receipt["kept"])
    held = {"The lamp is red.", "The spare key hangs on the wall."}
    other = sidecar()  # a second process knows what the first one was told
    for one in (client, other):
        assert {memory["text"] for memory in listed(one)} == held
        assert "wall" in block(one, "Where is the spare key?") and "red" in block(one, "Which colour has the lamp?")
        assert "8213" not in block(one, "What opens the safe?")
    server.down = False
    until(lambda: set(server.files.values()) == held)
    assert "wall" in block(client, "Where is the spare key?", "one more")


def test_what_a_turn_asks_to_remember_holds_in_an_outage(client: TestClient, server: FakeOpenViking) -> None:
    server.down = True
    turn = {"sessionId": "one", "messages": [{"role": "user", "content": "Remember that my badge is 5512."}]}
    assert client.post("/after-turn", json=turn).status_code == 200
    assert "5512" in block(client, "What is my badge?")
    (memory,) = listed(client)
    assert client.patch(f"/memories/{memory['id']}", json={"text": "My badge is 7734."}).status_code == 200
    found = block(client, "What is my badge?", "two")
    assert "7734" in found and "5512" not in found
    server.down = False
    until(lambda: list(server.files.values()) == ["My badge is 7734."])


def test_an_export_into_an_empty_directory_is_the_same(
    client: TestClient, server: FakeOpenViking, start: Start, tmp_path_factory: pytest.TempPathFactory
) -> None:
    server.put(f"{HOME}/profile.md", "# user\n- My name is Mia.\n- I live in Turin.")
    tea = store(client, "Tea at four.", key="tea")
    store(client, "Tea at five.", key="tea", ttlDays=9)
    client.patch(f"/memories/{listed(client, '?query=five')[0]['id']}", json={"pinned": True})
    lines = client.get("/memories/export").text
    fresh = FakeOpenViking()
    with served(fresh) as url:
        data = tmp_path_factory.mktemp("fresh")
        other = start(backend="openviking", openviking={"url": url, "user": "mia"}, data_dir=data)
        taken = other.post("/memories/import", content=lines, headers={"Content-Type": "application/x-ndjson"}).json()
        assert (taken["imported"], taken["rejected"]) == (4, [])

        def plain(text: str) -> list[dict[str, Any]]:
            return sorted(({**json.loads(one), "uri": ""} for one in text.splitlines()), key=lambda one: str(one["id"]))

        assert plain(other.get("/memories/export").text) == plain(lines)
        assert set(fresh.files.values()) == {"My name is Mia.", "I live in Turin.", "Tea at five."}
        assert other.get(f"/memories/{tea['id']}").json()["state"] == "superseded"
        for query in ("tea", "where do I live", "name"):
            found = [one["id"] for one in listed(other, f"?query={query}")]
            assert set(found) == {one["id"] for one in listed(client, f"?query={query}")}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def on_each_store(request: pytest.FixtureRequest, sidecar: Callable[..., TestClient]) -> TestClient:
    if request.param == "sqlite":
        return sidecar()
    return sidecar(store={"url": new_database(request.getfixturevalue("postgres_url"))})


def test_two_writers_lose_nothing_and_double_nothing(on_each_store: TestClient) -> None:
    client = on_each_store
    path = f"/memories/{store(client, 'Version zero.')['id']}"

    def write(number: int) -> tuple[int, str]:
        text = {"text": f"Version of writer {number}."}
        status = client.patch(path, json=text, headers={"If-Match": '"1"'}).status_code
        return status, client.post("/memories", json={"text": "Said by all."}).json()["id"]

    with ThreadPoolExecutor(16) as writers:
        answers = list(writers.map(write, range(16)))
    assert sorted(status for status, _ in answers) == [200, *[412] * 15]
    assert len({memory_id for _, memory_id in answers}) == 1 and len(listed(client)) == 2
    assert client.get(path).json()["version"] == 2


def test_tenants_stay_apart_under_load(on_each_store: TestClient) -> None:
    client = on_each_store

    def one(number: int) -> None:
        headers = {"X-OpenViking-Account": "acme", "X-OpenViking-User": f"user{number}"}
        text = f"The locker of the day is {number}77."
        memory = client.post("/memories", json={"text": text}, headers=headers).json()
        found = client.get("/memories", headers=headers).json()["memories"]
        assert [each["text"] for each in found] == [text]
        stranger = {**headers, "X-OpenViking-User": f"user{number + 1}"}
        assert client.get(f"/memories/{memory['id']}", headers=stranger).status_code == 404
        told = block(client, "Which locker is it, the locker of the day?", **headers)
        assert f"{number}77" in told and told.count("77.") == 1

    with ThreadPoolExecutor(64) as users:
        list(users.map(one, range(100, 164)))
