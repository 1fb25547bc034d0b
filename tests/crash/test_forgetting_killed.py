"""Forgetting while everything else goes on, and with SIGKILL in the middle: the bytes are gone, and nothing else is."""

import itertools
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.crash.harness import Sidecar, meanwhile, messages_of
from tests.scan import places_of

MARK = "orion42"
FACT = f"The name of the vault is {MARK}."


def send_turns(url: str, session: str, over: threading.Event) -> None:
    """A host that sends turns as fast as they are taken."""
    with httpx.Client(trust_env=False, timeout=30) as client:
        for number in itertools.count():
            if over.is_set():
                return
            body = {"sessionId": session, "messages": messages_of(session, number)}
            client.post(f"{url}/after-turn", json=body).raise_for_status()
            if number % 5 == 0:
                client.post(f"{url}/assemble", json=body).raise_for_status()


def told(client: httpx.Client, session: str) -> None:
    said = [
        {"role": "user", "content": f"Remember that the name of the vault is {MARK}. My dog is called Rex."},
        {"role": "assistant", "content": f"Noted: {MARK}."},
    ]
    body: dict[str, Any] = {"sessionId": session, "messages": said, "wait": True}
    client.post("/after-turn", json=body).raise_for_status()


def memories(client: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/memories", params={"limit": 200}).raise_for_status().json()["memories"]
    return [one for one in found if MARK in one["text"]]


def test_nothing_is_left_under_full_load(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "data", LOG_LEVEL="error", TRACE__TEXTS="true") as sidecar:
        sidecar.wait_up()
        hosts = [partial(send_turns, sidecar.url, f"load-{n}") for n in range(2)]
        with httpx.Client(base_url=sidecar.url, timeout=60, trust_env=False) as client, meanwhile(*hosts):
            for round_ in range(3):
                told(client, f"told-{round_}")
                assert places_of(tmp_path / "data", MARK)
                chosen = {"id": memories(client)[0]["id"]} if round_ % 2 else {"session": f"told-{round_}"}
                receipt = client.post("/memories/forget", json={**chosen, "dryRun": False}).raise_for_status().json()
                assert (receipt["kept"], places_of(tmp_path / "data", MARK)) == ([], []), round_


@pytest.mark.parametrize("after_s", [0.0, 0.005, 0.02, 0.05, 0.1])
def test_a_kill_in_the_middle_only_delays_it(tmp_path: Path, after_s: float) -> None:
    with Sidecar(tmp_path / "data", LOG_LEVEL="error") as sidecar:
        sidecar.wait_up()
        with httpx.Client(base_url=sidecar.url, timeout=60, trust_env=False) as client:
            for number in range(50):
                client.post("/memories", json={"text": f"Shelf {number} holds box {number}."}).raise_for_status()
            told(client, "one")
            forget = {"id": memories(client)[0]["id"], "dryRun": False}

            def ask() -> None:
                with suppress(httpx.TransportError):  # the service is killed under it
                    client.post("/memories/forget", json=forget)

            asking = threading.Thread(target=ask)
            asking.start()
            time.sleep(after_s)
            sidecar.kill_and_start()
            asking.join()
            sidecar.wait_up()
        with httpx.Client(base_url=sidecar.url, timeout=60, trust_env=False) as client:
            client.post("/memories/forget", json=forget)  # what a host does that had no answer
            end = time.monotonic() + 30
            while places_of(tmp_path / "data", MARK) and time.monotonic() < end:
                time.sleep(0.1)
            assert places_of(tmp_path / "data", MARK) == []
            kept = client.get("/memories", params={"limit": 200}).json()["memories"]
            assert sum(one["text"].startswith("Shelf") for one in kept) == 50
