"""An import that fails is tried again for as long as an outage may take, and given up for good after that."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.core.reasons import Reason
from app.documents.resource import ImportTask, Kind, Resource, Status
from app.engine.resources.no_resources import NoResources
from app.ports import BackendError, NewResource
from app.store.resource_imports import Claimed
from app.worker.backoff import Backoff
from app.worker.resource_importer import GIVE_UP_S, MAX_ATTEMPTS, SLOW_S, ResourceImporter

pytestmark = pytest.mark.anyio

AT = "2026-11-22T10:00:00.000Z"
GUIDE = Resource("resources/guide", Kind.RESOURCE, "Guide", "guide.md", 9, AT, Status.PROCESSING)


class Failing(NoResources):
    """A backend that fails."""

    def __init__(self, *, retryable: bool) -> None:
        self._retryable = retryable

    async def put(self, who: Identity, new: NewResource, deadline: Deadline) -> None:
        raise BackendError(Reason.OPENVIKING_UNAVAILABLE, "it can not be reached", retryable=self._retryable)

    async def remove(self, who: Identity, path: str, deadline: Deadline) -> bool:
        raise BackendError(Reason.OPENVIKING_UNAVAILABLE, "it can not be reached", retryable=self._retryable)


class OneImport:
    """Accepted imports, of which there is one."""

    def __init__(self, claimed: Claimed) -> None:
        self._waiting = [claimed]
        self.on_work: Callable[[], None] = lambda: None
        self.outcome: tuple[str, object] | None = None
        self.ended = anyio.Event()

    async def claim(self, *_: object) -> Claimed | None:
        return self._waiting.pop() if self._waiting else None

    async def put_off(self, _claimed: Claimed, _owner: str, seconds: float, detail: str) -> bool:
        self.outcome = (detail, seconds)
        self.ended.set()
        return True

    async def end(self, _claimed: Claimed, _owner: str, state: Status, detail: str = "") -> bool:
        self.outcome = (detail, state)
        self.ended.set()
        return True

    async def spools(self) -> frozenset[str]:
        return frozenset()


async def outcome_of(claimed: Claimed, backend: NoResources, directory: Path) -> tuple[str, object] | None:
    """How an import goes on this backend: what is said of it, and the pause before the next try or the state."""
    imports = OneImport(claimed)
    importer = ResourceImporter(
        backend,
        imports,  # type: ignore[arg-type]
        directory,
        lambda _: None,
        Backoff(0.1, 5.0, lambda: 1.0),
        1,
    )
    async with anyio.create_task_group() as group:
        group.start_soon(importer.run)
        await imports.ended.wait()
        group.cancel_scope.cancel()
    return imports.outcome


@pytest.mark.parametrize("is_removal", [False, True])
@pytest.mark.parametrize(
    ("attempts", "age_s", "retryable", "outcome"),
    [
        (1, 1.0, True, 0.2),
        (MAX_ATTEMPTS - 1, GIVE_UP_S * 2, True, 5.0),
        (MAX_ATTEMPTS, GIVE_UP_S - 1, True, SLOW_S),
        (MAX_ATTEMPTS * 10, GIVE_UP_S - 1, True, SLOW_S),
        (MAX_ATTEMPTS, GIVE_UP_S, True, Status.FAILED),
        (1, 1.0, False, Status.FAILED),
    ],
)
async def test_a_failure_is_waited_out(
    tmp_path: Path, attempts: int, age_s: float, retryable: bool, outcome: object, is_removal: bool
) -> None:
    claimed = Claimed(Tenant("acme", "mia"), ImportTask("i_1", GUIDE, AT), "i_1.jsonl", attempts, age_s, is_removal)
    assert await outcome_of(claimed, Failing(retryable=retryable), tmp_path) == ("it can not be reached", outcome)


class Broken(NoResources):
    """A backend with a bug."""

    async def put(self, who: Identity, new: NewResource, deadline: Deadline) -> None:
        raise KeyError("passages")


async def test_a_bug_ends_one_import_and_not_those_beside_it(tmp_path: Path) -> None:
    claimed = Claimed(Tenant("acme", "mia"), ImportTask("i_1", GUIDE, AT), "i_1.jsonl", 1, 1.0)
    assert await outcome_of(claimed, Broken(), tmp_path) == ("an unexpected error; the log says more", 0.2)
