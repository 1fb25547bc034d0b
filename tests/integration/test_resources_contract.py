"""The contract suite of documents and skills over the real OpenViking."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.openviking.client import OpenVikingBackend
from app.openviking.opening import open_resources
from app.store.turns import open_store
from tests.contract.subject import Subject
from tests.contract.test_resources import *  # noqa: F403 - the suite itself
from tests.integration.conftest import Rigs
from tests.unit.turning import FakeClock, work_rules

pytestmark = [pytest.mark.anyio, pytest.mark.rig]


@pytest.fixture
async def subject(rigs: Rigs, tmp_path: Path) -> AsyncIterator[Subject]:
    """Every test is an account of its own: what others stored there would be listed, too."""
    backend = OpenVikingBackend(rigs.up("trusted", "--fast").settings())
    store = await open_store(f"sqlite:///{tmp_path / 'turns.db'}", rules=work_rules(), clock=FakeClock())
    resources = open_resources(backend, store.catalogue)
    yield Subject(backend, resources=resources, account=f"acme-{uuid.uuid4().hex[:8]}")
    await store.aclose()
    await backend.aclose()
