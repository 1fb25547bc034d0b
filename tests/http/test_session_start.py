"""What a session begins with, over HTTP and on both backends: the same bytes until its epoch ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.api import large
from app.engine.session_start.begin import BeginSession
from app.factory import create_app
from app.settings import Settings
from tests.contract.openviking import FakeOpenViking, served
from tests.http.conftest import Start
from tests.http.test_memories import store
from tests.scan import places_of

OPENING, END = "<openviking-session>", "</openviking-session>"
ALL_OFF = {"profile": False}
EVERYTHING = {"profile": True, "persona": True, "notes": True, "directory": True, "commands": "cli"}


def begun(client: TestClient, session: str = "s1", **fields: Any) -> dict[str, Any]:
    answer = client.post("/sessions/start", json={"sessionId": session, **fields})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def preflight(client: TestClient, session: str = "s1", text: str = "Hello there.", **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    answer = client.post("/assemble", json={"sessionId": session, "phase": "preflight", "messages": messages, **fields})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def shown(answer: dict[str, Any]) -> str:
    return str(answer.get("systemPromptAddition") or "")


def turn(client: TestClient, text: str, session: str = "s1", **fields: Any) -> None:
    body = {"sessionId": session, "wait": True, "messages": [{"role": "user", "content": text}], **fields}
    assert client.post("/after-turn", json=body).json()["delivery"] == "delivered"


def test_a_start_a_preflight_and_a_full_answer_the_same(sidecar: Callable[..., TestClient]) -> None:
    client = sidecar(start=EVERYTHING)
    store(client, "My name is Mia.")
    store(client, "I prefer short answers.")
    first = begun(client, tokenBudget=64_000)
    text = shown(first)
    assert text.startswith(f"{OPENING}\n## User Profile\nSource: viking://~/memories/profile.md\n- My name is Mia.\n")
    assert "## What Is Stored\nviking://~/memories/p" in text and text.endswith(END)
    assert first["reason"] == "ok" and first["estimatedTokens"] > 40
    answers = [preflight(client), preflight(client, phase="full"), begun(client, chatType="direct")]
    assert {shown(answer) for answer in answers} == {text}
    assert answers[0]["messages"] == [{"role": "user", "content": "Hello there."}]
    assert answers[0]["estimatedTokens"] > first["estimatedTokens"]
    assert shown(preflight(client, phase="transform")) == ""


def test_the_birthday_card(sidecar: Callable[..., TestClient]) -> None:
    client = sidecar()
    for fact in ("My name is Mia.", "My mother's name is Elena.", "My mother loves orchids."):
        store(client, fact)
    answer = preflight(client, "new chat", "Write a birthday card for my mother.", phase="full")
    assert "Elena" in shown(answer) and "orchids" in shown(answer)


def test_the_birthday_card_after_a_conversation(start: Start) -> None:
    client = start()
    turn(client, "My mother's name is Elena. My mum's hobby is pottery, and she lives in Turin. My mum loves orchids.")
    client.post("/compact", json={"sessionId": "s1"})
    text = shown(begun(client, "new chat"))
    assert all(word in text for word in ("Elena", "pottery", "orchids"))


def test_nothing_private_in_a_group(sidecar: Callable[..., TestClient]) -> None:
    client = sidecar(start=EVERYTHING)
    store(client, "My name is Mia.")
    for asked in (
        {"chatType": "group"},
        {"runtimeContext": {"chatType": "group"}},
        {"runtimeContext": {"chat_type": "channel"}},
    ):
        for answer in (begun(client, **asked), preflight(client, **asked)):
            assert "Mia" not in shown(answer) and "## Memory Commands" in shown(answer)
    assert "Mia" in shown(begun(client)), "the same session in a private chat"


def test_thirty_turns_with_memory_writes_in_between(sidecar: Callable[..., TestClient]) -> None:
    """The share of the common prefix from request to request is 1.0 within an epoch."""
    client = sidecar()
    store(client, "My name is Mia.")
    prompts = []
    for number in range(30):
        prompts.append(shown(preflight(client, text=f"Turn {number}.")))
        store(client, f"I prefer shade {number} of blue.", pinned=number % 2 == 0)
    assert len(set(prompts)) == 1 and "Mia" in prompts[0]
    assert "shade 29" in shown(begun(client, "another session"))
    client.post("/sessions/reset", json={"sessionId": "s1"})
    assert "shade 28" in shown(preflight(client))


def test_a_session_that_began_with_nothing_goes_on_so_and_learns_at_the_next_epoch(start: Start) -> None:
    client = start()
    assert begun(client) == {"reason": "nothing_to_say", "estimatedTokens": 0}
    turn(client, "My name is Mia. " + "We talked about the harbour for a long time. " * 40)
    store(client, "I prefer tea.")
    assert "systemPromptAddition" not in preflight(client)
    assert client.post("/compact", json={"sessionId": "s1"}).json()["compacted"]
    after = preflight(client, text="And now?")
    assert shown(after).startswith(f"{OPENING}\n## User Profile")
    assert shown(after).partition(f"{END}\n\n")[2].startswith("## Session history"), "the guide to the summary"
    assert shown(begun(client)) == shown(after)


def test_it_survives_a_restart(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", log_level="error")
    with TestClient(create_app(settings)) as client:
        store(client, "My name is Mia.")
        first = shown(begun(client))
        store(client, "I prefer tea.")
    with TestClient(create_app(settings)) as client:
        assert shown(preflight(client)) == first != ""


def test_what_is_forgotten_goes_from_it_at_once(sidecar: Callable[..., TestClient], tmp_path: Path) -> None:
    client = sidecar()
    store(client, "My name is Mia.")
    memory = store(client, "My locker has the number zq7flock.", pinned=True)
    assert "zq7flock" in shown(begun(client))
    receipt = client.delete(f"/memories/{memory['id']}").json()
    assert receipt["kept"] == [] and places_of(tmp_path / "data", "zq7flock") == []
    assert "zq7flock" not in shown(preflight(client)) and "Mia" in shown(preflight(client))
    client.post("/memories/forget", json={"everything": True, "dryRun": False})
    assert shown(preflight(client)) == ""


def test_it_is_within_the_budget_and_a_small_window_is_for_the_conversation(start: Start) -> None:
    client = start()
    store(client, "My name is Mia.")
    for budget in (100, 400, 4_000):
        answer = preflight(client, text="word " * 2_000, tokenBudget=budget, messages=MANY)
        assert answer["estimatedTokens"] <= budget
    assert shown(begun(client, tokenBudget=60)) == "" and shown(begun(client)) != ""


MANY = [
    {"role": role, "content": f"{role} {number} " + "word " * 12, "timestamp": 1_795_298_000_000 + number}
    for number in range(200)
    for role in ("user", "assistant")
][:-1]


def test_a_large_request_gets_it_too(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    client = start(limits={"assemble_ms": 60_000})
    store(client, "My name is Mia.")
    small = preflight(client, messages=MANY)
    monkeypatch.setattr(large, "AT_ONCE_VALUES", 0)
    assert preflight(client, messages=MANY) == small and "Mia" in shown(small)


def test_all_of_it_off_changes_nothing(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read or kept for it, and the answer has the bytes that it has without any of it."""
    client = start(start=ALL_OFF)
    store(client, "My name is Mia.")

    async def never(*_: Any, **__: Any) -> None:
        raise AssertionError("nothing is to be read")

    monkeypatch.setattr(BeginSession, "_made_in_time", never)
    monkeypatch.setattr(type(client.app.state.services.store.starts), "look", never)  # type: ignore[attr-defined]
    body = {"sessionId": "s1", "phase": "preflight", "messages": [{"role": "user", "content": "Hello there."}]}
    expected = {
        "messages": body["messages"],
        "estimatedTokens": 7,
        "reason": "session_not_found",
        "status": "passthrough",
        "recall": None,
        "guards": [],
    }
    answer = client.post("/assemble", json=body)
    assert answer.content == json.dumps(expected, separators=(",", ":")).encode()
    assert begun(client) == {"reason": "nothing_to_say", "estimatedTokens": 0}


