"""The sessions at a glance: a small file beside each session file, whatever number of sessions there is."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from app.core.identity import Tenant
from app.embedded.storage.layout import user_dir
from tests.unit.test_embedded_memory import commit, opened, tell

pytestmark = pytest.mark.anyio


def sessions_of(directory: Path) -> Path:
    return user_dir(directory, Tenant()) / "sessions"


def glance(directory: Path, session: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((sessions_of(directory) / f"{session}.meta.json").read_text())
    return value


async def test_a_commit_writes_of_its_own_session_only_however_many_there_are(tmp_path: Path) -> None:
    async with opened(tmp_path) as backend:
        for session in ("one", "two", "sessions"):
            await tell(backend, "I live in Lisbon.", session=session)
            await commit(backend, session)
        await tell(backend, "I moved to Porto.", session="two", turn="t_two")

        files = [f"{name}.meta.json" for name in ("one", "two", "sessions")]
        for name in files:  # long ago, as two writes within a tick of the clock bear the same time
            os.utime(sessions_of(tmp_path) / name, ns=(1, 1))
        await commit(backend, "two")
        written = {path.name: path.stat().st_mtime_ns for path in sessions_of(tmp_path).glob("*.json")}
    assert sorted(written) == sorted(files)
    assert [name for name in files if written[name] != 1] == ["two.meta.json"]
    two = glance(tmp_path, "two")
    assert (two["sessionId"], two["file"]) == ("two", "two.jsonl")
    assert (two["messages"], two["compactionCount"], two["epoch"], two["contextTokens"]) == (2, 2, 0, 0)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in sessions_of(tmp_path).iterdir())


async def test_the_index_of_earlier_versions_is_taken_apart(tmp_path: Path) -> None:
    async with opened(tmp_path) as backend:
        await tell(backend, "I live in Lisbon.", session="new")
        await commit(backend, "new")
    newest = glance(tmp_path, "new")
    entry = {"sessionId": "s/1", "file": "s%2F1.jsonl", "messages": 7}
    index = sessions_of(tmp_path) / "sessions.json"
    index.write_text(json.dumps({"s/1": entry, "new": {"messages": 0}, "odd": 5}))
    async with opened(tmp_path) as backend:
        await tell(backend, "And I like it.", session="other")
    assert not index.exists()
    assert glance(tmp_path, "s%2F1") == entry
    assert glance(tmp_path, "new") == newest, "what is newer stays"


@pytest.mark.parametrize("text", ["", "[1, 2]", "{"])
async def test_a_damaged_index_of_earlier_versions_is_let_go(tmp_path: Path, text: str) -> None:
    sessions_of(tmp_path).mkdir(parents=True)
    (sessions_of(tmp_path) / "sessions.json").write_text(text)
    async with opened(tmp_path) as backend:
        await tell(backend, "I live in Lisbon.")
    assert [path.name for path in sessions_of(tmp_path).iterdir()] == ["first.jsonl"]
