"""The suite of what peers see of each other, over the real OpenViking with experiences switched on."""

from collections.abc import AsyncIterator

import pytest

from app.openviking.client import OpenVikingBackend
from tests.contract.subject import Subject
from tests.contract.test_sharing import *  # noqa: F403 - the suite itself
from tests.integration.conftest import Rigs

pytestmark = [pytest.mark.anyio, pytest.mark.rig]


@pytest.fixture
async def subject(rigs: Rigs) -> AsyncIterator[Subject]:
    server = rigs.up("api_key", "--fast", "--evolution")
    backend = OpenVikingBackend(server.settings())
    yield Subject(backend, account=server.account)
    await backend.aclose()
