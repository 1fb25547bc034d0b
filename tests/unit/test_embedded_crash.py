"""Killed at any moment, the embedded backend keeps what it acknowledged and nothing by halves."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import anyio
import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.embedded.backend import EmbeddedBackend
from app.embedded.storage.layout import session_path, user_dir
from app.ports import CommitState, SessionHistory, Target
from app.settings import EmbeddedSettings

pytestmark = pytest.mark.anyio

WHO = Identity(Tenant(), "crash", None, "main", None, PeerRole.ASSISTANT)
BATCH = 3
ACKNOWLEDGED = 5

# Appends batch after batch and commits now and then; says each acknowledged batch on its standard output.
WRITER = """
import sys
from pathlib import Path
import anyio
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.capture.captured_message import CapturedMessage, TextPart
from app.embedded.backend import EmbeddedBackend
from app.settings import EmbeddedSettings

async def main(directory, start):
    who = Identity(Tenant(), "crash", None, "main", None, PeerRole.ASSISTANT)
    backend = EmbeddedBackend(Path(directory), EmbeddedSettings())
    for batch in range(start, 100000):
        messages = [
            CapturedMessage("user", (TextPart(f"I own marker{batch}x{n} since spring. " + "padding " * 200),),
                            "2026-03-04T10:00:00+00:00", f"t_{batch}.{n}")
            for n in range(3)
        ]
        await backend.append(who, messages, Deadline.after_ms(30000))
        print(batch, flush=True)
        if batch % 4 == 3:
            await backend.commit(who, 2, Deadline.after_ms(30000))

