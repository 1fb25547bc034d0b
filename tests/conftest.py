"""What every test shares."""

import pytest
from hypothesis import settings

import app.recall.sources  # noqa: F401 - declares the lines by which the fence knows a block

settings.register_profile("untimed", deadline=None)  # A busy machine is no failure; timings belong to benchmarks/.
settings.load_profile("untimed")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
