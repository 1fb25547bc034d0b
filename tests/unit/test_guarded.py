"""The policy in front of backend and memories: every text is under it, and much text is read apart from the loop."""

import threading
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.memories.memory import (
    Memory,
    MemoryChange,
    MemoryFilter,
    MemoryRecord,
    MemorySource,
    MemoryVersion,
    NewMemory,
    ScoredMemory,
)
from app.core.memories.memory_outcomes import Stored
from app.core.recall.hits import Hit
from app.engine import bounded_waits
from app.engine.policy.guarded_backend import GuardedBackend
from app.engine.policy.guarded_memories import GuardedMemories, GuardedWaiting
from app.policy.detector import Detector
from app.policy.policy import Action, Guard, Policy
from app.ports import MemoryNews, SessionHistory, Target
from app.text.dates import iso

pytestmark = pytest.mark.anyio

WHO = Identity(Tenant("acme", "ann"), "s1", None, "main", None, PeerRole.ASSISTANT)
SOON = Deadline.after_ms(60_000)
LONG = "lorem ipsum " * 3_000
NOW = iso(datetime(2026, 1, 1, tzinfo=UTC))


class Threads:
    """Records which texts are read on the event loop and which apart from it, and finds the word ``hush``."""

    def __init__(self) -> None:
        self.here: list[str] = []
        self.apart: list[str] = []
        self._loop = threading.get_ident()
        self.policy = Policy((Guard(Detector("secret", "hush", self._find), Action.MASK),))

    def _find(self, text: str) -> Iterator[tuple[int, int]]:
        (self.here if threading.get_ident() == self._loop else self.apart).append(text)
        at = text.find("hush")
        if at >= 0:
            yield at, at + 4


def said(text: str) -> CapturedMessage:
    return CapturedMessage("user", (TextPart(text),), NOW)


def called(given: Any) -> CapturedMessage:
    return CapturedMessage("assistant", (ToolPart("c", "exec", given, None),), NOW)


def memory(text: str) -> Memory:
    return Memory("m_1", "viking://m", "facts", text, NOW, NOW)


def record(text: str) -> MemoryRecord:
    return MemoryRecord(memory("tea"), (MemoryVersion(1, text, NOW, "changed"),))


def because(reason: str) -> MemoryRecord:
    return MemoryRecord(memory("tea"), (MemoryVersion(1, "tea", NOW, reason),))


def new(text: str) -> NewMemory:
    return NewMemory("m_1", text, NOW, MemorySource("api", NOW), "facts")


