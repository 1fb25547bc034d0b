"""The real OpenViking as a child of ``serve``: either is killed while hosts talk; no turn is lost, no process left."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.local import processes
from tests.crash.harness import Sidecar, drained, expected_texts, talk_all
from tests.crash.test_real_openviking import everything_in
from tests.integration.conftest import RIG_HOME, Rigs
from tests.process import free_port

pytestmark = pytest.mark.rig

PYTHON = RIG_HOME / "venvs" / "server" / "bin" / "python"
WITHIN_S = 120


def ov_conf(workspace: Path, provider: str) -> dict[str, Any]:
    """The least that OpenViking starts with: where it keeps things, and models."""
    model = {"provider": "openai", "api_key": "unused", "api_base": f"{provider}/v1"}
    return {
        "server": {"auth_mode": "dev"},
        "storage": {"workspace": str(workspace)},
        "embedding": {"dense": {**model, "model": "multilingual-e5-small", "dimension": 384}},
        "vlm": {**model, "model": "scripted", "max_retries": 0},
        "memory": {"extraction_enabled": False},
    }


def child_of(data_dir: Path, other_than: str = "") -> dict[str, str]:
    """What the sidecar has written down of its child, once that one answers."""
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end:
        try:
            record: dict[str, str] = json.loads((data_dir / "openviking.json").read_text())
            if record["process"] != other_than and httpx.get(f"{record['url']}/health", trust_env=False).is_success:
                return record
        except (OSError, httpx.TransportError):
            pass
        time.sleep(0.1)
    raise AssertionError("OpenViking does not come up")


def test_no_turn_is_lost_and_no_process_left(rigs: Rigs, tmp_path: Path) -> None:
    provider = rigs.up("dev", "--fast").provider_url
    (tmp_path / "ov.conf").write_text(json.dumps(ov_conf(tmp_path / "workspace", provider)))
    data, sessions, turns = tmp_path / "data", ["local-a", "local-b"], 20
    settings = {
        "LOCAL__PYTHON": str(PYTHON),
        "LOCAL__CONFIG": str(tmp_path / "ov.conf"),
        "OPENVIKING__URL": f"http://127.0.0.1:{free_port()}",
        "DELIVERY__SETTLE_MS": "3000",
    }
    with Sidecar(data, "--with-openviking", **settings) as sidecar:
        sidecar.wait_up()
        first = child_of(data)
        finish = talk_all([sidecar.url], sessions, turns, token_budget=2000, pause=1.0)
        os.kill(int(first["process"].split("/")[1]), signal.SIGKILL)
        second = child_of(data, first["process"])
        sidecar.kill_and_start()
        sidecar.wait_up()
        third = child_of(data, second["process"])
        finish()
        drained([sidecar], 90)
        assert [processes.is_gone(each["process"]) for each in (first, second, third)] == [True, True, False]
        for session in sessions:
            assert everything_in(third["url"], session) == expected_texts(session, turns), session
        sidecar.terminate()
        assert processes.is_gone(third["process"])
        assert not (data / "openviking.json").exists()
        log = [json.loads(line) for line in sidecar.log().splitlines()]
        assert any("openviking" in line.get("line", "").lower() for line in log), "its log is passed on"
