"""The embedded backend joins the backend suite."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.embedded.backend import EmbeddedBackend
from app.embedded.memory_store import EmbeddedMemories
from app.settings import EmbeddedSettings
from tests.contract.subject import SUBJECTS, Subject


@asynccontextmanager
async def embedded(directory: Path) -> AsyncIterator[Subject]:
    backend = EmbeddedBackend(directory, EmbeddedSettings())
    try:
        yield Subject(backend, EmbeddedMemories(backend), backend.resources)
    finally:
        await backend.aclose()


SUBJECTS["embedded"] = embedded
