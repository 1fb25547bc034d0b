"""The embedded backend joins the backend suite, in plain and encrypted."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from app.atrest.data_directory import vault_of
from app.atrest.keys import Keys
from app.atrest.vault import PLAIN, Vault
from app.embedded.backend import EmbeddedBackend
from app.settings import EmbeddedSettings
from tests.contract.subject import SUBJECTS, Subject


@asynccontextmanager
async def embedded(directory: Path, vault: Vault = PLAIN) -> AsyncIterator[Subject]:
    backend = EmbeddedBackend(directory, EmbeddedSettings(), vault=vault)
    try:
        yield Subject(backend, backend.memories, backend.resources)
    finally:
        await backend.aclose()


def encrypted(directory: Path) -> AbstractAsyncContextManager[Subject]:
    return embedded(directory, vault_of(Keys.of(b"k" * 32)))


SUBJECTS["embedded"] = embedded
SUBJECTS["encrypted"] = encrypted
