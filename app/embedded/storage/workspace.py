"""The files that a person reads and writes beside the memories: SOUL.md, MEMORY.md and the daily notes.

What commits wrote into a daily note stands between marks, which are for the engine alone.
"""

from collections.abc import Iterable
from pathlib import Path

import structlog

from app.atrest.vault import Vault
from app.core.injection.session_start.section import Workspace
from app.embedded.storage import layout
from app.embedded.storage.long_term_file import NAME, read_page
from app.embedded.storage.record_lines import NOTE_BEGIN, NOTE_END

log = structlog.get_logger(__name__)

MAX_BYTES = 64 * 1024
"""Of a file so much is read: far more than a prompt takes."""
SOUL = "SOUL.md"
PAGES = frozenset({f"memories/{SOUL}", f"memories/{NAME}"})
"""Files, relative to the user's directory, that are no memories: who the agent is, and what is made of memories."""


def read_workspace(root: Path, days: Iterable[str], vault: Vault) -> Workspace:
    """The files of the user at ``root``, with the notes of these days."""
    notes = ((day, _without_marks(_head(layout.note_path(root, day), vault))) for day in days)
    soul = _head(layout.memories_dir(root, None) / SOUL, vault)
    page = read_page(_head(layout.memories_dir(root, None) / NAME, vault))
    return Workspace(soul, tuple((day, text) for day, text in notes if text.strip()), page.left_out)


def _head(path: Path, vault: Vault) -> str:
    """The begin of a file. One that can not be read, or is none, takes nothing else of the session's start away."""
    try:
        with vault.open(path) as file:
            return file.read(MAX_BYTES).decode("utf-8-sig", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        log.warning("workspace_file_not_read", file=path.name, error=type(error).__name__)
        return ""


def _without_marks(note: str) -> str:
    return "\n".join(line for line in note.split("\n") if not line.startswith((NOTE_BEGIN, NOTE_END)))
