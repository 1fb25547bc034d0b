"""SIGKILL right after an answer: what `/memories` said is so, and what a turn asked to remember, is still so."""

from pathlib import Path
from typing import Any

import httpx

from tests.crash.harness import Sidecar


def recalled(client: httpx.Client, question: str) -> str:
    body = {"sessionId": "another", "messages": [{"role": "user", "content": question}]}
    return str(client.post("/assemble", json=body).json().get("contextBlock") or "")


def test_what_was_acknowledged_is_recalled_after_a_kill(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "data", LOG_LEVEL="error") as sidecar:
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
