"""Looking for bytes: whether a text still stands in a file, whatever the file is and its pages are used for."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

AT_ONCE_BYTES = 4 * 1024 * 1024
MAX_NEEDLES = 200
"""Texts that are looked for at most: those of one memory and its turns; of a whole year only so many are sampled."""


class Needles:
    """The byte forms of some texts: as they are, and as JSON writes them. Case does not matter in ASCII."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._forms = {text: _forms(text) for text in list(dict.fromkeys(texts))[:MAX_NEEDLES] if text}
        self._overlap = max((len(form) for forms in self._forms.values() for form in forms), default=1) - 1

    def __bool__(self) -> bool:
        return bool(self._forms)

    def without(self, texts: Collection[str]) -> "Needles":
        """The others."""
        return Needles(text for text in self._forms if text not in texts)

    def found_in_text(self, text: str) -> frozenset[str]:
        """Those that the text has."""
        return self._found_in(text.encode("utf-8", "replace").lower())

    def found_in(self, path: Path, opened: Callable[[Path], BinaryIO]) -> frozenset[str]:
        """Those that the file holds; a file that is gone holds none.

        ``opened`` reads what stands in it: `Vault.open` of files, `Vault.open_pages` of databases.
        """
        found: frozenset[str] = frozenset()
        rest = b""
        try:
            with opened(path) as file:
                while self._forms and (data := file.read(AT_ONCE_BYTES)):
                    window = rest + data.lower()
                    found |= self._found_in(window)
                    rest = window[len(window) - self._overlap :] if self._overlap else b""
        except FileNotFoundError:
            pass
        return found

    def are_in(self, path: Path, opened: Callable[[Path], BinaryIO]) -> bool:
        """Whether the file holds one of them."""
        return bool(self.found_in(path, opened))

    def _found_in(self, data: bytes) -> frozenset[str]:
        return frozenset(text for text, forms in self._forms.items() if any(form in data for form in forms))


def _forms(text: str) -> tuple[bytes, ...]:
    told = (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    return tuple(dict.fromkeys(form.encode("utf-8", "replace").lower() for form in told))


def with_logs(database: Path) -> Sequence[Path]:
    """An SQLite file and what stands beside it."""
    return [database.with_name(database.name + suffix) for suffix in ("", "-wal", "-journal")]
