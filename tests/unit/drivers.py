"""The two SQLite drivers of the embedded engine: what touches the index is tested over both."""

import pytest

from app.embedded import sqlite

HAS_VECTORS = sqlite.has_vectors()


def use_driver(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """``sqlite3`` is what an install without extras has, ``apsw`` one with the extra ``vec``."""
    if name == "sqlite3":
        monkeypatch.setattr(sqlite, "apsw", None)
