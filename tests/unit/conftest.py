from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.desk import Desk, open_desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = await open_desk(tmp_path)
    yield desk
    await desk.store.aclose()
