"""Every call to a backend is counted once, with how it went, whichever backend it is."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from app.core.deadline import Deadline
from app.core.reasons import Reason
from app.core.recall.recall_filter import ANY
from app.observe.measured import MeasuredBackend
from app.ports import BackendError, BackendHealth, ContextBackend, Target
from tests.unit.memory_backend import MemoryBackend, refused
from tests.unit.turning import somebody

pytestmark = pytest.mark.anyio

WHO = somebody()
CALLS: dict[str, tuple[Any, ...]] = {
    "find": (WHO, "tea", Target.MEMORIES, 3),
    "read": (WHO, ["viking://a"]),
    "append": (WHO, ["a message"]),
    "arrived": (WHO, "t_1"),
    "copies": (WHO, "t_1"),
    "commit": (WHO, 0),
    "commit_status": (WHO, "task_1"),
    "history": (WHO, 1000),
    "archives": (WHO,),
    "archived_messages": (WHO, "archive_001"),
    "re_extract": (WHO, "archive_001"),
    "health": (),
}
LABELS = {"history": "past"}
"""Operations whose name in the metrics is not the method's."""
DEFAULTS: dict[str, tuple[Any, ...]] = {"find": (ANY,)}
"""What is passed on behind the deadline where nothing is given."""
DEADLINE = Deadline.after_ms(1_000)


class Scripted(MemoryBackend):
    """Every call gives, or raises, the same."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer
        self.given: list[tuple[str, tuple[Any, ...]]] = []

    def __getattribute__(self, name: str) -> Any:
        if name not in CALLS:
            return super().__getattribute__(name)

        async def call(*given: Any) -> object:
            self.given.append((name, given))
            if isinstance(self.answer, BaseException):
                raise self.answer
            return self.answer

        return call if name != "commit" else lambda *given, new_epoch, instructions: call(*given)


def measured(answer: object) -> tuple[MeasuredBackend, Scripted, list[tuple[str, str, str, float]]]:
    calls: list[tuple[str, str, str, float]] = []
    ticks: Iterator[float] = iter(range(0, 1000, 3))
    backend = Scripted(answer)
    return MeasuredBackend(backend, lambda *call: calls.append(call), clock=lambda: next(ticks)), backend, calls


def test_every_method_of_the_port_is_among_the_calls() -> None:
    methods = {name for name in vars(ContextBackend) if callable(getattr(ContextBackend, name)) and name[0] != "_"}
    assert methods - set(CALLS) == {"gauges", "aclose"}


@pytest.mark.parametrize("operation", CALLS)
async def test_a_call_is_passed_on_and_counted(operation: str) -> None:
    answer = BackendHealth(True, "well")
    backend, behind, calls = measured(answer)
    assert await getattr(backend, operation)(*CALLS[operation], DEADLINE) is answer
    assert behind.given == [(operation, (*CALLS[operation], DEADLINE, *DEFAULTS.get(operation, ())))]
    assert calls == [("memory", LABELS.get(operation, operation), "ok", 3)]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (refused(), "openviking_unavailable"),
        (BackendError(Reason.BACKEND_UNAVAILABLE, "no", retryable=True, outcome="disk_full"), "disk_full"),
        (KeyError("a bug"), "bug"),
        (asyncio.CancelledError(), "cancelled"),
    ],
)
@pytest.mark.parametrize("operation", CALLS)
async def test_an_error_comes_out_as_it_is_and_is_counted(operation: str, error: BaseException, outcome: str) -> None:
    backend, _, calls = measured(error)
    with pytest.raises(type(error)) as raised:
        await getattr(backend, operation)(*CALLS[operation], DEADLINE)
    assert raised.value is error
    assert calls == [("memory", LABELS.get(operation, operation), outcome, 3)]


async def test_a_backend_that_says_it_is_not_well_is_counted_as_that() -> None:
    backend, _, calls = measured(BackendHealth(False, "away"))
    await backend.health(DEADLINE)
    assert calls == [("memory", "health", "not_ok", 3)]


async def test_what_the_backend_says_of_itself_is_passed_on() -> None:
    backend, behind, calls = measured(None)
    behind.session(WHO)
    assert (backend.name, backend.place, backend.call_s) == ("memory", "memory", 10.0)
    assert backend.gauges() == {"sessions": 1.0}
    assert calls == []