def test_the_backend_is_away(start: Start) -> None:
    server = FakeOpenViking()
    with served(server) as url:
        openviking = {"url": url, "user": "mia", "timeout_ms": 500, "breaker_failures": 1_000}
        client = start(backend="openviking", openviking=openviking)
        store(client, "My name is Mia.")
        first = shown(begun(client))
        server.down = True
        assert shown(preflight(client)) == first != ""
        assert begun(client)["reason"] != "nothing_to_say"
        fresh = begun(client, "another")
        assert shown(fresh) in {"", first} and fresh["reason"] != "nothing_to_say"
        server.down = False


def test_a_bypassed_session_begins_with_nothing(start: Start) -> None:
    client = start(routing={"bypass_sessions": ["agent:*:cron:**"]})
    store(client, "My name is Mia.")
    answer = begun(client, sessionKey="agent:main:cron:daily")
    assert answer == {"reason": "session_bypassed", "estimatedTokens": 0}


def test_bad_input_is_named(start: Start) -> None:
    client = start()
    for body, field in (
        ({}, "sessionId"),
        ({"sessionId": "s", "chatType": 7}, "chatType"),
        ({"sessionId": "s", "tokenBudget": 0}, "tokenBudget"),
    ):
        answer = client.post("/sessions/start", json=body)
        assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == field


def test_another_tenant_and_another_reader_begin_with_their_own(start: Start) -> None:
    client = start(routing={"peer_role": "person"})
    store(client, "I prefer tea.", **{"for": "peer", "sessionId": "s1", "senderId": "ann"})
    store(client, "My name is Mia.")
    assert "tea" in shown(begun(client, senderId="ann")) and "Mia" in shown(begun(client, senderId="ann"))
    assert "tea" not in shown(begun(client, senderId="ben"))
    assert begun(client)["reason"] == "missing_sender"
    other = client.post(
        "/sessions/start", json={"sessionId": "s1", "senderId": "ann"}, headers={"X-OpenViking-User": "eve"}
    )
    assert shown(other.json()) == ""
