"""One example request and answer per endpoint: they work as they stand in Swagger UI, and are kept in ``openapi/``."""

from typing import Any

_SCOPE: dict[str, Any] = {
    "sessionId": "7f1c1a52-6d1e-4f6e-9d0b-3f1b8f6c2a10",
    "sessionKey": "agent:main:chat",
    "senderId": "mia",
}

_BLOCK = (
    "<openviking-context>\n## Long-term Memories\nSource: openviking-auto-recall\n"
    "The following OpenViking memories may be relevant:\n- [preferences] Mia prefers short answers with code.\n"
    "</openviking-context>"
)

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

AFTER_TURN_RESPONSE: dict[str, Any] = {
    "status": "committed",
    "reason": "ok",
    "turnId": "t_01kd2m8q4x7w5r3n9b6c1v0hza",
    "captured": 2,
    "delivery": "delivered",
    "pendingTokens": 31,
    "compaction": {"state": "idle", "uploadId": None, "messageRange": None, "clear": None},
}

ASSEMBLE_REQUEST: dict[str, Any] = {
    **_SCOPE,
    "phase": "transform",
    "messages": [{"role": "user", "content": "When does Atlas ship, and how do I like my answers?"}],
}

ASSEMBLE_RESPONSE: dict[str, Any] = {
    "messages": [{"role": "user", "content": f"{_BLOCK}\n\nWhen does Atlas ship, and how do I like my answers?"}],
    "estimatedTokens": 71,
    "contextBlock": _BLOCK,
    "status": "assembled",
    "reason": "ok",
    "recall": {
        "traceId": "r_01kd2m9c6e8t2y4u6i8o0p2a4s",
        "query": "When does Atlas ship, and how do I like my answers?",
        "gate": {"recall": False, "trigger": None, "score": 0, "reason": "disabled"},
        "items": [
            {
                "uri": "viking://user/default/memories/preferences/answers.md",
                "section": "memories",
                "category": "preferences",
                "score": 0.91,
                "chars": 56,
            }
        ],
        "timingsMs": {"memories": 12.4, "total": 13.1},
        "degraded": [],
    },
}

PREFLIGHT_REQUEST: dict[str, Any] = {
    **_SCOPE,
    "phase": "preflight",
    "tokenBudget": 128000,
    "prompt": "And what is next?",
    "messages": [],
}

COMPACT_REQUEST: dict[str, Any] = {**_SCOPE, "tokenBudget": 128000, "keepRecentCount": 0, "force": True}

COMPACT_RESPONSE: dict[str, Any] = {
    "ok": True,
    "compacted": True,
    "reason": "commit_completed",
    "result": {
        "summary": "# Working Memory\n\n## Key Facts & Decisions\n- We decided to ship Atlas on Friday.",
        "firstKeptEntryId": "archive_001",
        "tokensBefore": 31,
        "tokensAfter": 20,
        "details": {"archived": True, "extracted": True},
    },
    "taskId": "70fac130-63a2-40a7-988b-b49e3f6d9e6d",
}

SESSION_REQUEST: dict[str, Any] = {**_SCOPE}

SESSION_RESPONSE: dict[str, Any] = {
    "ok": True,
    "reason": "commit_completed",
    "taskId": "70fac130-63a2-40a7-988b-b49e3f6d9e6d",
}

TOOL_REQUEST: dict[str, Any] = {**_SCOPE, "arguments": {"query": "when does Atlas ship"}}

TOOL_RESPONSE: dict[str, Any] = {
    "ok": True,
    "reason": "ok",
    "content": [
        {
            "type": "text",
            "text": "<openviking-context>\n- archive_001 [0] user, 2026-03-04: We decided to ship Atlas on Friday.\n"
            "</openviking-context>\nRead around a message with ov_archive_expand: archiveId, and its number as offset.",
        }
    ],
    "details": {
        "matches": [
            {"archiveId": "archive_001", "index": 0, "role": "user", "at": "2026-03-04T10:00:01+00:00", "score": 2.079}
        ],
        "archives": ["archive_001"],
        "searched": 1,
    },
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
}
"""File name in ``openapi/`` to its content."""
