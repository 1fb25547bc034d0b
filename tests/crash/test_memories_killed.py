"""SIGKILL right after an answer: what `/memories` said is so, and what a turn asked to remember, is still so."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.openviking import FakeOpenViking, served
from tests.crash.harness import Sidecar


@pytest.fixture(params=["embedded", "openviking"])
def backend(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Settings of a sidecar on this backend."""
    if request.param == "embedded":
        yield {}
        return
    with served(FakeOpenViking()) as url:
        yield {"BACKEND": "openviking", "OPENVIKING__URL": url}


def recalled(client: httpx.Client, question: str) -> str:
    body = {"sessionId": "another", "messages": [{"role": "user", "content": question}]}
    return str(client.post("/assemble", json=body).json().get("contextBlock") or "")


def test_what_was_acknowledged_is_recalled_after_a_kill(tmp_path: Path, backend: dict[str, str]) -> None:
    with Sidecar(tmp_path / "data", LOG_LEVEL="error", **backend) as sidecar:
        sidecar.wait_up()
        with httpx.Client(base_url=sidecar.url, timeout=30) as client:
            stored: list[dict[str, Any]] = []
            for number in range(3):
                answer = client.post("/memories", json={"text": f"The spare key {number} hangs on hook {number}77."})
                assert answer.status_code == 201
                stored.append(answer.json())
                sidecar.kill_and_start()
                sidecar.wait_up()
                assert f"{number}77" in recalled(client, f"On which hook hangs the spare key {number}?")
            path = f"/memories/{stored[0]['id']}"
            assert client.patch(path, json={"text": "The spare key 0 hangs on hook 999."}).status_code == 200
            assert client.delete(f"/memories/{stored[1]['id']}").status_code == 200
            turn = {"sessionId": "one", "messages": [{"role": "user", "content": "Remember that my badge is 5512."}]}
            assert client.post("/after-turn", json=turn).status_code == 200
            sidecar.kill_and_start()
            sidecar.wait_up()
            found = recalled(client, "On which hook hangs the spare key?")
            assert "999" in found and "077" not in found and "177" not in found
            assert "5512" in recalled(client, "What is my badge?")
            assert client.get(path).json()["version"] == 2
            assert client.get(f"/memories/{stored[1]['id']}").status_code == 404


def test_what_openviking_did_not_get_is_recalled_after_a_kill_and_delivered_later(tmp_path: Path) -> None:
    server = FakeOpenViking(down=True)
    with served(server) as url:
        settings = {"BACKEND": "openviking", "OPENVIKING__URL": url, "DELIVERY__MAX_BACKOFF_MS": "200"}
        with (
            Sidecar(tmp_path / "data", LOG_LEVEL="error", **settings) as sidecar,
            httpx.Client(base_url=sidecar.url, timeout=30) as client,
        ):
            sidecar.wait_up()
            memory = client.post("/memories", json={"text": "The lighthouse has nine steps."}).json()
            assert client.patch(f"/memories/{memory['id']}", json={"text": "The lighthouse has 99 steps."}).is_success
            other = client.post("/memories", json={"text": "The boat is called Bartholomew."}).json()
            assert client.delete(f"/memories/{other['id']}").status_code == 200
            sidecar.kill_and_start()
            sidecar.wait_up()
            assert "99 steps" in recalled(client, "How many steps has the lighthouse?")
            assert "Bartholomew" not in recalled(client, "What is the boat called?")
            server.down = False
            until = time.monotonic() + 30
            while list(server.files.values()) != ["The lighthouse has 99 steps."]:
                assert time.monotonic() < until, server.files
            assert "99 steps" in recalled(client, "How many steps has the lighthouse?")
