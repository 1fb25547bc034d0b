"""Memories in their files: stored, changed, forgotten and imported, one user at a time. Call it with the lock held.

What is stored on purpose goes into files of at most `MAX_RECORDS` statements (``preferences/stored-0001.md``), so that
a write stays small however many memories there are.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from app.atrest.vault import PLAIN, Vault
from app.core.memories.memory import Memory, MemoryRecord
from app.embedded.storage import layout
from app.embedded.storage.record_lines import read_records, write_records
from app.embedded.storage.record_memories import imported, record_written
from app.embedded.storage.records import Record, derived_id, identified
from app.embedded.storage.workspace import PAGES
from app.text.dates import iso
from app.text.items import statements, tidy

MAX_RECORDS = 64
"""Statements of a file that memories are stored in."""
MAX_BYTES = 256 * 1024
"""A file of this size takes no more."""
_TITLES: Mapping[str, str] = {"profile": "Profile", "notes": "Notes"}

Rewrite = Callable[[list[Record]], list[Record]]


class FileContent(NamedTuple):
    """What a memory file holds."""

    body: str
    records: list[Record]

    def record(self, memory_id: str) -> Record | None:
        """The record of this id; None where it is not there, or has no record."""
        return next((one for one in self.records if one.id == memory_id), None)

    def can_replace(self, memory: Memory) -> bool:
        """Whether the memory is a record, a line, or all there is in the file: a piece of a longer text is neither."""
        return (
            any(one.id == memory.id for one in self.records)
            or memory.text in statements(self.body)
            or tidy(self.body) == tidy(memory.text)
        )


class MemoryFiles:
    """The memory files of the user at ``root``."""

    def __init__(self, root: Path, vault: Vault = PLAIN) -> None:
        self._root = root
        self._vault = vault

    def read(self, path: str) -> FileContent:
        """What a file holds; nothing where it is not there."""
        try:
            body, records = read_records(self._vault.read_text(self._root / path))
        except FileNotFoundError:
            return FileContent("", [])
        return FileContent(body, identified(records, path))

    def record(self, path: str, memory_id: str) -> Record | None:
        """The record of this id in a file; None where it is not there, or has no record."""
        return self.read(path).record(memory_id)

    def records(self, paths: Iterable[str]) -> dict[str, Record]:
        """The records of these files by id."""
        return {one.id: one for path in paths for one in self.read(path).records}

    def put(self, path: str, records: Sequence[Record]) -> Path:
        """Write new records into a file, beside those that are there."""
        return self.rewrite(path, lambda there: [*there, *records])

    def rewrite(self, path: str, change: Rewrite, without: Iterable[str] = ()) -> Path:
        """Write what ``change`` makes of a file's records; lines that say what is in ``without`` go.

        A file that nothing is left in goes, too.
        """
        body, records = self.read(path)
        gone = set(map(tidy, without))
        changed = change(records)
        changed += self._said_again(path, body, records, changed)
        place = self._root / path
        text = write_records(title_of(path), changed, "" if tidy(body) in gone else body, gone)
        if changed or _says_something(text):
            self._vault.write_atomic(place, text.encode("utf-8", "replace"))
        else:
            place.unlink(missing_ok=True)
        return place

    def _said_again(self, path: str, body: str, before: Sequence[Record], after: Sequence[Record]) -> list[Record]:
        """Records of the lines that a person wrote beside others, and that a record comes to say: each stays a memory
        of its own."""
        taken = {one.value for one in after if one.holds} - {one.value for one in before}
        written = {derived_id(path, text): text for text in statements(body) if before and text in taken}
        new = written.keys() - {one.id for one in after}
        if not new:
            return []
        at = iso(datetime.fromtimestamp((self._root / path).stat().st_mtime, UTC))
        return [record_written(memory_id, text, at) for memory_id, text in written.items() if memory_id in new]

    def room_for(self, category: str, peer: str | None) -> tuple[str, int]:
        """The file (relative to the user's directory) that a memory of this category goes into, and its free places."""
        folder = layout.memories_dir(self._root, peer) / layout.segment(category)
        numbers = [_number(path.stem) for path in folder.glob("stored-*.md")]
        newest = max(numbers, default=0)
        path = folder / f"stored-{newest:04}.md"
        if newest and path.stat().st_size < MAX_BYTES:
            free = MAX_RECORDS - len(self.read(self._relative(path)).records)
            if free > 0:
                return self._relative(path), free
        return self._relative(folder / f"stored-{newest + 1:04}.md"), MAX_RECORDS

    def take_in(self, stored: Sequence[MemoryRecord], uri_root: str) -> list[Path]:
        """Write exported memories: to the file that their URI names, where it names one; the paths that changed."""
        by_file: dict[str, list[Record]] = defaultdict(list)
        rooms: dict[tuple[str, str | None], tuple[str, int]] = {}
        for one in stored:
            memory = one.memory
            path = self._named_file(memory, uri_root)
            if path is None:
                owner = memory.category, memory.peer
                path, free = rooms.get(owner) or self.room_for(*owner)
                rooms[owner] = (path, free - 1) if free > 1 else (_next(path), MAX_RECORDS)
            by_file[path].append(imported(one))
        return [self.put(path, records) for path, records in by_file.items()]

    def _named_file(self, memory: Memory, uri_root: str) -> str | None:
        """The file below the memories that the URI names; None for one that this engine would not write."""
        place = memory.uri.partition("#")[0].removeprefix(uri_root)
        home = f"/peers/{memory.peer}" if memory.peer else ""
        if place == memory.uri or not place.startswith(f"{home}/memories/") or not place.endswith(".md"):
            return None
        parts = place.removeprefix(f"{home}/memories/").split("/")
        folder = layout.memories_dir(self._root, memory.peer)
        if not all(parts) or len(parts) > _DEEPEST or any(part.casefold().endswith(".md") for part in parts[:-1]):
            return None
        path = self._relative(folder.joinpath(*(layout.segment(part) for part in parts)))
        return None if path.casefold() in _PAGES else path

    def _relative(self, path: Path) -> str:
        return str(path.relative_to(self._root))


_PAGES = frozenset(page.casefold() for page in PAGES)
"""In one case: where file names have none, ``soul.md`` is the same file."""
_DEEPEST = 6
"""Folders of a memory's file: ``events/2026/03/04/name.md`` has five parts."""


def _next(path: str) -> str:
    place = PurePosixPath(path)
    return str(place.with_name(f"stored-{_number(place.stem) + 1:04}.md"))


def _number(stem: str) -> int:
    digits = stem.removeprefix("stored-")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else 0


def title_of(path: str) -> str:
    """The heading of the file at ``path`` (relative to the user's directory)."""
    parts = PurePosixPath(path).parts
    at = parts.index("memories") + 1 if "memories" in parts else 0
    category = layout.readable(parts[at].removesuffix(".md"))
    return _TITLES.get(category, category.capitalize())


def _says_something(text: str) -> bool:
    body = read_records(text)[0]
    return any(line.strip() and not line.startswith("#") for line in body.split("\n"))
