"""The contract suite of memories one by one over the real OpenViking."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.memories.memory import Memory, MemoryChange, MemoryFilter
from app.openviking.client import OpenVikingBackend
from app.openviking.opening import open_memories
from app.ports import Target
from app.store.turns import open_store
from tests.contract.subject import Subject, eventually, soon
from tests.contract.test_memories import *  # noqa: F403 - the suite itself
from tests.integration.conftest import Rigs
from tests.unit.turning import FakeClock, work_rules

pytestmark = [pytest.mark.anyio, pytest.mark.rig]


@pytest.fixture
async def subject(rigs: Rigs, tmp_path: Path) -> AsyncIterator[Subject]:
    """Every test is an account of its own: what others stored there would be listed, too."""
    backend = OpenVikingBackend(rigs.up("trusted", "--fast").settings())
    store = await open_store(f"sqlite:///{tmp_path / 'turns.db'}", rules=work_rules(), clock=FakeClock())
    yield Subject(backend, open_memories(backend, store.ledger), account=f"acme-{uuid.uuid4().hex[:8]}")
    await store.aclose()
    await backend.aclose()


async def test_what_openviking_extracts_are_memories_of_their_own(subject: Subject) -> None:
    assert subject.memories is not None
    who = subject.who()
    said = "my name is Ada.", "Hello Ada.", "I live in Antwerp.", "Noted.", "I prefer green tea.", "So do I."
    await subject.backend.append(who, subject.turn(*said), soon())
    await subject.committed(who)

    async def live() -> dict[str, Memory]:
        assert subject.memories is not None
        return {one.text: one for one in await subject.memories.newest(who, MemoryFilter(), None, 50, soon())}

    found = await eventually(live, lambda found: len(found) >= 3)
    home, name, tea = (found[text] for text in ("I live in Antwerp.", "my name is Ada.", "I prefer green tea."))
    assert home.uri.partition("#")[0] == name.uri.partition("#")[0] != tea.uri
    await subject.memories.change(who, home.id, MemoryChange(text="I live in Ghent."), 1, soon())
    receipt = await subject.memories.forget(who, name.id, soon())
    assert receipt is not None and receipt.removed["memories"] == 1
    assert any("sessions" in one.what for one in receipt.kept), "it stands in what was said, and that is told"
    await subject.memories.forget(who, tea.id, soon())
    file = home.uri.partition("#")[0]
    assert (await subject.backend.read(who, [file], soon()))[file] == "# user\n- I live in Ghent."
    query = "Ada lives in Antwerp or Ghent, tea"
    hits = await subject.backend.find(subject.who("another"), query, Target.MEMORIES, 20, soon())
    text = "\n".join(hit.text for hit in hits)
    assert "Ghent" in text and not any(gone in text for gone in ("Antwerp", "Ada", "green tea"))
    assert (await live())["I live in Ghent."].id == home.id
