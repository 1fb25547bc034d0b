"""SIGKILL in the middle of an import: what was accepted goes on, nothing is doubled, nothing is half there."""

import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from tests.contract.openviking import FakeOpenViking, served
from tests.crash.harness import Sidecar
from tests.http.test_resources import zipped

FILES = 250
KILLS = 4


def folder(files: int = FILES) -> bytes:
    def page(number: int) -> str:
        parts = (f"## Part {part}\n\nGauge {number}-{part} hangs in hall {part}.\n" for part in range(30))
        return f"# Page {number}\n\n" + "\n".join(parts)

    return zipped({f"pages/{number}.md": page(number) for number in range(files)})


def test_an_import_that_was_accepted_goes_on_after_every_kill(tmp_path: Path) -> None:
    with Sidecar(tmp_path / "data", LOG_LEVEL="error", EMBEDDED__EMBEDDER__KIND="none") as sidecar:
        sidecar.wait_up()
        with httpx.Client(base_url=sidecar.url, timeout=120, trust_env=False) as client:
            answer = client.post("/resources", files={"file": ("handbook.zip", folder())}, data={"to": "handbook"})
            assert answer.status_code == 202, answer.text
            task = f"/resources/tasks/{answer.json()['taskId']}"
            for _ in range(KILLS):
                sidecar.kill_and_start()
                sidecar.wait_up()
                listed = client.get("/resources").json()["resources"]
                assert [one["uri"] for one in listed] == ["viking://~/resources/handbook"], listed
                if found(client, "gauge hangs in hall"):
                    [whole] = client.get("/resources", params={"uri": answer.json()["uri"]}).json()["resources"]
                    assert len(whole["documents"]) == FILES
            status = ended(client, task)
            assert status["status"] == "ready", status
            [whole] = client.get("/resources", params={"uri": answer.json()["uri"]}).json()["resources"]
            assert len(whole["documents"]) == len(set(whole["documents"])) == FILES
            for number in (0, FILES // 2, FILES - 1):
                texts = [one["text"] for one in found(client, f"page {number} gauge {number}-7")[0]["passages"]]
                assert len(texts) == len(set(texts)) and any(f"Gauge {number}-7 " in text for text in texts)
            assert client.delete("/resources", params={"uri": answer.json()["uri"]}).status_code == 200
            sidecar.kill_and_start()
            sidecar.wait_up()
            assert client.get("/resources").json()["resources"] == [] and found(client, "gauge in hall") == []
    assert not list((tmp_path / "data" / "incoming").iterdir())


KILLED_AT = {1, 2, 4}
"""Requests with documents at which the sidecar is killed: the server carries them out all the same."""


def test_an_import_to_openviking_goes_on_after_every_kill_and_doubles_nothing(tmp_path: Path) -> None:
    server, files, seen = FakeOpenViking(), 60, Counter[str]()
    with (
        served(server) as url,
        Sidecar(tmp_path / "data", LOG_LEVEL="error", BACKEND="openviking", OPENVIKING__URL=url) as sidecar,
        httpx.Client(base_url=sidecar.url, timeout=120, trust_env=False) as client,
    ):

        def killing(request: httpx.Request) -> None:
            seen[request.url.path] += request.method == "POST"
            if request.url.path == "/api/v1/resources" and seen[request.url.path] in KILLED_AT:
                sidecar.kill_and_start()

        sidecar.wait_up()
        server.before = killing
        answer = client.post("/resources", files={"file": ("handbook.zip", folder(files))}, data={"to": "handbook"})
        assert answer.status_code == 202, answer.text
        halves = 0
        end = time.monotonic() + 300
        status = {"status": "processing"}
        while status["status"] == "processing":
            assert time.monotonic() < end, status
            try:
                if found(client, "gauge hangs in hall"):
                    [whole] = client.get("/resources", params={"uri": answer.json()["uri"]}).json()["resources"]
                    halves += len(whole["documents"]) != files
                status = client.get(f"/resources/tasks/{answer.json()['taskId']}").json()
            except httpx.TransportError:
                time.sleep(0.05)  # it is killed, or starting
        assert sidecar.kills == len(KILLED_AT) and status["status"] == "ready", status
        assert not halves, "shown before all of it was there"
        gauges = Counter(one for text in server.files.values() for one in re.findall(r"Gauge \d+-\d+", text))
        assert len(gauges) == files * 30 and set(gauges.values()) == {1}
        [whole] = client.get("/resources", params={"uri": answer.json()["uri"]}).json()["resources"]
        assert len(whole["documents"]) == files
        assert client.delete("/resources", params={"uri": answer.json()["uri"]}).status_code == 200
        assert server.files == {}


def found(client: httpx.Client, query: str) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = client.get("/resources", params={"query": query}).json()["resources"]
    return hits


def ended(client: httpx.Client, task: str) -> dict[str, Any]:
    end = time.monotonic() + 300
    while (status := client.get(task).json())["status"] == "processing" and time.monotonic() < end:
        time.sleep(0.1)
    answer: dict[str, Any] = status
    return answer
