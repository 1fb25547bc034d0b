"""The embedded engine joins the backend suite: on Python's own SQLite, and on the one that the extra ``vec`` brings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest import mock

from app.embedded import sqlite
from app.embedded.backend import EmbeddedBackend
from app.settings import EmbeddedSettings
from tests.contract.subject import SUBJECTS, Subject


@asynccontextmanager
async def embedded(directory: Path) -> AsyncIterator[Subject]:
    backend = EmbeddedBackend(directory, EmbeddedSettings())
    try:
        yield Subject(backend)
    finally:
        await backend.aclose()


@asynccontextmanager
async def embedded_without_extras(directory: Path) -> AsyncIterator[Subject]:
    with mock.patch.object(sqlite, "apsw", None):
        async with embedded(directory) as subject:
            yield subject


SUBJECTS["embedded"] = embedded_without_extras
if sqlite.apsw:
    SUBJECTS["embedded-vec"] = embedded
