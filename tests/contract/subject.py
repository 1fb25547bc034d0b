"""What the backend suite runs on, and how a backend joins it.

`test_backend.py` knows only `Subject`. An implementation joins by an async context manager that yields one:

* one that needs nothing but the checkout puts itself into ``SUBJECTS`` (as `tests.contract.embedded` does) and runs
  with every ``make test``; it gets a fresh directory and yields a subject on a backend without memories or sessions;
* one that needs a server defines its own ``subject`` fixture in a module that imports the suite
  (``tests/integration/test_backend_contract.py`` does so for the real OpenViking).
"""

import uuid
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import anyio

from app.core.capture.captured_message import CapturedMessage, Part, TextPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.recall.hits import Hit
from app.ports import CommitReceipt, CommitState, ContextBackend, MemoryStore, ResourceStore, Target

T = TypeVar("T")

PATIENCE_S = 60.0
"""Longest wait for something that goes on in the background of a backend."""


def soon() -> Deadline:
    return Deadline.after_ms(20_000)


@dataclass
class Subject:
    """A backend under test. ``account`` has the users alice and bob."""

    backend: ContextBackend
    memories: MemoryStore | None = None
    """Its memories one by one."""
    resources: ResourceStore | None = None
    """Its documents and skills."""
    account: str = "acme"
    mark: str = field(default_factory=lambda: uuid.uuid4().hex[:10])
    """Makes this test's session ids and turn ids its own on a shared server."""

    def who(
        self,
        session: str = "talk",
        *,
        user: str = "alice",
        agent: str = "main",
        sender: str | None = None,
        peer_role: PeerRole = PeerRole.ASSISTANT,
    ) -> Identity:
        return Identity(Tenant(self.account, user), f"{session}-{self.mark}", None, agent, sender, peer_role)

    def turn(self, *texts: str, name: str = "a", peer: str | None = None) -> list[CapturedMessage]:
        """Messages of user and assistant in turn, one per text."""
        return [
            self.message(index, TextPart(text), name=name, role="assistant" if index % 2 else "user", peer=peer)
            for index, text in enumerate(texts)
        ]

    def message(
        self, index: int, *parts: Part, name: str = "a", role: str = "user", peer: str | None = None
    ) -> CapturedMessage:
        at = f"2026-03-04T{index // 60 % 24:02}:{index % 60:02}:00+00:00"
        return CapturedMessage(
            role="assistant" if role == "assistant" else "user",
            parts=parts,
            created_at=at,
            source_id=f"{self.turn_id(name)}.{index}",
            peer_id=peer,
        )

    def turn_id(self, name: str = "a") -> str:
        return f"t_{self.mark}{name}"

    async def finished(self, who: Identity, receipt: CommitReceipt) -> CommitState:
        """How the commit ended."""
        task_id = receipt.task_id
        assert task_id is not None
        states = (CommitState.COMPLETED, CommitState.FAILED, CommitState.LOST)
        status = await eventually(
            lambda: self.backend.commit_status(who, task_id, soon()), lambda status: status.state in states
        )
        return status.state

    async def committed(self, who: Identity, keep_recent: int = 0) -> CommitReceipt:
        """A commit that ended well."""
        receipt = await self.backend.commit(who, keep_recent, soon())
        assert await self.finished(who, receipt) is CommitState.COMPLETED
        return receipt

    async def found(self, who: Identity, query: str, text: str) -> list[Hit]:
        """The hits for ``query`` once one of them holds ``text``: a backend may index a moment after the commit."""
        return await eventually(
            lambda: self.backend.find(who, query, Target.MEMORIES, 20, soon()),
            lambda hits: any(text in hit.text for hit in hits),
        )


async def eventually(ask: Callable[[], Awaitable[T]], good: Callable[[T], bool]) -> T:
    """The first answer that is good, or the last one when patience runs out."""
    with anyio.move_on_after(PATIENCE_S):
        while not good(answer := await ask()):  # noqa: ASYNC110 - a server tells nobody when it is done
            await anyio.sleep(0.05)
        return answer
    return await ask()


Plugin = Callable[[Path], AbstractAsyncContextManager[Subject]]

SUBJECTS: dict[str, Plugin] = {}
