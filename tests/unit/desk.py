"""A store, a worker and a backend, in a time of their own."""

from pathlib import Path

import anyio

from app.core.deadline import Deadline
from app.core.identity import Identity
from app.engine.compaction import Compact, CompactInput, CompactResult
from app.store.turns import SqlTurnStore, open_store
from app.worker.supervisor import Worker, WorkerSettings
from tests.unit.memory_backend import MemoryBackend
from tests.unit.turning import FakeClock, a_turn, somebody, work_rules


class Desk:
    """A store, a worker and a backend; time passes only when a test says so."""

    def __init__(self, store: SqlTurnStore, backend: MemoryBackend, clock: FakeClock) -> None:
        self.store = store
        self.clock = clock
        self.work_with(backend)

    def work_with(self, backend: MemoryBackend) -> None:
        """Start over with another backend."""
        self.backend = backend
        self.worker = Worker(self.store, backend, WorkerSettings(), random=lambda: 1.0)

    async def say(self, *texts: str, who: Identity | None = None, **turn: object) -> object:
        return await self.store.accept(a_turn(*texts, who=who, **turn))  # type: ignore[arg-type]

    async def work(self, seconds: float = 0.0) -> None:
        """Let ``seconds`` pass, doing what falls due on the way."""
        end = self.clock.now + seconds
        while True:
            await self.worker.drain()
            due = min((await self.store.queue.first_due()).values(), default=None)
            if due is None or due > end:
                break
            self.clock.now = max(self.clock.now, due)
        self.clock.now = end

    async def compacted(self, keep: int = 0, who: Identity | None = None) -> CompactResult:
        """`/compact`, answered after the worker has done what was due."""
        answers: list[CompactResult] = []
        deadline = Deadline(60.0, lambda: 0.0)  # seconds of a real clock: no test waits for it

        async def ask() -> None:
            asked = CompactInput(token_budget=1000, keep_recent=keep)
            answers.append(await Compact(self.store, self.worker).run(who or somebody(), asked, deadline))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            while not answers:
                await anyio.lowlevel.checkpoint()
                await self.work(1.0)
        return answers[0]


async def open_desk(path: Path, **commit: float) -> Desk:
    clock = FakeClock()
    store = await open_store(f"sqlite:///{path / 'turns.db'}", rules=work_rules(**commit), clock=clock)
    return Desk(store, MemoryBackend(), clock)
