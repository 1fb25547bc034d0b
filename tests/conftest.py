"""What every test shares."""

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # A busy machine is no failure; timings belong to benchmarks/.
settings.load_profile("untimed")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
