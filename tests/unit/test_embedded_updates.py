"""What later statements replace, where no rule knows: end to end on the embedded engine, and the decision by itself."""

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio
import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, SessionKind, Tenant
from app.core.memories.memory import MemoryFilter
from app.embedded.backend import EmbeddedBackend
from app.embedded.extraction.updates import NEAREST, replaced_by
from app.embedded.index.superseded_rows import left_of, superseded_by
from app.embedded.storage.layout import user_dir
from app.embedded.storage.record_lines import read_records
from app.embedded.storage.records import Record, Source
from app.ports import CommitState, Target
from app.settings import EmbeddedSettings

pytestmark = pytest.mark.anyio
WHO = Identity(Tenant("acme", "alice"), "s1", None, "main", None, PeerRole.NONE, SessionKind.CHAT)


class Always:
    """Says yes to the last pair that it is asked about, and keeps count."""

    slow = False
    sure = 0.9

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def replaces(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.asked += pairs
        return [1.0] * len(pairs)


def record(value: str, day: int, key: str = "note.x", **more: object) -> Record:
    source = Source("chat_turn", f"t_{day}.0", f"2026-03-{day:02}T09:00:00+00:00")
    return Record("fact", key, value, 0.8, source, id=f"m_{day}", **more)  # type: ignore[arg-type]


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[EmbeddedBackend]:
    made = EmbeddedBackend(tmp_path, EmbeddedSettings(), clock=lambda: datetime(2026, 4, 1, tzinfo=UTC))
    yield made
    await made.aclose()


async def tell(backend: EmbeddedBackend, *texts: str, first_day: int = 1) -> None:
    """Say each text on a day of its own, and commit."""
    for day, text in enumerate(texts, first_day):
        said = CapturedMessage("user", (TextPart(text),), f"2026-03-{day:02}T09:00:00+00:00", f"t_{day}.0")
        await backend.append(WHO, [said], Deadline.after_ms(5_000))
    receipt = await backend.commit(WHO, 0, Deadline.after_ms(5_000))
    with anyio.fail_after(30):
        while (await backend.commit_status(WHO, receipt.task_id or "", Deadline.after_ms(5_000))).state in (
            CommitState.RUNNING,
        ):
            await anyio.lowlevel.checkpoint()


def held(tmp_path: Path) -> tuple[list[str], list[str]]:
    """The values that hold, and those that did."""
    records = [
        one
        for path in sorted((user_dir(tmp_path, WHO.tenant) / "memories").rglob("*.md"))
        for one in read_records(path.read_text("utf-8"))[1]
    ]
    former = [str(entry["value"]) for one in records for entry in one.history if entry["outcome"] == "superseded"]
    return [one.value for one in records if one.holds], former + [one.value for one in records if not one.holds]


async def found(backend: EmbeddedBackend, query: str) -> str:
    hits = await backend.find(WHO, query, Target.MEMORIES, 10, Deadline.after_ms(5_000))
    return "\n".join(hit.text for hit in hits)


@pytest.mark.parametrize(
    ("first", "later", "query"),
    [
        ("I prefer tabs.", "I prefer spaces now, not tabs any more.", "do I prefer tabs or spaces?"),
        ("My boss is Petra.", "My boss is Henrik now.", "who is my boss?"),
    ],
)
async def test_the_later_one_holds_and_the_earlier_one_is_history(
    backend: EmbeddedBackend, tmp_path: Path, first: str, later: str, query: str
) -> None:
    await tell(backend, first, later)
    holds, former = held(tmp_path)
    assert first.rstrip(".") not in [value.rstrip(".") for value in holds]
    assert first in former
    assert first not in await found(backend, query)
    assert first in await found(backend, query + " And what was it before?")


async def test_a_commit_that_runs_again_changes_nothing(backend: EmbeddedBackend, tmp_path: Path) -> None:
    await tell(backend, "I prefer tabs.", "I prefer spaces now, not tabs any more.")
    before = held(tmp_path)
    await tell(backend, "Thanks.", first_day=3)
    assert held(tmp_path) == before


async def test_what_is_said_beside_it_is_found(backend: EmbeddedBackend) -> None:
    await tell(backend, "My boss is Petra. The kitchen tap leaks.", "My boss is Henrik now.")
    assert "kitchen tap" in await found(backend, "what about the kitchen tap?")
    assert "Petra" not in await found(backend, "who is my boss? and the kitchen tap?")


def test_the_rules_have_decided_about_records_of_one_key() -> None:
    judge = Always()
    old = record("My brother is Tom", 1, "profile.brother")
    assert replaced_by(record("My brother is Tim", 2, "profile.brother+tim"), [old], judge) is None
    assert judge.asked == []


@pytest.mark.parametrize(
    "old",
    [
        record("The lamp hangs in the hall", 1, pinned=True),
        record("The lamp hangs in the hall", 1, superseded_at="2026-03-02T09:00:00+00:00"),
        record("The lamp hangs in the hall", 5),
    ],
)
def test_pinned_former_and_later_records_stay(old: Record) -> None:
    assert replaced_by(record("The lamp hangs in the cellar", 3, "note.y"), [old], Always()) is None


def test_one_statement_is_compared_with_a_few() -> None:
    judge = Always()
    known = [record(f"The lamp {n} hangs in the hall", 1, f"note.{n}") for n in range(50)]
    replaced_by(record("The lamp 7 hangs in the cellar", 3, "note.y"), known, judge)
    assert len(judge.asked) == NEAREST
    assert ("The lamp 7 hangs in the hall", "The lamp 7 hangs in the cellar") in judge.asked


def test_what_a_record_says_was_said_before() -> None:
    entry = {"value": "I live in Lisbon", "outcome": "superseded", "ref": "t_1.0"}
    weak = {"value": "I live in Rome", "outcome": "not_adopted", "ref": "t_2.0"}
    now = record("I live in Porto", 3, history=(entry, weak))
    assert {value for _, value in superseded_by(now)} == {"I live in Lisbon"}
    assert ("t_1.0", "I live in Lisbon") in superseded_by(now)
    assert left_of("Hi. I live in  Lisbon! I have a dog.", ["I live in Lisbon"]) == "Hi.  I have a dog."


class Slow(Always):
    """A judge that does not go on before it may."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def replaces(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        if pairs:
            self.begun.set()
            assert self.may_go_on.wait(30)
        return super().replaces(pairs)


@asynccontextmanager
async def judging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddedBackend]:
    """A commit that runs: its judge is asked, and goes on at the end of the block."""
    judge = Slow()
    monkeypatch.setattr("app.embedded.space.judge_of", lambda _embedder: judge)
    backend = EmbeddedBackend(tmp_path, EmbeddedSettings(), clock=lambda: datetime(2026, 4, 1, tzinfo=UTC))
    try:
        await tell(backend, "I prefer tabs.")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(tell, backend, "I prefer spaces now, not tabs any more.", first_day=2))
            assert await anyio.to_thread.run_sync(judge.begun.wait, 30)
            yield backend
            judge.may_go_on.set()
    finally:
        judge.may_go_on.set()
        await backend.aclose()


async def test_a_prompt_waits_for_no_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with judging(tmp_path, monkeypatch) as backend:
        history = await backend.history(WHO, 1_000, Deadline.after_ms(2_000))
        assert "tabs" in history.overview
    assert held(tmp_path)[1] == ["I prefer tabs."]


async def test_what_is_forgotten_while_the_judge_judges_stays_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with judging(tmp_path, monkeypatch) as backend:
        memories, soon = backend.memories, Deadline.after_ms(2_000)
        [old] = [one for one in await memories.newest(WHO, MemoryFilter(), None, 10, soon) if "tabs." in one.text]
        await memories.forget(WHO, old.id, soon)
    assert held(tmp_path)[1] == []
