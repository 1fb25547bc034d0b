"""Where persons are peers, what one of them says is theirs: another is told nothing of it, before a commit or after."""

import time
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start

SAID = [
    "My boat at the Hamburg harbour is called KESTREL-77 and I live in Lisbon.",
    "I am allergic to penicillin. I prefer tea without sugar.",
    "Puffinette is our deployment tool.",
]
ASKED = [
    "What is my boat at the Hamburg harbour called?",
    "Which allergy do I have?",
    "Which tea do I prefer?",
    "What is our deployment tool, Puffinette?",
    "Where do I live?",
]
SECRETS = ("KESTREL-77", "Lisbon", "penicillin", "sugar", "Puffinette is")


@pytest.fixture
def persons(start: Start) -> TestClient:
    """Alice said it all, and her session is committed."""
    client = start(routing={"peer_role": "person"})
    tell(client, "alice", "s1", SAID)
    return client


def tell(client: TestClient, sender: str, session: str, said: list[str]) -> None:
    scope = {"sessionId": session, "agentId": "a1", "senderId": sender}
    for text in said:
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
        assert client.post("/after-turn", json={**scope, "wait": True, "messages": messages}).status_code == 200
    assert client.post("/sessions/end", json=scope).json()["ok"]
    deadline = time.monotonic() + 20
    while not learnt(client) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)


def learnt(client: TestClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/memories").json()["memories"]
    return found


def shown_to(client: TestClient, sender: str, **more: Any) -> str:
    """Everything that a session of this person is shown."""
    scope = {"sessionId": f"of-{sender}", "agentId": "a1", "senderId": sender, **more}
    answers = [client.post("/sessions/start", json=scope)]
    for question in ASKED:
        body = {**scope, "inject": "block", "messages": [{"role": "user", "content": question}]}
        answers.append(client.post("/assemble", json=body))
        asked = {**scope, "arguments": {"query": question}}
        answers += [client.post(f"/tools/{tool}", json=asked) for tool in ("memory_recall", "ov_search")]
    answers.append(client.post("/tools/ov_ls", json={**scope, "arguments": {}}))
    answers.append(client.post("/tools/ov_ls", json={**scope, "arguments": {"uri": "viking://~/memories/profile.md"}}))
    assert {answer.status_code for answer in answers} == {200}
    return "\n".join(answer.text for answer in answers)


def test_another_person_is_told_nothing(persons: TestClient) -> None:
    assert {one["category"] for one in learnt(persons)} >= {"profile", "entities", "preferences"}
    assert {one["peer"] for one in learnt(persons)} == {"alice"}
    seen = shown_to(persons, "bob")
    assert not [secret for secret in SECRETS if secret in seen]


def test_who_said_it_is_told_all_of_it(persons: TestClient) -> None:
    seen = shown_to(persons, "alice")
    assert [secret for secret in SECRETS if secret not in seen] == []
    begun = persons.post("/sessions/start", json={"sessionId": "s9", "agentId": "a1", "senderId": "alice"}).json()
    assert "## User Profile" in begun["systemPromptAddition"] and "penicillin" in begun["systemPromptAddition"]


def test_a_group_chat_begins_without_a_profile(persons: TestClient) -> None:
    scope = {"sessionId": "g1", "agentId": "a1", "senderId": "alice", "chatType": "group"}
    assert "penicillin" not in persons.post("/sessions/start", json=scope).text


def test_notes_of_the_day_say_nothing_of_persons(start: Start) -> None:
    client = start(routing={"peer_role": "person"}, start={"notes": True})
    tell(client, "alice", "s1", SAID)
    seen = shown_to(client, "bob")
    assert not [secret for secret in SECRETS if secret in seen]


def test_it_stays_so_when_the_service_is_started_again(start: Start) -> None:
    tell(start(routing={"peer_role": "person"}), "alice", "s1", SAID)
    for role in ("person", "assistant"):
        assert {one["peer"] for one in learnt(start(routing={"peer_role": role}))} == {"alice"}


def test_what_is_stored_for_a_peer_stays_there(start: Start) -> None:
    body = {"text": "The dog is called Rexine.", "category": "entities", "for": "peer"}
    start(routing={"peer_role": "person"}).post("/memories", json={**body, "sessionId": "s1", "senderId": "alice"})
    assert [one["peer"] for one in learnt(start(routing={"peer_role": "person"}))] == ["alice"]


def test_each_person_has_a_profile_of_their_own(persons: TestClient) -> None:
    scope = {"sessionId": "s2", "agentId": "a1", "senderId": "bob"}
    tell(persons, "bob", "s2", ["I live in Oslo.", "My name is Bob."])
    deadline = time.monotonic() + 20
    while "Oslo" not in str(learnt(persons)) and time.monotonic() < deadline:
        time.sleep(0.05)
    held = {(one["peer"], place) for one in learnt(persons) for place in ("Oslo", "Lisbon") if place in one["text"]}
    assert held == {("bob", "Oslo"), ("alice", "Lisbon")}
    begun = persons.post("/sessions/start", json={**scope, "sessionId": "s8"}).json()["systemPromptAddition"]
    assert "Oslo" in begun and "Lisbon" not in begun


def test_forgetting_a_person_takes_what_they_said(persons: TestClient) -> None:
    receipt = persons.post("/memories/forget", json={"person": "alice", "dryRun": False}).json()
    assert receipt["kept"] == []
    assert learnt(persons) == []
