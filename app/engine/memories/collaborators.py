"""What the use cases of memories work with, and what they have in common."""

import secrets
from base64 import b32encode
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.memories.memory import Reading
from app.engine.memories.auditing import NOT_AUDITED, Audit
from app.errors import BackendTrouble, NotFound
from app.policy.policy import Policy
from app.ports import BackendError, MemoryStore, WaitingMemories


class Delivery(Protocol):
    """Brings memories that wait to the backend; see `app.worker`."""

    async def flush(self, tenant: Tenant, deadline: Deadline) -> BackendError | None:
        """Deliver what waits of the tenant, in order; why something is left, None when nothing is."""
        ...


@dataclass(frozen=True, slots=True)
class Memories:
    """Everything that keeps memories. ``changed`` is told of each change, so that no search answers from before it."""

    store: MemoryStore
    waiting: WaitingMemories
    delivery: Delivery
    changed: Callable[[Tenant], Awaitable[None]]
    reads: Callable[[str], Reading]
    """What a text that names no category or sensitivity is."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    policy: Policy = field(default_factory=Policy)
    audit: Audit = NOT_AUDITED


def new_memory_id() -> str:
    """``m_`` and 26 lower-case letters and digits: 128 random bits."""
    return f"m_{b32encode(secrets.token_bytes(16)).decode().rstrip('=').lower()}"


def operator_of(tenant: Tenant) -> Identity:
    """Who asks where no session does: an identity that may see everything of the tenant."""
    return Identity(tenant, "", None, "", None, PeerRole.NONE)


@contextmanager
def told_to_the_caller() -> Iterator[None]:
    """A failure of the backend as a problem that the caller is told about."""
    try:
        yield
    except BackendError as error:
        if error.not_found:
            raise NotFound("there is no such memory") from error
        raise BackendTrouble(error.reason, error.detail, refused=not error.retryable) from error
