"""Random sequences of saying, storing, changing, forgetting, repeating, committing, rebuilding, starting again and
being killed: what was forgotten is never found, another user's is never touched, and everything else is still there.

``SEQUENCES=1000 pytest tests/unit/test_forgetting_sequences.py`` is the long run (``make sequences``); a tenth of them
are played on an encrypted directory.
"""

import asyncio
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.atrest import durable
from app.atrest.data_directory import vault_of
from app.atrest.keys import Keys
from app.atrest.vault import PLAIN
from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.memories.forget_selection import Forgetting
from app.core.memories.memory import MemoryChange, MemoryFilter, MemorySource, NewMemory
from app.embedded.backend import EmbeddedBackend
from app.embedded.local_engine import utc_now
from app.embedded.storage.layout import user_dir
from app.ports import CommitState, Target
from app.settings import EmbeddedSettings, EmbedderSettings
from app.text.dates import iso
from tests.scan import places_of

T = TypeVar("T")

WORDS = EmbeddedSettings(embedder=EmbedderSettings(kind="none"))
MINE, THEIRS = Tenant(None, "mine"), Tenant(None, "theirs")
SESSIONS = ("one", "two")
PICK = st.integers(0, 1_000)
DONE, FAILED, KILLED = 0, 1, 9


def who(tenant: Tenant, session: str = "one") -> Identity:
    return Identity(tenant, session, None, "main", None, PeerRole.NONE)


def soon() -> Deadline:
    return Deadline.after_ms(30_000)


def text_of(mark: str) -> str:
    return f"The code of shelf {mark} is blue."


