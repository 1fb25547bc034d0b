"""What a backend holds, read from the backend itself and not through the sidecar: every message of every session."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx


@dataclass(frozen=True)
class StoredTool:
    """A tool call with its result."""

    name: str
    input: Any
    output: str | None


@dataclass(frozen=True)
class StoredMessage:
    """A message as it is stored, live or archived, in the order of its session."""

    session: str
    role: str
    text: str
    tools: tuple[StoredTool, ...] = field(default=())


def in_embedded(data_dir: Path) -> list[StoredMessage]:
    """From the transcripts of the embedded backend."""
    return [
        _embedded_message(path.stem, entry)
        for path in sorted(data_dir.glob("accounts/*/*/sessions/*.jsonl"))
        for entry in map(json.loads, path.read_text().splitlines())
        if entry["type"] == "message"
    ]


def _embedded_message(session: str, entry: dict[str, Any]) -> StoredMessage:
    text = "\n".join(part["text"] for part in entry["content"] if part["type"] == "text")
    tools = [part for part in entry["content"] if part["type"] == "tool"]
    parts = tuple(StoredTool(tool["name"], tool["input"], tool["output"]) for tool in tools)
    return StoredMessage(session, entry["role"], text, parts)


def in_openviking(url: str, headers: dict[str, str]) -> list[StoredMessage]:
    """From the HTTP API of OpenViking: the raw messages of each archive, then the live ones."""
    with httpx.Client(base_url=f"{url}/api/v1", headers=headers, timeout=30, trust_env=False) as client:
        sessions = [session["session_id"] for session in _result(client.get("/sessions"))]
        return [
            _openviking_message(session, message)
            for session in sessions
            for message in _openviking_messages(client, session)
        ]


def _openviking_messages(client: httpx.Client, session: str) -> Iterator[dict[str, Any]]:
    home = f"viking://~/sessions/{session}"
    for number in range(1, 1000):
        uri = f"{home}/history/archive_{number:03d}/messages.jsonl"
        answer = client.get("/content/read", params={"uri": uri})
        if answer.status_code != 200:
            break
        yield from map(json.loads, str(_result(answer)).splitlines())
    live = client.get("/content/read", params={"uri": f"{home}/messages.jsonl"})
    if live.status_code == 200:
        yield from map(json.loads, str(_result(live)).splitlines())


def _openviking_message(session: str, message: dict[str, Any]) -> StoredMessage:
    text = "\n".join(part["text"] for part in message["parts"] if part["type"] == "text")
    tools = [part for part in message["parts"] if part["type"] == "tool"]
    parts = tuple(StoredTool(tool["tool_name"], tool["tool_input"], tool.get("tool_output")) for tool in tools)
    return StoredMessage(session, message["role"], text, parts)


def _result(response: httpx.Response) -> Any:
    return response.raise_for_status().json()["result"]
