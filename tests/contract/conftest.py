"""The backends that need nothing but the checkout, and the turn store on both databases."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from app.atrest.vault import PLAIN, Vault
from app.store.turns import SqlTurnStore, open_store
from tests.contract import embedded  # noqa: F401 - joins SUBJECTS
from tests.contract.subject import SUBJECTS, Subject
from tests.postgres import emptied
from tests.unit.turning import FakeClock, work_rules

OpenStore = Callable[..., Awaitable[SqlTurnStore]]


@pytest.fixture(params=sorted(SUBJECTS))
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    async with SUBJECTS[request.param](tmp_path) as subject:
        yield subject


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'private' / 'turns.db'}"
    return emptied(request.getfixturevalue("postgres_url"))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def vault() -> Vault:
    """What a SQLite store is kept in; a module whose tests are to run on an encrypted one, too, has its own."""
    return PLAIN


@pytest.fixture
async def opened(url: str, clock: FakeClock, vault: Vault) -> AsyncIterator[OpenStore]:
    stores: list[SqlTurnStore] = []

    async def opened(**options: object) -> SqlTurnStore:
        settings = {"rules": work_rules(), "clock": clock, "vault": vault, **options}
        stores.append(await open_store(url, **settings))  # type: ignore[arg-type]
        return stores[-1]

    yield opened
    for store in stores:
        await store.aclose()


@pytest.fixture
async def store(opened: OpenStore) -> SqlTurnStore:
    return await opened()
