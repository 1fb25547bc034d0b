"""Directories from before agents shared the profile: nothing in them is lost, and every agent sees it."""

from pathlib import Path

import pytest

from app.atrest.vault import PLAIN
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.embedded.backend import EmbeddedBackend
from app.embedded.storage.layout import user_dir
from app.embedded.storage.record_lines import read_records, write_records
from app.embedded.storage.records import Record, Source
from app.embedded.storage.sharing import move_shared
from app.ports import Target
from app.settings import EmbeddedSettings

pytestmark = pytest.mark.anyio


def soon() -> Deadline:
    return Deadline.after_ms(20_000)


def record(key: str, value: str, day: int, kind: str = "profile") -> Record:
    source = Source("chat_turn", f"t_{day}.0", f"2026-03-{day:02}T09:00:00+00:00")
    return Record(kind, key, value, 0.9, source)


def keep(root: Path, file: str, title: str, *records: Record, own: str = "") -> Path:
    path = root / file
    text = write_records(title, records)
    PLAIN.write_atomic(path, text.replace(f"# {title}\n", f"# {title}\n{own}", 1).encode())
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return user_dir(tmp_path, Tenant())


async def test_a_second_agent_sees_what_the_first_was_told_before(tmp_path: Path, root: Path) -> None:
    keep(root, "peers/main/memories/profile.md", "Profile", record("profile.location", "I live in Porto.", 1))
    theme = record("preference.theme", "I prefer the dark theme.", 1, "preference")
    keep(root, "peers/main/memories/preferences/theme.md", "Preference: theme", theme)
    backend = EmbeddedBackend(tmp_path, EmbeddedSettings())
    try:
        for agent, sees in (("main", True), ("other", False)):
            who = Identity(Tenant(), "asking", None, agent, None, PeerRole.ASSISTANT)
            found = await backend.find(who, "where do I live, Porto", Target.MEMORIES, 5, soon())
            assert [(hit.peer, "Porto" in hit.text) for hit in found] == [(None, True)]
            assert bool(await backend.find(who, "dark theme", Target.MEMORIES, 5, soon())) is sees
    finally:
        await backend.aclose()


def test_what_was_told_last_holds_whoever_was_told(root: Path) -> None:
    keep(root, "memories/profile.md", "Profile", record("profile.name", "My name is Mara.", 2))
    keep(root, "peers/a/memories/profile.md", "Profile", record("profile.location", "I live in Porto.", 5))
    keep(
        root,
        "peers/b/memories/profile.md",
        "Profile",
        record("profile.location", "I live in Lisbon.", 1),
        record("profile.name", "My phone number is 555-0142, call me there.", 4),
    )
    move_shared(root, PLAIN)
    _, records = read_records((root / "memories" / "profile.md").read_text())
    assert {r.key: r.value for r in records} == {
        "profile.name": "My name is Mara.",
        "profile.location": "I live in Porto.",
        "profile.phone-number": "My phone number is 555-0142, call me there.",
    }
    assert not list((root / "peers").rglob("*.md"))


def test_moving_again_after_a_crash_changes_nothing(root: Path) -> None:
    path = keep(root, "peers/a/memories/entities/kestrel.md", "Kestrel", record("k.is", "Kestrel is ours.", 1, "fact"))
    before = path.read_bytes()
    move_shared(root, PLAIN)
    moved = (root / "memories" / "entities" / "kestrel.md").read_bytes()
    PLAIN.write_atomic(path, before)
    move_shared(root, PLAIN)
    assert (root / "memories" / "entities" / "kestrel.md").read_bytes() == moved
    assert moved.startswith(b"# Kestrel\n")
    assert not path.exists()


def test_what_a_person_wrote_stays_where_it_was_written(root: Path) -> None:
    told = record("profile.location", "I live in Porto.", 1)
    path = keep(root, "peers/a/memories/profile.md", "Profile", told, own="\nOnly for this agent.\n")
    by_hand = root / "peers" / "a" / "memories" / "entities" / "gate.md"
    PLAIN.write_atomic(by_hand, b"# Gate\n\nThe gate opens inwards.\n")
    move_shared(root, PLAIN)
    assert "Only for this agent." in path.read_text()
    assert "Porto" not in path.read_text()
    assert by_hand.read_text() == "# Gate\n\nThe gate opens inwards.\n"
    assert "Porto" in (root / "memories" / "profile.md").read_text()
