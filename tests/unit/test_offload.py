"""Large requests in another process: its answers, its calls back, its errors, and its end."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.core.deadline import Deadline
from app.core.reasons import Reason
from app.engine.results import AssembleInput
from app.engine.turn_capture import TurnInput
from app.errors import OutboxFull
from app.offload.jobs import WrongMessages
from app.offload.link import Bytes, Link
from app.offload.pool import ChildFailed, OffloadPool
from app.ports import Acceptance, BackendError, Compaction, Recorded
from app.settings import Settings
from app.store.prepared import Prepared
from tests.unit.turning import somebody

pytestmark = pytest.mark.anyio

QUESTION = {"role": "user", "content": "Which tea do I like in the morning?"}
ENDLESS = """
import asyncio, app.offload.jobs, app.offload.runner

def work():
    print("working", flush=True)
    while True:
        pass

async def on_loop(*_): work()
async def in_thread(*_): await asyncio.to_thread(work)
async def waiting(*_): print("working", flush=True); await asyncio.Event().wait()

app.offload.jobs.JOBS = {"on_loop": on_loop, "in_thread": in_thread, "waiting": waiting}
app.offload.runner.main()
"""


class Store:
    def __init__(self) -> None:
        self.accepted: list[Prepared] = []
        self.error: Exception | None = None

    async def recorded(self, *_: object, **__: object) -> Recorded:
        return Recorded()

    async def accept_prepared(self, prepared: Prepared) -> Acceptance:
        if self.error:
            raise self.error
        self.accepted.append(prepared)
        return Acceptance("committed", prepared.turn_id, prepared.captured, False, 7, Compaction())


class Searches:
    def __init__(self) -> None:
        self.asked: list[str] = []

    async def find(self, who: object, query: str, *_: object) -> Any:
        self.asked.append(query)
        raise BackendError(Reason.OPENVIKING_REJECTED, "no", retryable=False)


class Desk:
    def __init__(self) -> None:
        self.store, self.searches = Store(), Searches()
        self.offload = OffloadPool(Settings(_env_file=None), {"store": self.store, "searches": self.searches}, limit=1)

    async def assemble(self, messages: Any, *, latest: Deadline | None = None) -> Any:
        raw = json.dumps({"messages": messages, "prompt": None}).encode()
        asked = AssembleInput((), None, 1000)
        deadline = Deadline.after_ms(60_000)
        return await self.offload.run("assemble", [raw], somebody(), asked, deadline, deadline=latest)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    try:
        yield desk
    finally:
        await desk.offload.aclose()


async def test_what_is_cancelled_while_a_child_starts_leaves_no_process(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    connecting, started = asyncio.Event(), list[object]()

    async def hangs(end: socket.socket) -> None:
        with end:
            connecting.set()
            await asyncio.Event().wait()

    monkeypatch.setattr("app.offload.pool.Link.over", hangs)
    monkeypatch.setattr("app.offload.pool.subprocess.Popen", lambda *given, **_: started.append(given))
    asking = asyncio.create_task(desk.assemble([QUESTION]))
    await connecting.wait()
    asking.cancel()
    await asyncio.wait({asking})
    assert asking.cancelled() and not started


async def test_a_search_is_asked_here_and_its_failure_is_told_there(desk: Desk) -> None:
    done = await desk.assemble([QUESTION])
    assert desk.searches.asked == [QUESTION["content"]]
    assert (done.result.reason, done.messages, done.recalled) == (
        Reason.OPENVIKING_REJECTED,
        None,
        (Reason.OPENVIKING_REJECTED,),
    )
    assert [trace.reason for trace in done.traces] == ["openviking_rejected"]


async def test_a_turn_is_made_ready_there_and_put_on_disk_here(desk: Desk) -> None:
    raw = json.dumps({"messages": [QUESTION], "prompt": None}).encode()
    result = await desk.offload.run("keep_turn", [raw], somebody(), TurnInput((), key="k"), Deadline.after_ms(60_000))
    [prepared] = desk.store.accepted
    assert (result.status, result.captured, result.turn_id) == ("committed", 1, prepared.turn_id)
    assert prepared.turn.messages == () and QUESTION["content"] in prepared.payload
    assert prepared.turn.fingerprints == () and prepared.fingerprints.count('"') == 2, "as one string"
    assert prepared.host_messages == 1
    desk.store.error = OutboxFull("full")
    with pytest.raises(OutboxFull):
        await desk.offload.run("keep_turn", [raw], somebody(), TurnInput((), key="k"), Deadline.after_ms(60_000))


async def test_what_is_wrong_with_messages_is_told_and_the_child_goes_on(desk: Desk) -> None:
    with pytest.raises(WrongMessages) as wrong:
        await desk.assemble([QUESTION, {"role": 7}])
    assert wrong.value.args[0] == [("1.role", "Input should be a string")]
    with pytest.raises(json.JSONDecodeError):
        await desk.offload.run("assemble", [b"{nope"], somebody(), None, None)
    children = set(desk.offload._all)
    await desk.assemble([QUESTION])
    assert desk.offload._all == children and len(children) == 1


async def test_at_the_deadline_the_child_is_killed_and_the_next_one_answers(desk: Desk) -> None:
    await desk.assemble([QUESTION])
    [child] = desk.offload._all
    with pytest.raises(TimeoutError):
        await desk.assemble([QUESTION] * 50_000, latest=Deadline.after_ms(0))
    assert desk.offload._all <= {child}
    assert (await desk.assemble([QUESTION])).result.reason is Reason.OPENVIKING_REJECTED


async def test_a_child_that_dies_is_told_from_one_that_is_late(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    await desk.assemble([QUESTION])
    [child] = desk.offload._all
    child._process.kill()
    child._process.wait()
    with monkeypatch.context() as patched:
        patched.setattr(type(child), "lives", True)  # it dies as soon as it has the job
        with pytest.raises(ChildFailed):
            await desk.assemble([QUESTION])
    assert (await desk.assemble([QUESTION])).result.reason is Reason.OPENVIKING_REJECTED


async def test_a_child_calls_what_it_may_and_nothing_else(desk: Desk) -> None:
    await desk.assemble([QUESTION])
    [child] = desk.offload._all
    sent: list[Any] = []

    async def send(*message: Any) -> None:
        sent.append(message)

    child._link.send = send  # type: ignore[method-assign]
    await child._answer({"store": desk.store}, 1, "store", "aclose", (), {})
    assert isinstance(sent[0][3], PermissionError)


async def test_many_bytes_are_read_in_pieces_and_put_together_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    exactly = asyncio.StreamReader.readexactly

    async def watched(reader: asyncio.StreamReader, size: int) -> bytes:
        read.append(size)
        return await exactly(reader, size)

    monkeypatch.setattr(asyncio.StreamReader, "readexactly", watched)
    ours, theirs = socket.socketpair()
    link, other = await Link.over(ours), await Link.over(theirs)
    sending = asyncio.ensure_future(link.send(Bytes(b"x" * 5_000_000)))
    assert await other.receive() == (b"x" * 5_000_000,)
    await sending
    assert max(read) <= 1024 * 1024, "a copy of all of them at once holds up everybody"
    link.close()
    other.close()


async def test_large_messages_arrive_whole_beside_others() -> None:
    ours, theirs = socket.socketpair()
    link, other = await Link.over(ours), await Link.over(theirs)
    texts = [bytes([number]) * (3_000_000 + number) for number in range(3)]
    sending = [link.send("large", Bytes(text)) for text in texts] + [link.send("small", number) for number in range(9)]
    sent = asyncio.gather(*sending)
    received = [await other.receive() for _ in sending]
    await sent
    assert [text for kind, text in received if kind == "large"] == texts
    assert [number for kind, number in received if kind == "small"] == list(range(9))
    link.close()
    other.close()


@pytest.mark.parametrize("job", ["on_loop", "in_thread", "waiting"])
async def test_a_child_ends_with_its_parent_whatever_it_is_doing(job: str) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ENDLESS, str(theirs.fileno())),
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
    try:
        link = await Link.over(ours)
        await link.send(Settings(_env_file=None))
        await link.receive()
        await link.send("job", job, {})
        assert child.stdout and await child.stdout.readline() == b"working\n"
        link.close()  # as the system does for a process that is killed
        await asyncio.wait_for(child.wait(), 30)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


def test_a_child_loads_no_database() -> None:
    code = "import sys, app.offload.runner, app.offload.jobs; print('sqlalchemy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"
