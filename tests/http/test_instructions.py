"""`customInstructions` of `/compact`: of what is archived, the lines that they ask for stay in the summary."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start
from tests.http.test_lifecycle import FACT, post, said, turn, user
from tests.unit.memory_backend import MemoryBackend

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("port", [None, MemoryBackend], ids=["embedded", "another backend"])
def test_what_instructions_ask_for_stays_in_the_summary(start: Start, port: Any) -> None:
    client = start(port=port and port())
    port_fact = "The staging database listens on port 6543."
    messages = [user(port_fact, 1), said("Noted.", 2)]
    for number in range(40):
        messages += [user(f"Chapter {number}: the ship went on over the sea with cargo {number}.", 10 + number * 2)]
        messages += [said(f"Chapter {number} is written, the harbour is near.", 11 + number * 2)]
    turn(client, messages)
    words = "Keep everything about the database and its port."
    answer = post(client, "/compact", {"sessionId": "s1", "customInstructions": words})
    assert answer["result"]["details"]["instructionsUsed"] is True
    assert f"## Asked to be kept\n- {port_fact}" in answer["result"]["summary"]
    assert "cargo" not in answer["result"]["summary"].partition("## Asked to be kept")[2]
    shown = post(client, "/assemble", {"sessionId": "s1", "phase": "preflight", "messages": messages})
    assert f"## Asked to be kept\n- {port_fact}" in shown["messages"][0]["content"]
    again = post(client, "/compact", {"sessionId": "s1", "customInstructions": words})
    assert again["result"]["details"]["instructionsUsed"] is False


def test_the_backend_is_told_them_with_the_commit_under_the_policy(start: Start) -> None:
    port = MemoryBackend()
    client = start(port=port)
    turn(client, FACT)
    post(client, "/compact", {"sessionId": "s1", "customInstructions": f"Keep the tea, and {SECRET}."})
    post(client, "/compact", {"sessionId": "s1"})
    (told,) = filter(None, port.instructions)
    assert told.startswith("Keep the tea, and ") and SECRET not in told


def test_instructions_that_nothing_fits_were_not_used(client: TestClient) -> None:
    turn(client, FACT)
    answer = post(client, "/compact", {"sessionId": "s1", "customInstructions": "Nuclear reactors?"})
    assert answer["result"]["details"]["instructionsUsed"] is False
    assert "Asked to be kept" not in answer["result"]["summary"]


def test_what_was_kept_is_forgotten_with_everything(client: TestClient) -> None:
    turn(client, FACT)
    kept = post(client, "/compact", {"sessionId": "s1", "customInstructions": "Keep the tea."})
    assert "Kyoto" in kept["result"]["summary"]
    post(client, "/memories/forget", {"everything": True, "dryRun": False})
    shown = post(client, "/assemble", {"sessionId": "s1", "phase": "preflight", "messages": []})
    assert "Kyoto" not in json.dumps(shown)
