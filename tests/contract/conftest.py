"""The backends that need nothing but the checkout."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract import embedded  # noqa: F401 - joins SUBJECTS
from tests.contract.subject import SUBJECTS, Subject


@pytest.fixture(params=sorted(SUBJECTS))
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    async with SUBJECTS[request.param](tmp_path) as subject:
        yield subject
