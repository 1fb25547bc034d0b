"""Many users of one embedded backend: their files are closed again, and never under somebody who uses them."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.core.identity import Tenant
from app.embedded.index.sqlite import SqliteError
from app.embedded.session_commits import InBackground
from app.embedded.space import UserSpace
from app.embedded.users import OpenUsers
from app.settings import EmbeddedSettings

MANY_USERS = """
import asyncio, resource, sys
from datetime import UTC, datetime
from pathlib import Path
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, SessionKind, Tenant
from app.core.capture.captured_message import CapturedMessage, TextPart
from app.embedded.backend import EmbeddedBackend
from app.ports import Target
from app.settings import EmbeddedSettings

descriptors, users, at_once = map(int, sys.argv[2:])
resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

async def ask(backend, number, gate):
    who = Identity(Tenant("acme", f"u{number}"), "s1", None, "main", None, PeerRole.ASSISTANT, SessionKind.CHAT)
    said = CapturedMessage("user", (TextPart(f"My cat is called Biscuit {number}."),), datetime.now(UTC).isoformat())
    async with gate:
        await backend.append(who, [said], Deadline.after_ms(120_000))
        await backend.commit(who, 0, Deadline.after_ms(120_000))
        (hit, *_) = await backend.find(who, "what is my cat called", Target.MEMORIES, 3, Deadline.after_ms(120_000))
        assert f"Biscuit {number}." in hit.text, hit

async def main():
    backend = EmbeddedBackend(Path(sys.argv[1]), EmbeddedSettings())
    gate = asyncio.Semaphore(at_once)
    await asyncio.gather(*(ask(backend, number, gate) for number in range(users)))
    await asyncio.gather(*(ask(backend, number, gate) for number in range(20)))
    await backend.aclose()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("descriptors", "users", "at_once"),
    [
        pytest.param(1024, 200, 200, marks=pytest.mark.long),
        pytest.param(256, 60, 60, marks=pytest.mark.long),
        (128, 60, 1),
    ],
)
def test_more_users_than_there_are_descriptors_all_get_their_answers(
    tmp_path: Path, descriptors: int, users: int, at_once: int
) -> None:
    command = [sys.executable, "-c", MANY_USERS, str(tmp_path), str(descriptors), str(users), str(at_once)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


class Opened:
    """The users of a directory, ``limit`` of them open at rest, and who was opened, in order."""

    def __init__(self, directory: Path, threads: ThreadPoolExecutor, limit: int) -> None:
        self.directory = directory
        self.log: list[str | None] = []
        self.users = OpenUsers(self.open, threads, limit)

    def open(self, tenant: Tenant, in_background: InBackground) -> UserSpace:
        self.log.append(tenant.user)
        return UserSpace(self.directory, tenant, EmbeddedSettings(), None, in_background)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


ANN, BOB, EVE = (Tenant("acme", user) for user in ("ann", "bob", "eve"))


def is_open(space: UserSpace) -> bool:
    try:
        space.index.word_scores("word", [""], 1)
        return space.index._index._database.version >= 0
    except SqliteError:
        return False


def test_a_user_in_use_stays_open_whoever_else_comes(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    opened = Opened(tmp_path, threads, limit=1)
    with opened.users.using(ANN) as ann:
        with opened.users.using(BOB), opened.users.using(EVE), opened.users.using(ANN) as again:
            assert again is ann
        assert is_open(ann)
    with opened.users.using(BOB):
        pass
    assert not is_open(ann), "bob is used last"
    with opened.users.using(ANN) as again:
        assert is_open(again)
    assert opened.log == ["ann", "bob", "eve", "bob", "ann"]
    opened.users.close()


def test_work_in_the_background_waits_without_its_user_and_finds_him_open(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    opened = Opened(tmp_path, threads, limit=1)
    go = threading.Event()
    threads.submit(go.wait)
    done: list[bool] = []
    with opened.users.using(ANN) as ann:
        jobs = [ann.commits._in_background("work", lambda space: done.append(is_open(space))) for _ in range(2)]
    assert jobs[0] is not None and jobs[0] is jobs[1], "one work of a name at a time"
    with opened.users.using(BOB):
        pass
    assert not is_open(ann)
    go.set()
    jobs[0].result(60)
    assert done == [True] and opened.log == ["ann", "bob", "ann"]
    opened.users.close()
    with opened.users.using(ANN) as ann:
        assert ann.commits._in_background("work", lambda space: done.append(True)) is None, "everything is being closed"
    assert not is_open(ann)


def test_who_is_in_use_when_all_is_closed_is_closed_behind_it(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    opened = Opened(tmp_path, threads, limit=5)
    with opened.users.using(ANN) as ann, opened.users.using(BOB) as bob:
        pass
    with opened.users.using(ANN):
        opened.users.close()
        assert is_open(ann) and not is_open(bob)
    assert not is_open(ann)


def test_a_user_who_can_not_be_opened_is_tried_again(tmp_path: Path, threads: ThreadPoolExecutor) -> None:
    opened = Opened(tmp_path, threads, limit=1)
    in_the_way = tmp_path / "accounts"
    in_the_way.write_text("")
    with pytest.raises(NotADirectoryError), opened.users.using(ANN):
        pass
    in_the_way.unlink()
    with opened.users.using(ANN) as ann:
        assert is_open(ann)
    opened.users.close()