class Forgettings(RuleBasedStateMachine):
    """One user's memory, and another user who has said the same things."""

    vault = PLAIN

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.directory = Path(tempfile.mkdtemp())
        self.count = 0
        self.messages: list[tuple[str, CapturedMessage]] = []
        self.stored: dict[str, str] = {}
        """Mark by memory id, of those that were stored on purpose and hold."""
        self.said: dict[str, str] = {}
        """Session by mark, of what was said and not forgotten."""
        self.gone: set[str] = set()
        self.dies_at: int | None = None
        """The write at which whoever does the next thing is killed, and does it again."""
        self.open()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def do(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self.dies_at is not None:
            self.run(self.backend.aclose())
            child = os.fork()
            if not child:
                self.be_killed(work)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (DONE, KILLED)
            self.dies_at = None
            self.open()
        return self.run(work())

    def be_killed(self, work: Callable[[], Coroutine[Any, Any, T]]) -> NoReturn:
        """Do it in this process, and end at that write at the latest: half of it may be on disk."""
        writes = itertools.count()

        def dying(write: Callable[..., None]) -> Callable[..., None]:
            def until_then(path: Path, *what: Any, **how: Any) -> None:
                if next(writes) == self.dies_at:
                    if write is durable_put:
                        data, flags = what
                        write(path, data[: len(data) // 2], flags)
                    os._exit(KILLED)
                write(path, *what, **how)

            return until_then

        durable_put, outcome = durable.put, FAILED
        try:
            for name in ("put", "truncate", "sync_dir"):
                setattr(durable, name, dying(getattr(durable, name)))
            self.loop = asyncio.new_event_loop()
            self.open()
            self.run(work())
            outcome = DONE
        finally:
            os._exit(outcome)

    def open(self) -> None:
        self.backend = EmbeddedBackend(self.directory, WORDS, vault=self.vault)
        self.memories = self.backend.memories

    def now(self) -> str:
        return iso(utc_now())

    def mark(self) -> str:
        self.count += 1
        return f"qz{self.count:03}x"

    def new(self, mark: str) -> NewMemory:
        at = self.now()
        return NewMemory(f"m_{self.count:04}", text_of(mark), at, MemorySource("api", at), "notes")

    @initialize()
    def another_user(self) -> None:
        for number in range(3):
            mark = f"qz{number + 1:03}x"
            self.count += 1
            self.run(self.memories.store(who(THEIRS), self.new(mark), soon()))
        self.count = 0
        self.theirs = self.run(self.memories.newest(who(THEIRS), MemoryFilter(), None, 50, soon()))

    @rule(write=st.integers(0, 7))
    def be_killed_soon(self, write: int) -> None:
        self.dies_at = write

    @rule(session=st.sampled_from(SESSIONS))
    def say(self, session: str) -> None:
        marks = [self.mark(), self.mark()]
        turn = f"t_{self.count}"
        texts = [" ".join(text_of(mark) for mark in marks), f"Noted: {marks[0]}."]
        said = [
            CapturedMessage(role, (TextPart(text),), self.now(), f"{turn}.{number}")
            for number, (role, text) in enumerate(zip(("user", "assistant"), texts, strict=True))
        ]
        self.do(lambda: self.backend.append(who(MINE, session), said, soon()))
        self.messages += [(session, message) for message in said]
        self.said |= dict.fromkeys(marks, session)

    @rule()
    def store(self) -> None:
        new = self.new(self.mark())  # the count has moved on, so that the id is a new one
        self.do(lambda: self.memories.store(who(MINE), new, soon()))
        self.stored[new.id] = new.text.split()[4]

    @precondition(lambda self: self.said)
    @rule(pick=PICK)
    def store_what_was_said(self, pick: int) -> None:
        mark = sorted(self.said)[pick % len(self.said)]
        if mark not in self.stored.values():
            self.count += 1
            new = self.new(mark)
            self.do(lambda: self.memories.store(who(MINE), new, soon()))
            self.stored[new.id] = mark

    @precondition(lambda self: self.stored)
    @rule(pick=PICK)
    def change(self, pick: int) -> None:
        memory_id = sorted(self.stored)[pick % len(self.stored)]
        mark = self.mark()
        self.do(lambda: self.memories.change(who(MINE), memory_id, MemoryChange(text=text_of(mark)), None, soon()))
        self.said.pop(self.stored[memory_id], None)  # it holds no more, and is withheld
        self.stored[memory_id] = mark

    @precondition(lambda self: self.stored)
    @rule(pick=PICK)
    def forget(self, pick: int) -> None:
        memory_id = sorted(self.stored)[pick % len(self.stored)]
        statement = self.run(self.memories.statement(who(MINE), memory_id, soon()))
        assert statement is not None
        meant = Forgetting(self.now(), (statement,))
        erased = self.do(lambda: self.memories.erase(who(MINE), meant, soon(), dry_run=False))
        assert erased.kept == ()
        marks = {text.split()[4] for text in statement.texts}
        self.gone |= marks
        del self.stored[memory_id]
        for mark in marks:
            self.said.pop(mark, None)

    @rule(session=st.sampled_from(SESSIONS))
    def forget_session(self, session: str) -> None:
        meant = Forgetting(self.now(), session=session)
        assert self.do(lambda: self.memories.erase(who(MINE), meant, soon(), dry_run=False)).kept == ()
        marks = {mark for mark, where in self.said.items() if where == session}
        self.gone |= marks - set(self.stored.values())
        self.said = {mark: where for mark, where in self.said.items() if mark not in marks}

    @precondition(lambda self: self.messages)
    @rule()
    def repeat_deliveries(self) -> None:
        for session in SESSIONS:
            again = [message for where, message in self.messages if where == session][-100:]
            if again:
                self.do(partial(self.backend.append, who(MINE, session), again, soon()))

    @rule(session=st.sampled_from(SESSIONS))
    def commit(self, session: str) -> None:
        if any(where == session for where, _ in self.messages):
            self.do(lambda: self.committed(session))

    async def committed(self, session: str) -> None:
        await self.backend.commit(who(MINE, session), 0, soon())
        for number in itertools.count(1):  # and those that a kill left under way
            task = f"commit_archive_{number:03}"
            status = await self.backend.commit_status(who(MINE, session), task, soon())
            while status.state is CommitState.RUNNING:
                await asyncio.sleep(0.001)
                status = await self.backend.commit_status(who(MINE, session), task, soon())
            if status.state is CommitState.LOST:
                return
            assert status.state is CommitState.COMPLETED, status

    @rule(rebuild=st.booleans())
    def start_again(self, rebuild: bool) -> None:
        self.run(self.backend.aclose())
        if rebuild:
            for path in self.directory.rglob("index.db*"):
                path.unlink()
        self.open()

    @invariant()
    def what_was_forgotten_is_nowhere(self) -> None:
        if self.gone:
            home = user_dir(self.directory, MINE)
            assert places_of(home, *self.gone, vault=self.vault) == []
            mark = sorted(self.gone)[-1]
            hits = self.run(self.backend.find(who(MINE), f"code of shelf {mark}", Target.MEMORIES, 20, soon()))
            assert not any(mark in hit.text for hit in hits)

    @invariant()
    def everything_else_is_there(self) -> None:
        live = self.run(self.memories.newest(who(MINE), MemoryFilter(), None, 200, soon()))
        texts = {memory.id: memory.text for memory in live}
        assert {memory_id: text_of(mark) for memory_id, mark in self.stored.items()}.items() <= texts.items()
        turns = self.run(self.memories.newest(who(MINE), MemoryFilter(category="events"), None, 200, soon()))
        spoken = "\n".join(memory.text for memory in turns)
        assert [mark for mark in self.said if text_of(mark) not in spoken] == []

    def teardown(self) -> None:
        theirs = self.run(self.memories.newest(who(THEIRS), MemoryFilter(), None, 50, soon()))
        assert theirs == getattr(self, "theirs", theirs)
        self.run(self.backend.aclose())
        self.loop.close()
        shutil.rmtree(self.directory)


class EncryptedForgettings(Forgettings):
    """The same with a key: nothing is left for its holder either."""

    vault = vault_of(Keys.of(b"k" * 32))


SEQUENCES = int(os.environ.get("SEQUENCES", "3"))
SOME = settings(stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck))
Forgettings.TestCase.settings = settings(SOME, max_examples=SEQUENCES)
EncryptedForgettings.TestCase.settings = settings(SOME, max_examples=max(1, SEQUENCES // 10))
TestForgettings = Forgettings.TestCase
TestEncryptedForgettings = EncryptedForgettings.TestCase
