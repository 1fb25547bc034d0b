"""Examples of `/memories` for Swagger UI: what a memory, its history and a receipt look like."""

from typing import Any

MEMORY_CHANGE_REQUEST: dict[str, Any] = {"text": "Mia prefers green tea in the morning."}

MEMORY_RESPONSE: dict[str, Any] = {
    "id": "m_hk2v7q4x3w5r6n9b2c4v7hza5e",
    "uri": "viking://user/demo/memories/preferences/stored-0001.md",
    "category": "preferences",
    "text": "Mia prefers tea in the morning.",
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
    "text": "Mia prefers green tea in the morning.",
    "updatedAt": "2026-11-22T10:00:00.000Z",
    "version": 2,
    "history": [
        {
            "version": 1,
            "text": "Mia prefers tea in the morning.",
            "at": "2026-11-22T10:00:00.000Z",
            "reason": "changed",
        }
    ],
}

MEMORY_EXPORT_LINE: dict[str, Any] = {**MEMORY_RECORD_RESPONSE, "key": "morning drink"}

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
    "kept": [],
}

WRITTEN_MEMORY = {**MEMORY_RESPONSE, "policy": []}
