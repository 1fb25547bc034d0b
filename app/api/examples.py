"""One example request and answer per endpoint: they work as they stand in Swagger UI, and are kept in ``openapi/``.

The answers are what the service said when the requests were sent to it in this order: ``make openapi`` records them in
``answers.json``, and a test sends the requests again and compares.
"""

import json
from importlib.resources import files
from typing import Any, NamedTuple

NDJSON = "application/x-ndjson"

_SCOPE: dict[str, Any] = {
    "sessionId": "7f1c1a52-6d1e-4f6e-9d0b-3f1b8f6c2a10",
    "sessionKey": "agent:main:chat",
    "senderId": "mia",
}

AFTER_TURN_REQUEST: dict[str, Any] = {
    **_SCOPE,
    "prePromptMessageCount": 0,
    "advancementKey": "turn-0001",
    "tokenBudget": 128000,
    "wait": True,
    "messages": [
        {
            "role": "user",
            "content": "I prefer short answers with code. We decided to ship Atlas on Friday.",
            "timestamp": 1795298001000,
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Noted: short answers with code, Atlas ships on Friday."}],
            "timestamp": 1795298003000,
        },
    ],
}

ASSEMBLE_REQUEST: dict[str, Any] = {
    **_SCOPE,
    "phase": "transform",
    "messages": [{"role": "user", "content": "When does Atlas ship, and how do I like my answers?"}],
}

PREFLIGHT_REQUEST: dict[str, Any] = {
    **_SCOPE,
    "phase": "preflight",
    "tokenBudget": 128000,
    "prompt": "And what is next?",
    "messages": [],
}

_CASES = "\n".join([f"test_price_{number:02} passed in 0.0{number % 7} s" for number in range(60)])
CUT_REQUEST: dict[str, Any] = {
    **_SCOPE,
    "phase": "preflight",
    "tokenBudget": 1200,
    "messages": [
        {"role": "user", "content": "Run the tests.", "timestamp": 1795298011000},
        {
            "role": "assistant",
            "content": [{"type": "toolCall", "id": "call_7", "name": "exec", "arguments": {"command": "pytest"}}],
            "timestamp": 1795298012000,
        },
        {
            "role": "toolResult",
            "toolCallId": "call_7",
            "toolName": "exec",
            "content": [{"type": "text", "text": f"{_CASES}\n60 passed in 2.1 s"}],
            "timestamp": 1795298014000,
        },
    ],
}
"""An output that is too long for the budget."""

COMPACT_REQUEST: dict[str, Any] = {**_SCOPE, "tokenBudget": 128000, "keepRecentCount": 0, "force": True}

SESSION_REQUEST: dict[str, Any] = {**_SCOPE}

START_REQUEST: dict[str, Any] = {**_SCOPE, "chatType": "private", "tokenBudget": 128000}

MEMORY_REQUEST: dict[str, Any] = {
    "text": "Mia prefers tea in the morning.",
    "category": "preferences",
    "key": "morning drink",
    "importance": "high",
}

MEMORY_ID = "m_hk2v7q4x3w5r6n9b2c4v7hza5e"
"""The id of the memory that the example of the import puts there, so that those of reading and changing find it."""

MEMORY_LINE: dict[str, Any] = {
    "id": MEMORY_ID,
    "uri": "viking://user/demo/memories/profile/stored-0001.md",
    "category": "profile",
    "text": "Mia lives in Turin.",
    "origin": "self",
    "peer": None,
    "createdAt": "2026-11-22T09:00:00.000Z",
    "updatedAt": "2026-11-22T09:30:00.000Z",
    "lastConfirmedAt": "2026-11-22T09:30:00.000Z",
    "expiresAt": None,
    "confidence": 1.0,
    "sensitivity": "low",
    "pinned": False,
    "version": 2,
    "state": "live",
    "sources": [{"kind": "api", "session": None, "turnId": None, "at": "2026-11-22T09:00:00.000Z"}],
    "key": "home",
    "history": [{"version": 1, "text": "Mia lives in Porto.", "at": "2026-11-22T09:30:00.000Z", "reason": "changed"}],
}
"""A line of an export."""

MEMORY_CHANGE_REQUEST: dict[str, Any] = {"text": "Mia lives in Turin, near the river.", "pinned": True}

FORGET_REQUEST: dict[str, Any] = {"query": "tea in the morning"}

RESOURCE_REQUEST: dict[str, Any] = {
    "title": "Atlas handbook",
    "text": "# Rollback\n\nTo go back to the release before, run `atlas rewind` and wait for the green light.\n",
    "wait": True,
}