anyio.run(main, sys.argv[1], int(sys.argv[2]))
"""


async def test_a_killed_writer_loses_nothing_acknowledged(tmp_path: Path) -> None:
    (safe,) = await anyio.to_thread.run_sync(_killed_after_some, tmp_path, 0)
    (safe,) = await anyio.to_thread.run_sync(_killed_after_some, tmp_path, safe + 1000)
    numbers = await _whole_batches(tmp_path, [safe])
    assert numbers == sorted(numbers), "in order"


async def test_two_killed_processes_on_one_directory_lose_nothing_acknowledged(tmp_path: Path) -> None:
    one, other = await anyio.to_thread.run_sync(_killed_after_some, tmp_path, 0, 50_000)
    numbers = await _whole_batches(tmp_path, [one, other])
    for share in ([n for n in numbers if n < 50_000], [n for n in numbers if n >= 50_000]):
        assert share == sorted(share), "in order"


@pytest.mark.parametrize("cut", [1, 40, -1])
async def test_a_torn_end_is_cut_off_and_the_rest_stands(tmp_path: Path, cut: int) -> None:
    await _write(tmp_path, 3)
    stored = session_path(user_dir(tmp_path, WHO.tenant), WHO.session)
    backend = EmbeddedBackend(tmp_path, EmbeddedSettings())
    try:
        before = await _all_texts(backend, await _settled(backend))
    finally:
        await backend.aclose()
    whole = stored.read_bytes()
    line = whole.splitlines(keepends=True)[1]
    entry = json.loads(line) | {"id": "t_torn.0", "sourceId": "t_torn.0", "batch": [1, 2]}
    stored.write_bytes(whole + json.dumps(entry).encode() + b"\n" + line[:cut])
    backend = EmbeddedBackend(tmp_path, EmbeddedSettings())
    try:
        assert await _all_texts(backend, await _settled(backend)) == before
        assert await backend.arrived(WHO, "t_torn", _soon()) == frozenset()
    finally:
        await backend.aclose()
    assert stored.read_bytes() == whole


@pytest.mark.parametrize("batch", [[2, 3], [3, 4], [10**12, 3], [2, 10**12], [True, 3]])
async def test_a_torn_batch_takes_no_other_with_it(tmp_path: Path, batch: list[int]) -> None:
    await _write(tmp_path, 2)
    stored = session_path(user_dir(tmp_path, WHO.tenant), WHO.session)
    whole = stored.read_bytes()
    edited = json.loads(whole.splitlines()[-1]) | {"id": "t_torn.1", "sourceId": "t_torn.1", "batch": batch}
    stored.write_bytes(whole + json.dumps(edited).encode() + b"\n")  # a person deleted the lines before it
    backend = EmbeddedBackend(tmp_path, EmbeddedSettings())
    try:
        assert len(await _all_texts(backend, await _settled(backend))) == 2 * BATCH
    finally:
        await backend.aclose()


async def test_a_commit_that_a_crash_interrupted_is_taken_up_again(tmp_path: Path) -> None:
    await _write(tmp_path, 2)
    stored = session_path(user_dir(tmp_path, WHO.tenant), WHO.session)
    begun = {"type": "commit", "id": "archive_001", "messages": 3, "tokensBefore": 9, "firstKeptEntryId": "t_1.0"}
    with stored.open("ab") as file:
        file.write(json.dumps(begun).encode() + b"\n")
    backend = EmbeddedBackend(tmp_path, EmbeddedSettings())
    try:
        history = await _settled(backend)
        assert history.archives == 1
        assert "marker0x1" in history.overview
        assert len(history.messages) % BATCH == 0
    finally:
        await backend.aclose()


async def test_archives_that_end_in_another_order_leave_nothing_of_themselves_live(tmp_path: Path) -> None:
    await _write(tmp_path, 2)
    stored = session_path(user_dir(tmp_path, WHO.tenant), WHO.session)
    begun = [{"type": "commit", "id": f"archive_00{n}", "messages": 2, "tokensBefore": 9} for n in (1, 2)]
    ended = [{"type": "compaction", "id": f"archive_00{n}", "state": "completed", "summary": "s"} for n in (2, 1)]
    with stored.open("a") as file:
        file.writelines(json.dumps(entry) + "\n" for entry in (*begun, *ended))
    backend = EmbeddedBackend(tmp_path, EmbeddedSettings())
    try:
        history = await _settled(backend)
        assert [message.source_id for message in history.messages] == ["t_1.1", "t_1.2"]
    finally:
        await backend.aclose()


async def _write(directory: Path, batches: int) -> None:
    backend = EmbeddedBackend(directory, EmbeddedSettings())
    try:
        for batch in range(batches):
            texts = [TextPart(f"I prefer marker{batch}x{n} for the theme.") for n in range(BATCH)]
            at = "2026-03-04T10:00:00+00:00"
            messages = [CapturedMessage("user", (text,), at, f"t_{batch}.{n}") for n, text in enumerate(texts)]
            await backend.append(WHO, messages, _soon())
    finally:
        await backend.aclose()


async def _whole_batches(directory: Path, safe: list[int]) -> list[int]:
    """The numbers of the batches that are stored, after a look that none is there by half or twice, that those
    acknowledged are found, and that nothing is left lying about."""
    backend = EmbeddedBackend(directory, EmbeddedSettings())
    try:
        stored = await _all_texts(backend, await _settled(backend))
        for number in safe:
            hits = await backend.find(WHO, f"marker{number}x1", Target.MEMORIES, 5, _soon())
            assert f"marker{number}x1" in "\n".join(hit.text for hit in hits)
    finally:
        await backend.aclose()
    names = [text.split()[2] for text in stored]
    numbers = [int(name.removeprefix("marker").removesuffix("x0")) for name in names[::BATCH]]
    assert names == [f"marker{number}x{n}" for number in numbers for n in range(BATCH)], "whole batches"
    assert len(set(numbers)) == len(numbers), "nothing twice"
    assert set(safe) <= set(numbers)
    stored = session_path(user_dir(directory, WHO.tenant), WHO.session)
    assert all(isinstance(json.loads(line), dict) for line in stored.read_bytes().splitlines())
    assert not [name for _, _, names in os.walk(directory) for name in names if name.startswith(".tmp-")]
    return numbers


def _killed_after_some(directory: Path, *starts: int) -> list[int]:
    """Run a writer from each number on until each acknowledged some batches, and kill them; the last batch that each
    acknowledged."""
    with contextlib.ExitStack() as stack:
        writers = []
        for start in starts:
            command = [sys.executable, "-c", WRITER, str(directory), str(start)]
            writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
            writers.append(stack.enter_context(writer))
            stack.callback(writer.kill)
        said = [[_output(writer).readline() for _ in range(ACKNOWLEDGED)] for writer in writers]
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
        return [int([*lines, *_output(writer)][-1]) for lines, writer in zip(said, writers, strict=True)]


def _output(writer: subprocess.Popen[str]) -> IO[str]:
    assert writer.stdout is not None
    return writer.stdout


async def _settled(backend: EmbeddedBackend) -> SessionHistory:
    """The past, once every commit in it has ended."""
    with anyio.fail_after(60):
        for number in range(1, 100_000):
            task = f"commit_archive_{number:03d}"
            while (status := await backend.commit_status(WHO, task, _soon())).state is CommitState.RUNNING:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            if status.state is CommitState.LOST:
                break
            assert status.state is CommitState.COMPLETED, status.error
    return await backend.history(WHO, 100_000, _soon())


async def _all_texts(backend: EmbeddedBackend, history: SessionHistory) -> list[str]:
    messages = []
    for number in range(1, history.archives + 1):
        messages += await backend.archived_messages(WHO, f"archive_{number:03d}", _soon())
    messages += history.messages
    return [part.text for message in messages for part in message.parts if isinstance(part, TextPart)]


def _soon() -> Deadline:
    return Deadline.after_ms(60_000)
