"""The contract suite of context backends over the real OpenViking."""

from collections.abc import AsyncIterator

import pytest

from app.openviking.client import OpenVikingBackend
from tests.contract.subject import Subject
from tests.contract.test_backend import *  # noqa: F403 - the suite itself
from tests.integration.conftest import OpenViking

pytestmark = [pytest.mark.anyio, pytest.mark.rig]


@pytest.fixture
async def subject(openviking: OpenViking) -> AsyncIterator[Subject]:
    backend = OpenVikingBackend(openviking.settings())
    yield Subject(backend, account=openviking.account)
    await backend.aclose()
