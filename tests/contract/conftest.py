"""The backends that need nothing but the checkout, and the turn store on both databases and encrypted."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from app.atrest.data_directory import vault_of
from app.atrest.keys import Keys
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


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("encrypted", marks=pytest.mark.long),
        pytest.param("postgresql", marks=pytest.mark.postgres),
    ]
)
def database(request: pytest.FixtureRequest) -> str:
    """What a store is kept in."""
    return str(request.param)


@pytest.fixture
def url(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if database == "postgresql":
        return emptied(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'private' / 'turns.db'}"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def vault(database: str) -> Vault:
    return vault_of(Keys.of(b"k" * 32)) if database == "encrypted" else PLAIN


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
