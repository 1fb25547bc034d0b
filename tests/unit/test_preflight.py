"""`preflight` over a backend and a store that answer, fail, hang or know nothing."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.history import note_cache
from app.core.history.notes import Notes, notes_on
from app.core.history.prompt_layout import Layout
from app.core.identity import Identity, PeerRole, Tenant
from app.core.messages.host_message import HostMessage
from app.core.reasons import Reason
from app.engine.preflight import Preflight
from app.engine.results import AssembleInput, AssembleResult
from app.errors import StoreUnavailable
from app.ports import BackendError, LocalHistory, SessionHistory

from .histories import BEGAN_MS

pytestmark = pytest.mark.anyio

WHO = Identity(Tenant("acme", "ann"), "s1", None, "main", None, PeerRole.ASSISTANT)
OLD = HostMessage({"role": "user", "content": "one" + " and so on" * 60, "timestamp": BEGAN_MS})
NEW = HostMessage({"role": "user", "content": "two", "timestamp": BEGAN_MS + 1})
FINGERPRINTS = (OLD.fingerprint or "",)
STORED = CapturedMessage("user", (TextPart("please fix src/app.py"),), "2026-03-01T00:00:00.000Z", "t_1.0")
HISTORY = SessionHistory(overview="We counted.", abstracts=(), messages=())


class Backend:
    """Answers `history` the way a test says."""

    def __init__(
        self, answer: Callable[[], Awaitable[SessionHistory]], archived: Sequence[CapturedMessage] | None = None
    ) -> None:
        self.history_answer = answer
        self.archived = archived

    async def history(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        return await self.history_answer()

    async def archived_messages(self, who: Identity, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        if self.archived is None:
            raise BackendError(Reason.OPENVIKING_UNAVAILABLE, "no", retryable=True)
        return list(self.archived)


class Store:
    """Knows one past."""

    def __init__(self, known: LocalHistory | Exception, undelivered: Sequence[CapturedMessage] | None = None) -> None:
        self.known = known
        self.budgets: list[int] = []
        self.waiting = undelivered

    async def local_history(self, who: Identity) -> LocalHistory:
        if isinstance(self.known, Exception):
            raise self.known
        return self.known

    def note_budget(self, who: Identity, token_budget: int) -> None:
        self.budgets.append(token_budget)

    async def keep_outputs(self, who: Identity, outputs: object, layout: Layout | None, changes: int) -> None:
        if not isinstance(self.known, Exception):
            self.known = replace(self.known, layout=layout or self.known.layout)

    async def undelivered(self, who: Identity) -> tuple[CapturedMessage, ...]:
        if isinstance(self.known, Exception):
            raise self.known
        assert self.waiting is not None, "not to be read beside messages of the host"
        return tuple(self.waiting)

    async def seen_fingerprints(self, who: Identity) -> tuple[str, ...]:
        return ()


def gives(history: SessionHistory, archived: Sequence[CapturedMessage] | None = None) -> Backend:
    async def answer() -> SessionHistory:
        return history

    return Backend(answer, archived)


def fails(reason: Reason, *, not_found: bool = False) -> Backend:
    async def answer() -> SessionHistory:
        raise BackendError(reason, "no", retryable=False, not_found=not_found)

    return Backend(answer)


def hangs() -> Backend:
    async def answer() -> SessionHistory:
        await asyncio.Event().wait()
        raise AssertionError

    return Backend(answer)


async def asked(
    backend: Backend,
    known: LocalHistory | Exception,
    *messages: HostMessage,
    undelivered: Sequence[CapturedMessage] | None = None,
    bypassed: bool = False,
    ms: float = 5000,
    **more: Any,
) -> AssembleResult:
    request = AssembleInput(messages=messages, prompt="go on", token_budget=10_000, bypassed=bypassed)
    preflight = Preflight(backend, Store(known, undelivered), 0.3, **more)  # type: ignore[arg-type]
    return await preflight.run(WHO, request, Deadline.after_ms(ms))


def text(result: AssembleResult) -> str:
    return "\n".join(str(message.raw["content"]) for message in result.messages)


async def test_the_archived_history_becomes_the_backends_summary() -> None:
    result = await asked(gives(HISTORY), LocalHistory(fingerprints=FINGERPRINTS, known=True), OLD, NEW)
    assert (result.assembled, result.reason) == (True, Reason.OK)
    assert "We counted." in text(result) and OLD not in result.messages and result.messages[-1] is NEW
    assert result.system_prompt_addition
    assert result.recall is None and result.context_block is None


@pytest.mark.parametrize(
    "reason", [Reason.OPENVIKING_UNAVAILABLE, Reason.OPENVIKING_REJECTED, Reason.DEADLINE_EXCEEDED]
)
async def test_without_the_backend_the_store_knows_the_history(reason: Reason) -> None:
    known = LocalHistory(fingerprints=FINGERPRINTS, summary="Kept summary.", unsummarised=(STORED,), known=True)
    result = await asked(fails(reason), known, OLD, NEW)
    assert (result.assembled, result.reason) == (True, Reason.OK)
    assert "Kept summary." in text(result) and "src/app.py" in text(result)


@pytest.mark.parametrize("reason", [Reason.OPENVIKING_UNAVAILABLE, Reason.OPENVIKING_REJECTED])
async def test_without_backend_and_history_the_hosts_messages_go_on_with_the_reason(reason: Reason) -> None:
    result = await asked(fails(reason), LocalHistory(), OLD, NEW)
    assert (result.assembled, result.reason, result.messages) == (False, reason, (OLD, NEW))


async def test_a_late_backend_does_not_make_us_late() -> None:
    result = await asked(hangs(), LocalHistory(), OLD, ms=40)
    assert (result.assembled, result.reason, result.messages) == (False, Reason.DEADLINE_EXCEEDED, (OLD,))


async def test_a_history_that_takes_too_long_to_read_goes_on_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    monkeypatch.setattr("app.engine.preflight.GRACE_S", 0.0)
    monkeypatch.setattr("app.engine.preflight.assemble_history", lambda *_, **__: done.wait())
    question = HostMessage({"role": "user", "content": "And now?"})
    try:
        result = await asked(gives(SessionHistory("the past", (), ())), LocalHistory(), question, ms=50)
    finally:
        done.set()
    assert (result.assembled, result.reason, result.messages) == (False, Reason.DEADLINE_EXCEEDED, (question,))


async def test_an_unknown_session_and_one_without_a_history_are_told_apart() -> None:
    unknown = fails(Reason.SESSION_NOT_FOUND, not_found=True)
    assert (await asked(unknown, LocalHistory(), OLD)).reason is Reason.SESSION_NOT_FOUND
    assert (await asked(unknown, LocalHistory(known=True), OLD)).reason is Reason.NO_SESSION_DATA
    assert (await asked(gives(SessionHistory("", (), ())), LocalHistory(), OLD)).reason is Reason.NO_SESSION_DATA


async def test_a_bypassed_session_asks_nobody() -> None:
    result = await asked(hangs(), LocalHistory(), OLD, bypassed=True)
    assert (result.assembled, result.reason) == (False, Reason.SESSION_BYPASSED)


async def test_a_broken_store_leaves_the_backends_history() -> None:
    result = await asked(gives(HISTORY), StoreUnavailable("disk full"), NEW)
    assert "We counted." in text(result) and result.messages[-1] is NEW


async def test_a_prompt_is_rebuilt_from_what_is_stored_and_what_is_on_its_way() -> None:
    waiting = CapturedMessage("assistant", (TextPart("on it"),), "2026-03-01T00:00:01.000Z", "t_1.1")
    cleared = CapturedMessage("user", (TextPart("long ago"),), "2026-02-01T00:00:00.000Z", "t_0.0")
    known = LocalHistory(unsummarised=(cleared,), known=True)
    result = await asked(gives(SessionHistory("", (), (cleared, STORED))), known, undelivered=(STORED, waiting))
    assert text(result).count("please fix src/app.py") == 1
    assert text(result).endswith("on it'}]") and "long ago" in result.messages[0].text


async def test_a_failed_archive_that_the_store_does_not_know_is_read_from_the_backend() -> None:
    history = SessionHistory("", (), (), archives=1, failed_archives=1, failed_ids=("archive_001",))
    assert "src/app.py" in text(await asked(gives(history, [STORED]), LocalHistory(), NEW))
    unreadable = await asked(gives(history), LocalHistory(), NEW)
    assert (unreadable.assembled, unreadable.messages) == (False, (NEW,))


async def test_while_a_reset_is_on_its_way_the_old_epoch_stays_hidden() -> None:
    history = SessionHistory("Old summary.", (("archive_001", "old"),), (STORED,))
    result = await asked(gives(history), LocalHistory(known=True, resetting=True), undelivered=())
    assert (result.assembled, result.reason, result.messages) == (False, Reason.NO_SESSION_DATA, ())


async def test_an_archive_without_an_overview_is_digested_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[CapturedMessage] = []
    monkeypatch.setattr(note_cache, "notes_on", lambda message: (read.append(message), notes_on(message))[1])
    known = LocalHistory(fingerprints=FINGERPRINTS, unsummarised=(STORED,) * 3, known=True)
    kept = note_cache.NoteCache()
    answers = [
        await asked(gives(replace(HISTORY, overview="")), known, OLD, NEW, notes=kept.notes_on) for _ in range(3)
    ]
    assert ["src/app.py" in text(answer) for answer in answers] == [True] * 3
    assert read == [STORED]


async def test_a_digest_that_is_late_is_there_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, go, done = note_cache.NoteCache(), threading.Event(), threading.Event()

    def slow(message: CapturedMessage) -> Notes:
        go.wait(30)
        found = kept.notes_on(message)
        done.set()
        return found

    monkeypatch.setattr("app.engine.preflight.GRACE_S", 0.0)
    known = LocalHistory(fingerprints=FINGERPRINTS, unsummarised=(STORED,), known=True)
    late = await asked(gives(replace(HISTORY, overview="")), known, OLD, NEW, ms=20, notes=slow)
    assert (late.assembled, late.reason) == (False, Reason.DEADLINE_EXCEEDED)
    go.set()
    assert await asyncio.to_thread(done.wait, 30)
    read: list[CapturedMessage] = []
    monkeypatch.setattr(note_cache, "notes_on", lambda message: (read.append(message), notes_on(message))[1])
    result = await asked(gives(replace(HISTORY, overview="")), known, OLD, NEW, notes=kept.notes_on)
    assert "src/app.py" in text(result)
    assert STORED not in read