SKILL_REQUEST: dict[str, Any] = {
    "text": "---\nname: deploy-check\ndescription: Check a deployment before release\n---\n# Deploy check\n\n"
    "1. Run the smoke tests.\n2. Compare versions.\n",
    "wait": True,
}

TOOL_REQUESTS: dict[str, dict[str, Any]] = {
    name: {**_SCOPE, "arguments": arguments}
    for name, arguments in {
        "ov_archive_search": {"query": "when does Atlas ship"},
        "ov_archive_expand": {"archiveId": "archive_001"},
        "ov_tool_result": {"callId": "call_7", "query": "test_price_31"},
        "memory_store": {"text": "Mia's bicycle is green.", "category": "entities", "key": "bicycle"},
        "memory_recall": {"query": "Mia's bicycle"},
        "ov_search": {"query": "green bicycle", "kinds": ["memories"]},
        "ov_import": {"text": "# Workshop\n\nThe workshop opens at nine.\n", "title": "Workshop"},
        "ov_ls": {},
        "memory_forget": {"query": "Mia's green bicycle"},
    }.items()
}
"""A call of each tool, in the order in which they make one story."""


class Example(NamedTuple):
    """An example request. A text is sent as lines of JSON."""

    path: str
    body: dict[str, Any] | str | None = None
    method: str = "POST"


_TOOLS = {f"tools-{name}": Example(f"/tools/{name}", body) for name, body in TOOL_REQUESTS.items()}

REQUESTS: dict[str, Example] = {
    "after-turn": Example("/after-turn", AFTER_TURN_REQUEST),
    "compact": Example("/compact", COMPACT_REQUEST),
    "assemble-cut": Example("/assemble", CUT_REQUEST),
    **_TOOLS,
    "assemble": Example("/assemble", ASSEMBLE_REQUEST),
    "assemble-preflight": Example("/assemble", PREFLIGHT_REQUEST),
    "sessions-start": Example("/sessions/start", START_REQUEST),
    "sessions-end": Example("/sessions/end", SESSION_REQUEST),
    "sessions-reset": Example("/sessions/reset", SESSION_REQUEST),
    "memories": Example("/memories", MEMORY_REQUEST),
    "memories-import": Example("/memories/import", json.dumps(MEMORY_LINE) + "\n"),
    "memories-list": Example("/memories?query=Turin", method="GET"),
    "memories-read": Example(f"/memories/{MEMORY_ID}", method="GET"),
    "memories-change": Example(f"/memories/{MEMORY_ID}", MEMORY_CHANGE_REQUEST, "PATCH"),
    "memories-check": Example("/memories/freshness", {}),
    "memories-freshness": Example("/memories/freshness", method="GET"),
    "memories-export": Example("/memories/export", method="GET"),
    "memories-forget-selected": Example("/memories/forget", FORGET_REQUEST),
    "memories-forget": Example(f"/memories/{MEMORY_ID}", method="DELETE"),
    "audit": Example("/audit?action=forgotten", method="GET"),
    "resources": Example("/resources", RESOURCE_REQUEST),
    "resources-search": Example("/resources?query=go%20back%20to%20the%20release%20before&limit=1", method="GET"),
    "resources-remove": Example("/resources?uri=viking://~/resources/Atlas%20handbook.md", method="DELETE"),
    "skills": Example("/skills", SKILL_REQUEST),
    "skills-list": Example("/skills", method="GET"),
    "skills-remove": Example("/skills?uri=viking://~/skills/deploy-check", method="DELETE"),
    "problem": Example("/assemble", {"messages": [{"role": 7}]}),
}
"""Each example request by its name in ``openapi/``, in the order in which they make one story."""

ANSWERS: dict[str, Any] = json.loads((files("app.api") / "answers.json").read_text(encoding="utf-8"))
"""What the service answered to each."""


def recorded(name: str) -> dict[str, Any]:
    """What the service answered to an example, as a response of the OpenAPI document."""
    return {"content": {"application/json": {"example": ANSWERS.get(name)}}}


def _suffix(content: Any) -> str:
    return "ndjson" if isinstance(content, str) else "json"


FILES: dict[str, Any] = {
    f"{name}.{kind}.{_suffix(content)}": content
    for name, request in REQUESTS.items()
    for kind, content in (("request", request.body), ("response", ANSWERS.get(name)))
    if content is not None
}
"""File name in ``openapi/`` to its content."""
