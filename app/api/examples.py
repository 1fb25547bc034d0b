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

MEMORY_REQUEST: dict[str, Any] = {
    "text": "Mia prefers tea in the morning.",
    "category": "preferences",
    "key": "morning drink",
    "importance": "high",
}

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "after-turn": ("/after-turn", AFTER_TURN_REQUEST),
    "compact": ("/compact", COMPACT_REQUEST),
    "tools": ("/tools/ov_archive_search", TOOL_REQUEST),
    "assemble": ("/assemble", ASSEMBLE_REQUEST),
    "assemble-preflight": ("/assemble", PREFLIGHT_REQUEST),
    "sessions-end": ("/sessions/end", SESSION_REQUEST),
    "sessions-reset": ("/sessions/reset", SESSION_REQUEST),
    "memories": ("/memories", MEMORY_REQUEST),
    "problem": ("/assemble", {"messages": [{"role": 7}]}),
}
"""Where each example request goes, by its name in ``openapi/``; in the order in which they make one story."""

ANSWERS: dict[str, Any] = json.loads((files("app.api") / "answers.json").read_text(encoding="utf-8"))
"""What the service answered to each."""

FILES: dict[str, Any] = {
    f"{name}.{kind}.json": body
    for name, (_, request) in REQUESTS.items()
    for kind, body in (("request", request), ("response", ANSWERS.get(name)))
}
"""File name in ``openapi/`` to its content."""
