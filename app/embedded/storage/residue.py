"""Where a text still stands on disk after it was forgotten: looked for, never assumed."""

import json
from collections.abc import Iterator
from pathlib import Path

from app.core.memories.memory import Kept

_LATER = "it is found no more; this version does not rewrite what was recorded"


def residue_of(root: Path, text: str) -> tuple[Kept, ...]:
    """What below the user's directory holds ``text``, and what was not looked into."""
    kept = [
        Kept("session transcripts, with their archives and summaries", _LATER)
        if _holds(root / "sessions", text)
        else None,
        Kept("daily notes", _LATER) if _holds(root / "memory", text) else None,
        Kept("other memories", "they say it in words of their own") if _holds(root / "memories", text) else None,
        Kept("memories of peers", "they say it in words of their own") if _holds(root / "peers", text) else None,
        Kept("free pages of the index", "the index is not compacted after each forgetting"),
    ]
    return tuple(filter(None, kept))


def _holds(folder: Path, text: str) -> bool:
    """Whether a file below the folder holds the text, as it is or within JSON."""
    wanted = {text.encode("utf-8", "replace"), json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace")}
    return any(one in line for path in _files(folder) for line in _lines(path) for one in wanted)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except FileNotFoundError:
        return