class Answers:
    """Any port: each method answers what the test gave, and keeps what it was given."""

    name, place, call_s = "fake", "", 1.0

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.given: tuple[Any, ...] = ()

    def __getattr__(self, _name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def method(*given: Any, **_named: Any) -> Any:
            self.given = given
            return self.answer

        return method


def backend(text: str) -> dict[str, Callable[[Policy], Coroutine[Any, Any, Any]]]:
    """The calls of a backend that bring or take ``text``."""
    history = SessionHistory(overview=text, abstracts=(("a1", text),), messages=(said(text),))

    def over(answer: Any) -> Callable[[Policy], GuardedBackend]:
        return lambda policy: GuardedBackend(Answers(answer), policy)

    return {
        "find": lambda policy: over([Hit("u", text, 0.5)])(policy).find(WHO, "tea", Target.MEMORIES, 5, SOON),
        "find whole": lambda policy: over([Hit("u", "tea", 0.5, whole=text)])(policy).find(
            WHO, "tea", Target.MEMORIES, 5, SOON
        ),
        "find for": lambda policy: over([])(policy).find(WHO, text, Target.MEMORIES, 5, SOON),
        "read": lambda policy: over({"u": text})(policy).read(WHO, ["u"], SOON),
        "history": lambda policy: over(history)(policy).history(WHO, 1000, SOON),
        "append": lambda policy: over(None)(policy).append(WHO, [said(text)], SOON),
        "append input": lambda policy: over(None)(policy).append(WHO, [called({"a": [{"b": text}]})], SOON),
        "archived": lambda policy: over([said(text)])(policy).archived_messages(WHO, "a1", SOON),
    }


def memories(text: str, count: int = 1) -> dict[str, Callable[[Policy], Coroutine[Any, Any, Any]]]:
    """The calls of memories that bring or take ``text``, ``count`` times where there may be several."""

    def over(answer: Any) -> Callable[[Policy], GuardedMemories]:
        return lambda policy: GuardedMemories(Answers(answer), policy)

    def waiting(answer: Any) -> Callable[[Policy], GuardedWaiting]:
        return lambda policy: GuardedWaiting(Answers(answer), policy)

    every, stored = MemoryFilter(), Stored(memory("tea"), created=True)
    several: dict[str, Callable[[Policy], Coroutine[Any, Any, Any]]] = {
        "newest": lambda policy: over([memory(text)] * count)(policy).newest(WHO, every, None, 9, SOON),
        "search": lambda policy: over([ScoredMemory(memory(text), 1)] * count)(policy).search(WHO, "", every, 9, SOON),
        "export": lambda policy: over([record(text)] * count)(policy).export(WHO, None, 9, SOON),
        "export why": lambda policy: over([because(text)] * count)(policy).export(WHO, None, 9, SOON),
        "take in": lambda policy: over([])(policy).take_in(WHO, [record(text)] * count, SOON),
        "waiting": lambda policy: waiting([new(text)] * count)(policy).of(WHO.tenant),
        "news": lambda policy: waiting(MemoryNews(waiting=(new(text),) * count))(policy).news(WHO.tenant),
    }
    if count > 1:
        return several
    return several | {
        "get": lambda policy: over(record(text))(policy).get(WHO, "m_1", SOON),
        "store": lambda policy: over(stored)(policy).store(WHO, new(text), SOON),
        "change": lambda policy: over(memory("tea"))(policy).change(WHO, "m_1", MemoryChange(text), None, SOON),
        "put": lambda policy: waiting(stored)(policy).put(WHO.tenant, new(text)),
    }


@pytest.mark.parametrize("name", [*backend(""), *memories("")])
async def test_long_texts_are_read_in_a_thread(name: str) -> None:
    threads = Threads()
    await (backend(LONG) | memories(LONG))[name](threads.policy)
    assert LONG in threads.apart
    assert LONG not in threads.here


@pytest.mark.parametrize("name", memories("", 300))
async def test_many_texts_are_read_in_a_thread(name: str) -> None:
    threads = Threads()
    await memories("tea", 300)[name](threads.policy)
    assert "tea" in threads.apart
    assert "tea" not in threads.here


@pytest.mark.parametrize("name", [*backend(""), *memories("")])
async def test_short_texts_wait_for_no_thread(name: str) -> None:
    threads = Threads()
    await (backend("green tea") | memories("green tea"))[name](threads.policy)
    assert "green tea" in threads.here
    assert threads.apart == []


@pytest.mark.parametrize("text", ["hush", LONG + "hush"])
async def test_each_text_is_under_the_policy(text: str) -> None:
    policy = Threads().policy
    for name, call in (backend(text) | memories(text)).items():
        assert "hush" not in str(await call(policy)), name
    answers = Answers(None)
    await GuardedBackend(answers, policy).append(WHO, [called({"hush": [text]})], SOON)
    assert "hush" not in str(answers.given)
    for one in (record(text), because(text)):
        await GuardedMemories(answers, policy).take_in(WHO, [one], SOON)
        assert "hush" not in str(answers.given)


@pytest.mark.parametrize(
    ("value", "much"),
    [
        ("x" * 90, False),
        ("x" * 101, True),
        ({"x" * 101: 1}, True),
        ([[[["x" * 101]]]], True),
        (({"a": "x" * 60}, {"b": [{"c": "x" * 60}]}), True),
        ([1] * 9, False),
        ([None] * 11, True),
        (SimpleNamespace(), False),
    ],
)
def test_text_counts_wherever_it_stands(value: object, much: bool) -> None:
    assert bounded_waits.is_much(value, 100, per_value=9) is much
