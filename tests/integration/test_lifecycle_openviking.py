"""Twelve turns with tools, in English and Chinese, on the real OpenViking: captured, compacted, recalled."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.factory import create_app
from app.settings import Settings
from tests.integration.conftest import OpenViking, Rigs
from tests.rules import check_rules

T0 = 1_795_298_000_000

SAID = [
    ("I prefer oolong tea without sugar.", "Oolong, no sugar."),
    ("My name is Mira and I live in Porto.", "Nice to meet you, Mira."),
    ("Please list the files.", None),
    ("我喜欢用深色主题写代码。", "深色主题,记下了。"),
    ("We decided to release Falcon on Thursday.", "Thursday it is."),
    ("请看一下日志。", None),
    ("Falcon is our internal deploy tool.", "Noted."),
    ("我们决定把数据库换成 PostgreSQL。", "好的,换成 PostgreSQL。"),
    ("Run the tests once more.", None),
    ("I always use four spaces:\n\n    def f():\n        return 1", "Four spaces,\nthen."),
    ("我住在里斯本。", "里斯本。"),
    ("What is left for today?", "Nothing, we are done."),
]


def turns() -> list[list[dict[str, Any]]]:
    made = []
    for number, (question, answer) in enumerate(SAID):
        at = T0 + number * 60_000
        messages: list[dict[str, Any]] = [{"role": "user", "content": question, "timestamp": at}]
        if answer is None:
            call = {
                "type": "toolCall",
                "id": f"call_{number}",
                "name": "exec",
                "arguments": {"command": f"step {number}"},
            }
            output = [{"type": "text", "text": f"out {number}\nsecond line 第二行"}]
            messages += [
                {"role": "assistant", "content": [call], "timestamp": at + 1000},
                {
                    "role": "toolResult",
                    "toolCallId": call["id"],
                    "toolName": "exec",
                    "content": output,
                    "timestamp": at + 2000,
                },
            ]
            answer = f"Done with step {number}."
        messages.append({"role": "assistant", "content": [{"type": "text", "text": answer}], "timestamp": at + 3000})
        made.append(messages)
    return made


class Host:
    """What a host does for one user."""

    def __init__(self, client: TestClient, account: str | None = None, user: str | None = None) -> None:
        self._client = client
        pairs = {"X-OpenViking-Account": account, "X-OpenViking-User": user}
        self._headers = {name: value for name, value in pairs.items() if value}

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self._client.post(path, json=body, headers=self._headers)
        assert answer.status_code == 200, answer.text
        decoded: dict[str, Any] = answer.json()
        return decoded

    def assemble(self, body: dict[str, Any]) -> dict[str, Any]:
        return self.post("/assemble", **body)

    def tell(self, session: str, made: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
        history: list[dict[str, Any]] = []
        for number, messages in enumerate(made):
            answer = self.post(
                "/after-turn",
                sessionId=session,
                messages=[*history, *messages],
                prePromptMessageCount=len(history),
                advancementKey=f"{session}-{number}",
                wait=True,
                deadlineMs=60_000,
            )
            assert (answer["status"], answer["delivery"]) == ("committed", "delivered"), answer
            history += messages
        return history


def sidecar(server: OpenViking, data_dir: Path, **openviking: Any) -> TestClient:
    settings = Settings(
        _env_file=None,
        backend="openviking",
        data_dir=data_dir,
        log_level="error",
        openviking=server.settings(**openviking).model_dump(),
        recall={"timeout_ms": 30_000},
        limits={"assemble_ms": 30_000},
    )
    return TestClient(create_app(settings))


@pytest.fixture(scope="module", params=["api_key", "dev", "trusted"])
def server(request: pytest.FixtureRequest, rigs: Rigs) -> OpenViking:
    return rigs.up(request.param, "--fast")


@pytest.fixture(scope="module")
def client(server: OpenViking, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with sidecar(server, tmp_path_factory.mktemp("sidecar") / "data") as opened:
        yield opened


@pytest.mark.rig
def test_a_session_is_captured_compacted_and_recalled(server: OpenViking, client: TestClient) -> None:
    account, user, other = ("acme", "alice", "bob") if server.auth != "dev" else ("default", "alice", "bob")
    alice, bob = Host(client, account, user), Host(client, account, other)
    session = f"life-{server.auth}"
    history = alice.tell(session, turns())

    rebuilt = alice.post("/assemble", sessionId=session, phase="preflight", messages=[])
    text = json.dumps(rebuilt["messages"], ensure_ascii=False)
    assert "def f():\\n        return 1" in text
    assert "out 2\\nsecond line 第二行" in text
    assert len([m for m in rebuilt["messages"] if m["role"] == "toolResult"]) == 3

    compacted = alice.post("/compact", sessionId=session, keepRecentCount=4, deadlineMs=60_000)
    assert (compacted["ok"], compacted["compacted"], compacted["reason"]) == (True, True, "commit_completed"), compacted
    assert "oolong" in compacted["result"]["summary"]

    live = [*history, {"role": "user", "content": "And tomorrow?", "timestamp": T0 + 10_000_000}]
    history = check_rules(alice.assemble, {"sessionId": session, "phase": "preflight", "messages": live})
    assert history["messages"][0]["content"].startswith("[Session History Summary]")
    assert history["messages"][-1] == live[-1]
    assert 4 < len(history["messages"]) < len(live)
    assert all(message in live for message in history["messages"] if message["role"] == "toolResult")

    server.settle(user)
    for question, fact in (("Which tea do I prefer, oolong or green?", "oolong"), ("我喜欢什么主题?", "深色主题")):
        asked = {"sessionId": f"new-{server.auth}", "messages": [{"role": "user", "content": question}]}
        recalled = check_rules(alice.assemble, asked)
        assert fact in recalled["contextBlock"], recalled
        hidden = bob.assemble(asked)
        assert (hidden["status"], hidden["reason"]) == ("passthrough", "no_recall_hits"), hidden
    assert bob.assemble({"sessionId": session, "phase": "preflight", "messages": []})["messages"] == []


@pytest.mark.rig
def test_a_tenant_without_a_key_gets_nothing_and_loses_nothing(rigs: Rigs, tmp_path: Path) -> None:
    server = rigs.up("api_key", "--fast")
    alone = json.dumps({"acme/alice": server.users["alice"]["X-API-Key"]})
    with sidecar(server, tmp_path / "data", api_keys=alone) as client:
        bob = Host(client, "acme", "bob")
        answer = bob.assemble({"sessionId": "s", "messages": [{"role": "user", "content": "Which tea do I prefer?"}]})
        assert (answer["status"], answer["reason"]) == ("passthrough", "openviking_rejected")
        kept = bob.post(
            "/after-turn",
            sessionId="s",
            messages=[{"role": "user", "content": "I prefer mate."}],
            wait=True,
            deadlineMs=2_000,
        )
        assert (kept["status"], kept["delivery"]) == ("committed", "queued")
        [waiting] = client.get(
            "/deliveries?state=pending", headers={"X-OpenViking-User": "bob", "X-OpenViking-Account": "acme"}
        ).json()["deliveries"]
        assert waiting["turnId"] == kept["turnId"]
