"""The real OpenViking dies in the middle of deliveries and commits, and its chat model goes away and comes back."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.crash.harness import Sidecar, drained, expected_texts, talk_all
from tests.integration.conftest import RIG_HOME, OpenViking, Rigs

pytestmark = pytest.mark.rig

# Keeps the commits short: extraction has a write window of ten seconds that can not be changed (rig README).
NO_EXTRACTION = json.dumps({"memory": {"extraction_enabled": False}})
SETTINGS = {"BACKEND": "openviking", "DELIVERY__SETTLE_MS": "3000", "DELIVERY__MAX_BACKOFF_MS": "2000"}


@pytest.fixture(scope="module")
def server(rigs: Rigs) -> Iterator[OpenViking]:
    server = rigs.up("dev", "--fast", "--conf", NO_EXTRACTION)
    yield server
    server.fault(chat="ok")


def test_a_hundred_turns_survive_a_server_that_is_killed(server: OpenViking, tmp_path: Path) -> None:
    sessions, turns = [f"killed-{n}" for n in range(5)], 20
    with Sidecar(tmp_path / "data", OPENVIKING__URL=server.url, **SETTINGS) as sidecar:
        sidecar.wait_up()
        finish = talk_all([sidecar.url], sessions, turns, token_budget=2000, pause=0.5)
        for _ in range(2):
            time.sleep(2.5)
            server.restart(kill=True)
        sidecar.kill_and_start()
        sidecar.wait_up()
        finish()
        drained([sidecar], 90)
    for session in sessions:
        assert everything_in(server.url, session) == expected_texts(session, turns), session


@pytest.mark.parametrize("torn", [False, True], ids=["empty", "torn"])
def test_a_session_is_made_whole_whose_file_was_being_written(server: OpenViking, tmp_path: Path, torn: bool) -> None:
    """What a killed server leaves of the messages that it was writing anew, with one more turn on its way."""
    session, turns = f"cut-{'torn' if torn else 'empty'}", 6
    instance = RIG_HOME / "instances" / server.name
    with Sidecar(tmp_path / "data", OPENVIKING__URL=server.url, OPENVIKING__TIMEOUT_MS="2000", **SETTINGS) as sidecar:
        sidecar.wait_up()
        talk_all([sidecar.url], [session], turns - 1, token_budget=200_000)()
        drained([sidecar], 60)
        os.kill(json.loads((instance / "server.pid").read_text())["pid"], signal.SIGSTOP)
        talk_all([sidecar.url], [session], turns, token_budget=200_000)()
        while not any(turn["attempts"] for turn in sidecar.undelivered()):
            time.sleep(0.1)
        [live] = instance.glob(f"data/**/{session}/messages.jsonl")
        whole = live.read_bytes()
        live.write_bytes(whole[: whole.rindex("é".encode()) + 1] if torn else b"")  # within a character
        server.restart(kill=True)
        drained([sidecar], 90)
    assert everything_in(server.url, session) == expected_texts(session, turns)


def test_the_history_stays_visible_while_the_model_is_down_and_is_extracted_when_it_is_back(
    server: OpenViking, tmp_path: Path
) -> None:
    with Sidecar(tmp_path / "data", OPENVIKING__URL=server.url, **SETTINGS) as sidecar:
        sidecar.wait_up()
        with httpx.Client(base_url=sidecar.url, trust_env=False, timeout=120) as host:
            spoken = conversation()
            accepted = host.post("/after-turn", json={"sessionId": "blank", "messages": spoken, "wait": True})
            assert accepted.json()["delivery"] == "delivered", accepted.text
            server.fault(chat="down")
            failed = host.post("/compact", json={"sessionId": "blank"}).json()
            assert (failed["ok"], failed["reason"], failed["compacted"]) == (False, "commit_failed", False)
            assert (failed["result"]["details"]["archived"], failed["result"]["details"]["extracted"]) == (True, False)
            assert "Lighthouse" in history_of(host, spoken) and "Lighthouse" in history_of(host, [])
            server.fault(chat="ok")
            extracted = wait_for_summary(host, 90)
            assert "Lighthouse" in extracted
            assert "Working Memory" in history_of(host, spoken)


def conversation() -> list[dict[str, Any]]:
    """A few messages with something to lose."""
    said = ["We call the project Lighthouse.", "Noted.", "The deploy failed with exit code 7.", "I fixed the mount."]
    roles = ("user", "assistant")
    now = int(time.time() * 1000)
    return [{"role": roles[i % 2], "content": text, "timestamp": now + i} for i, text in enumerate(said)]


def history_of(host: httpx.Client, messages: list[dict[str, Any]]) -> str:
    """What the model would see of the session, as one text."""
    body = {"sessionId": "blank", "messages": messages, "phase": "preflight"}
    answer = host.post("/assemble", json=body).raise_for_status().json()
    return json.dumps(answer["messages"], ensure_ascii=False)


def wait_for_summary(host: httpx.Client, seconds: float) -> str:
    """The past once the model's own summary stands in it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        history = history_of(host, [])
        if "Working Memory" in history:
            return history
        time.sleep(0.5)
    raise AssertionError(f"no summary yet: {history}")


def everything_in(url: str, session: str) -> list[str]:
    """All texts of a session in the order of the server's own files, archives first."""
    home = f"viking://~/sessions/{session}"
    params = {"uri": f"{home}/history", "output": "original", "node_limit": "1000"}
    with httpx.Client(base_url=url, trust_env=False, timeout=30) as client:
        listing = client.get("/api/v1/fs/tree", params=params)
        entries = listing.json()["result"] if listing.is_success else []
        archives = sorted(e["rel_path"] for e in entries if e["rel_path"].endswith("messages.jsonl"))
        files = [*(f"{home}/history/{path}" for path in archives), f"{home}/messages.jsonl"]
        texts: list[str] = []
        for uri in files:
            found = client.get("/api/v1/content/read", params={"uri": uri})
            if found.is_success:
                lines = [json.loads(line) for line in found.json()["result"].splitlines() if line.strip()]
                texts += ["".join(part.get("text") or "" for part in line["parts"]) for line in lines]
        return texts
