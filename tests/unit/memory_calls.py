"""A whole sidecar on the embedded engine, and its memories by their calls."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from app.factory import create_app
from app.settings import Settings

EMBEDDER = {"embedder": {"kind": "none"}}


@contextmanager
def served(data: Path) -> Iterator[TestClient]:
    settings = Settings(_env_file=None, data_dir=data, log_level="error", embedded=EMBEDDER)
    with TestClient(create_app(settings)) as client:
        yield client


def stored(client: TestClient, text: str, session: str = "one", **fields: Any) -> str:
    asked = {"text": text, "category": "notes", "sessionId": session, **fields}
    answer = client.post("/memories", json=asked)
    assert answer.status_code in (200, 201), answer.text
    return str(answer.json()["id"])


def changed(client: TestClient, memory_id: str, **fields: Any) -> None:
    assert client.patch(f"/memories/{memory_id}", json=fields).status_code == 200


def read(client: TestClient, memory_id: str) -> dict[str, Any]:
    answer = client.get(f"/memories/{memory_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def listed(client: TestClient, **wanted: Any) -> list[str]:
    return sorted(one["id"] for one in client.get("/memories", params=wanted).json()["memories"])


def exported(client: TestClient) -> dict[str, dict[str, Any]]:
    lines = map(json.loads, client.get("/memories/export").text.splitlines())
    return {line["id"]: line for line in lines}


def imported(client: TestClient, *lines: dict[str, Any]) -> dict[str, Any]:
    headers = {"Content-Type": "application/x-ndjson"}
    answer = client.post("/memories/import", content="\n".join(map(json.dumps, lines)), headers=headers)
    found: dict[str, Any] = answer.json()
    return found


def line(memory_id: str, text: str, at: str = "2026-03-04T09:00:00.000Z", **fields: Any) -> dict[str, Any]:
    return {"id": memory_id, "text": text, "category": "notes", "createdAt": at, "updatedAt": at, **fields}


def sessions(memory: dict[str, Any]) -> set[str]:
    return {source["session"] for source in memory["sources"] if source["session"]}


def duplicates(client: TestClient) -> list[set[str]]:
    report = client.post("/memories/freshness", json={}).json()
    return [set(one["ids"]) for one in report["duplicates"]]


def recalled(client: TestClient, query: str) -> str:
    asked = {"sessionId": "another", "messages": [{"role": "user", "content": query}], "tokenBudget": 8_000}
    return str(client.post("/assemble", json=asked).json()["contextBlock"])
