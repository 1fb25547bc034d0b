"""What of a data directory is encrypted, by where it lies. OpenViking's own files are not."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.atrest.durable import TEMPORARY, sweep_temporaries

TRACES = "traces.db"
ACCOUNTS = "accounts"
"""Of the embedded backend: a folder for each account, with one for each user."""
INCOMING = "incoming"
"""Imports that were read and are not taken in yet."""
STORE_PAGE_BYTES = 4_096
"""Of the turn store and the traces."""
INDEX_PAGE_BYTES = 16_384
"""Of indexes: their rows with vectors are large."""
_FILES = (".jsonl", ".json", ".md")
_DATABASE = ".db"


@dataclass(frozen=True, slots=True)
class Places:
    """The files and databases of a data directory; the turn store may lie elsewhere, or be a server."""

    directory: Path
    store: Path | None

    def are_used(self) -> bool:
        """Whether anything was ever kept there."""
        return any(path.exists() for path in (*self._stores(), self.directory / ACCOUNTS))

    def databases(self) -> Iterator[tuple[Path, int]]:
        """Each database that is there, with the size of its pages."""
        yield from ((path, STORE_PAGE_BYTES) for path in self._stores() if path.is_file())
        yield from ((path, INDEX_PAGE_BYTES) for path in self._below_folders() if path.suffix == _DATABASE)

    def files(self) -> Iterator[Path]:
        """Each file that is there."""
        yield from (path for path in self._below_folders() if path.suffix in _FILES)

    def sweep(self) -> None:
        """Remove what writers that were killed left behind."""
        for folder in self._folders():
            sweep_temporaries(folder)
        for parent in {self.directory, *(path.parent for path in self._stores())}:
            for path in parent.glob(f"{TEMPORARY}*"):
                path.unlink()

    def _stores(self) -> list[Path]:
        return [*filter(None, [self.store]), self.directory / TRACES]

    def _folders(self) -> list[Path]:
        return [self.directory / ACCOUNTS, self.directory / INCOMING]

    def _below_folders(self) -> Iterator[Path]:
        for folder in self._folders():
            for parent, _, names in os.walk(folder):
                paths = (Path(parent, name) for name in sorted(names))
                yield from (path for path in paths if not path.is_symlink())
