"""Which users are open: a bounded number, the longest unused closed first, and none while it is in use."""

import resource
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

import structlog

from app.core.identity import Tenant
from app.embedded.index.sqlite import SqliteError
from app.embedded.session_commits import InBackground
from app.embedded.space import UserSpace

MAX_OPEN_USERS = 64
"""Users whose files are kept open; opening one again takes some milliseconds."""
_DESCRIPTORS_EACH = 7
"""Of an open user at rest: three of the index's writer, two of each reader that is kept."""

log = structlog.get_logger(__name__)

OpenSpace = Callable[[Tenant, InBackground], UserSpace]


def most_open_users() -> int:
    """As many as take a third of the descriptors that the process may have: connections and the store want theirs."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        MAX_OPEN_USERS if allowed == resource.RLIM_INFINITY else min(MAX_OPEN_USERS, allowed // _DESCRIPTORS_EACH // 3)
    )


@dataclass(slots=True)
class _Slot:
    """A user who is open, or being opened by the first who asked for it."""

    space: UserSpace | None = None
    uses: int = 0
    opening: threading.Lock = field(default_factory=threading.Lock)


class OpenUsers:
    """The users of one embedded backend. Every method may be called from any thread."""

    def __init__(self, open_space: OpenSpace, background: Executor, limit: int) -> None:
        """``limit`` users stay open while they are not in use."""
        self._open_space = open_space
        self._background = background
        self._limit = limit
        self._slots: OrderedDict[Tenant, _Slot] = OrderedDict()
        self._jobs: dict[tuple[Tenant, Hashable], Future[None]] = {}
        self._guard = threading.Lock()
        self._closing = False

    @contextmanager
    def using(self, tenant: Tenant) -> Iterator[UserSpace]:
        """The user's memory, open until the block ends. Users do not wait for one another while one is opened."""
        with self._guard:
            slot = self._slots.setdefault(tenant, _Slot())
            self._slots.move_to_end(tenant)
            slot.uses += 1
        try:
            with slot.opening:
                if slot.space is None:
                    slot.space = self._open_space(tenant, lambda name, work: self._in_background(tenant, name, work))
            yield slot.space
        finally:
            with self._guard:
                slot.uses -= 1
                unused = self._take_out_unused()
            _close(unused)

    def __len__(self) -> int:
        """How many are open, or being opened."""
        with self._guard:
            return len(self._slots)

    def close(self) -> None:
        """Begin nothing more, let what runs in the background end, and close all users, those in use after it."""
        with self._guard:
            self._closing = True
            self._limit = 0
            spaces = [slot.space for slot in self._slots.values() if slot.space]
        for space in spaces:
            space.stop()
        self._background.shutdown(wait=True, cancel_futures=True)
        with self._guard:
            unused = self._take_out_unused()
        _close(unused)

    def _take_out_unused(self) -> list[UserSpace]:
        """Those to close: the longest unused beyond the limit. Call it with the guard held, and close them without."""
        excess = max(0, len(self._slots) - self._limit)
        unused = islice((tenant for tenant, slot in self._slots.items() if slot.uses == 0), excess)
        slots = [self._slots.pop(tenant) for tenant in list(unused)]
        return [slot.space for slot in slots if slot.space]

    def _in_background(self, tenant: Tenant, name: Hashable, work: Callable[[UserSpace], None]) -> Future[None] | None:
        """See `InBackground`. What waits for its turn keeps no user open."""

        def run() -> None:
            with self.using(tenant) as space:
                work(space)

        with self._guard:
            if self._closing:
                return None
            job = self._jobs.get((tenant, name))
            if job is not None and not job.done():
                return job
            job = self._jobs[tenant, name] = self._background.submit(run)
        job.add_done_callback(lambda ended: self._forget(tenant, name, ended))
        return job

    def _forget(self, tenant: Tenant, name: Hashable, ended: Future[None]) -> None:
        with self._guard:
            if self._jobs.get((tenant, name)) is ended:
                del self._jobs[tenant, name]


def _close(spaces: list[UserSpace]) -> None:
    for space in spaces:
        try:
            space.close()
        except SqliteError as error:  # the next one to open the user finds what there is
            log.warning("index_not_closed", error=repr(error))
