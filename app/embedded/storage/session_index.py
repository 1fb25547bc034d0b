"""The sessions at a glance, for people and their tools: ``<session>.meta.json`` beside each session file.

A file for each session, so that a commit writes as much with ten thousand sessions as with one. Everything in it can be
read off the session file; the backend itself never reads it.
"""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

from app.atrest.vault import Vault
from app.embedded.storage import layout
from app.embedded.storage.entries import message_tokens
from app.embedded.storage.session_file import SessionFile


def write_glance(root: Path, session: str, stored: SessionFile, now: datetime) -> None:
    """Bring the session's file up to date."""
    glance = {
        "sessionId": session,
        "file": stored.path.name,
        "updatedAt": now.isoformat(),
        "chatType": stored.notes.chat_type,
        "parentSession": stored.notes.parent,
        "messages": stored.count,
        "compactionCount": sum(archive.state == "completed" for archive in stored.archives),
        "memoryFlushAt": stored.notes.flushed_at,
        "memoryFlushCompactionCount": stored.notes.flushed_compaction,
        "inputTokens": stored.input_tokens,
        "outputTokens": stored.output_tokens,
        "contextTokens": stored.context_tokens or sum(map(message_tokens, stored.waiting())),
        "epoch": stored.epoch,
    }
    stored.vault.write_atomic(layout.glance_path(root, session), _dumped(glance))


def take_apart(root: Path, vault: Vault) -> None:
    """Put what earlier versions kept in one ``sessions.json`` into a file for each session.

    One that is there already is newer and stays. Call it with the user's lock held.
    """
    index = root / "sessions" / "sessions.json"
    try:
        entries = json.loads(vault.read(index))
    except FileNotFoundError:
        return
    except ValueError:
        entries = {}
    for session, entry in entries.items() if isinstance(entries, dict) else ():
        path = layout.glance_path(root, session)
        if isinstance(entry, dict) and not path.exists():
            vault.write_atomic(path, _dumped(entry), durable=False)
    os.sync()  # once for all of them, before the only other copy goes
    index.unlink()


def _dumped(glance: dict[str, Any]) -> bytes:
    return json.dumps(glance, indent=1).encode()
