"""One example request and answer per endpoint: they work as they stand in Swagger UI, and are kept in ``openapi/``.

The answers are what the service said when the requests were sent to it in this order: ``make openapi`` records them in
``answers.json``, and a test sends the requests again and compares.
"""

import json
from importlib.resources import files
from typing import Any

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

COMPACT_REQUEST: dict[str, Any] = {**_SCOPE, "tokenBudget": 128000, "keepRecentCount": 0, "force": True}

SESSION_REQUEST: dict[str, Any] = {**_SCOPE}

TOOL_REQUEST: dict[str, Any] = {**_SCOPE, "arguments": {"query": "when does Atlas ship"}}

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "after-turn": ("/after-turn", AFTER_TURN_REQUEST),
    "compact": ("/compact", COMPACT_REQUEST),
    "tools": ("/tools/ov_archive_search", TOOL_REQUEST),
    "assemble": ("/assemble", ASSEMBLE_REQUEST),
    "assemble-preflight": ("/assemble", PREFLIGHT_REQUEST),
    "sessions-end": ("/sessions/end", SESSION_REQUEST),
    "sessions-reset": ("/sessions/reset", SESSION_REQUEST),
    "problem": ("/assemble", {"messages": [{"role": 7}]}),
}
"""Where each example request goes, by its name in ``openapi/``; in the order in which they make one story."""

ANSWERS: dict[str, Any] = json.loads((files("app.api") / "answers.json").read_text(encoding="utf-8"))
"""What the service answered to each."""

FILES: dict[str, Any] = {
    f"{name}.{kind}.json": body
    for name, (_, request) in REQUESTS.items()
    for kind, body in (("request", request), ("response", ANSWERS.get(name)))
MEMORY_REQUEST: dict[str, Any] = {
    "text": "Mia prefers short answers with code.",
    "category": "preferences",
    "key": "answers",
    "importance": "high",
}

MEMORY_CHANGE_REQUEST: dict[str, Any] = {"text": "Mia prefers short answers, with code where it helps."}

MEMORY_RESPONSE: dict[str, Any] = {
    "id": "m_hk2v7q4x3w5r6n9b2c4v7hza5e",
    "uri": "viking://user/demo/memories/preferences/stored-0001.md",
    "category": "preferences",
    "text": "Mia prefers short answers with code.",
    "origin": "self",
    "peer": None,
    "createdAt": "2026-11-22T09:00:00.000Z",
    "updatedAt": "2026-11-22T09:00:00.000Z",
    "lastConfirmedAt": "2026-11-22T09:00:00.000Z",
    "expiresAt": None,
    "confidence": 1.0,
    "sensitivity": "low",
    "pinned": False,
    "version": 1,
    "state": "live",
    "sources": [{"kind": "api", "session": None, "turnId": None, "at": "2026-11-22T09:00:00.000Z"}],
}

MEMORIES_RESPONSE: dict[str, Any] = {"memories": [MEMORY_RESPONSE], "nextCursor": None}

MEMORY_RECORD_RESPONSE: dict[str, Any] = {
    **MEMORY_RESPONSE,
    "text": "Mia prefers short answers, with code where it helps.",
    "updatedAt": "2026-11-22T10:00:00.000Z",
    "version": 2,
    "history": [
        {
            "version": 1,
            "text": "Mia prefers short answers with code.",
            "at": "2026-11-22T10:00:00.000Z",
            "reason": "changed",
        }
    ],
}

MEMORY_EXPORT_LINE: dict[str, Any] = {**MEMORY_RECORD_RESPONSE, "key": "answers"}

MEMORY_RECEIPT: dict[str, Any] = {
    "receiptId": "f_hk2v7q4x3w5r6n9b2c4v7hza5e",
    "at": "2026-11-22T11:00:00.000Z",
    "dryRun": False,
    "selected": [
        {
            "id": "m_hk2v7q4x3w5r6n9b2c4v7hza5e",
            "uri": "viking://user/demo/memories/preferences/stored-0001.md",
            "category": "preferences",
        }
    ],
    "removed": {"memories": 1, "turns": 0, "archives": 0, "notes": 0, "traces": 0, "outbox": 0},
    "kept": [
        {
            "what": "turns in the sidecar's store",
            "why": "a turn is kept there until its archive is extracted, and is not searched",
        }
    ],
}

PROBLEM: dict[str, Any] = {
    "type": "urn:openviking-sidecar:problem:invalid_request",
    "title": "The request is malformed; errors names each field.",
    "status": 400,
    "detail": "messages.0.role: Input should be a string",
    "code": "invalid_request",
    "requestId": "5b0f6d1e9c2a4b7d8e3f1a2c",
    "errors": [{"field": "messages.0.role", "message": "Input should be a string"}],
}

FILES: dict[str, Any] = {
    "assemble.request.json": ASSEMBLE_REQUEST,
    "assemble.response.json": ASSEMBLE_RESPONSE,
    "assemble-preflight.request.json": PREFLIGHT_REQUEST,
    "after-turn.request.json": AFTER_TURN_REQUEST,
    "after-turn.response.json": AFTER_TURN_RESPONSE,
    "compact.request.json": COMPACT_REQUEST,
    "compact.response.json": COMPACT_RESPONSE,
    "tools.request.json": TOOL_REQUEST,
    "tools.response.json": TOOL_RESPONSE,
    "sessions-end.request.json": SESSION_REQUEST,
    "sessions-end.response.json": SESSION_RESPONSE,
    "sessions-reset.request.json": SESSION_REQUEST,
    "sessions-reset.response.json": SESSION_RESPONSE,
    "memories.request.json": MEMORY_REQUEST,
    "memories.response.json": MEMORY_RESPONSE,
    "memories-list.response.json": MEMORIES_RESPONSE,
    "memories-read.response.json": MEMORY_RECORD_RESPONSE,
    "memories-change.request.json": MEMORY_CHANGE_REQUEST,
    "memories-change.response.json": MEMORY_RESPONSE,
    "memories-forget.response.json": MEMORY_RECEIPT,
}
"""File name in ``openapi/`` to its content."""
