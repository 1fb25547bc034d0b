"""Looking for bytes: whether a text still stands in a file, whatever the file is and its pages are used for."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

AT_ONCE_BYTES = 4 * 1024 * 1024
MAX_NEEDLES = 200
"""Texts that are looked for at most: those of one memory and its turns; of a whole year only so many are sampled."""


class Needles:
    """The byte forms of some texts: as they are, and as JSON writes them. Case does not matter in ASCII."""

    def __init__(self, texts: Iterable[str]) -> None:
        forms: dict[bytes, None] = {}
        for text in list(texts)[:MAX_NEEDLES]:
            for form in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
                forms[form.encode("utf-8", "replace").lower()] = None
        self._forms = [form for form in forms if form]
        self._overlap = max(map(len, self._forms), default=1) - 1

    def __bool__(self) -> bool:
        return bool(self._forms)

    def are_in_text(self, text: str) -> bool:
        """Whether the text has one of them."""
        data = text.encode("utf-8", "replace").lower()
        return any(form in data for form in self._forms)

    def are_in(self, path: Path, opened: Callable[[Path], BinaryIO]) -> bool:
        """Whether the file holds one of them; a file that is gone holds none.

        ``opened`` reads what stands in it: `Vault.open` of files, `Vault.open_pages` of databases.
        """
        rest = b""
        try:
            with opened(path) as file:
                while self._forms and (data := file.read(AT_ONCE_BYTES)):
                    window = rest + data.lower()
                    if any(form in window for form in self._forms):
                        return True
                    rest = window[len(window) - self._overlap :] if self._overlap else b""
        except FileNotFoundError:
            pass
        return False


def with_logs(database: Path) -> Sequence[Path]:
    """An SQLite file and what stands beside it."""
    return [database.with_name(database.name + suffix) for suffix in ("", "-wal", "-journal")]
