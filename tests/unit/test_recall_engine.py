import asyncio
import gc
import threading
import weakref
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from app.classify.classifier import TASK_FROM
from app.core.deadline import Deadline
from app.core.identity import PeerRole, SessionKind, Tenant
from app.core.injection.inject import Mode
from app.core.json.answers import adapter
from app.core.memories.memory import MemorySource, NewMemory
from app.core.messages.tokens import TokenWeights
from app.core.reasons import Reason
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, RecallFilter
from app.core.recall.trace import RecallTrace, Verdict
from app.engine.results import AssembleResult
from app.ports import MemoryNews, Target
from app.recall.searches import Searches
from app.recall.selection import Selection
from app.recall.shown import is_said, said_before
from app.recall.source import Asked
from app.recall.sources.long_term_memories import Memories
from tests.messages import raw, typed
from tests.unit.recalling import LESSON, Recalling, ScriptedBackend, experience, failing, memory, settings, someone

pytestmark = pytest.mark.anyio

TASK = "Please fix the failing migration in db/schema.py"
QUESTION = "what colour is my bicycle?"
BIKE = memory("bike", "The bicycle is green", 0.8)
EXPERIENCES = {"experience": {"enabled": True}}


def outcome(result: AssembleResult) -> tuple[bool, Reason]:
    return result.assembled, result.reason


async def test_a_hit_stands_in_front_of_the_question() -> None:
    result = await Recalling(ScriptedBackend(memories=[BIKE]))(QUESTION)
    assert outcome(result) == (True, Reason.OK)
    assert result.context_block and "- [entities] The bicycle is green" in result.context_block
    assert result.messages[0].raw["content"] == f"{result.context_block}\n\n{QUESTION}"
    assert result.recall and [item.uri for item in result.recall.items] == [BIKE.uri]
    assert result.recall.items[0].chars == len("- [entities] The bicycle is green")


@pytest.mark.parametrize("mode", list(Mode))
async def test_tokens_are_counted_once_and_only_of_what_goes_out(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    count = TokenWeights.units
    monkeypatch.setattr(TokenWeights, "units", lambda self, text: counted.append(text) or count(self, text))
    result = await Recalling(ScriptedBackend(memories=[BIKE]))(QUESTION, inject=mode)
    assert result.context_block
    # In mode `block` the host puts the block into the prompt, and counts it.
    assert sum(result.context_block in text for text in counted) == (mode is not Mode.BLOCK)
    assert (QUESTION in counted) == (mode is not Mode.MESSAGE), "counted together with the block in front of it"


class Weakly(dict[str, Any]):
    """A message that tells when it is gone."""


async def test_a_trace_that_waits_to_be_written_holds_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    recalling, waiting = Recalling(ScriptedBackend(memories=[BIKE])), list[Any]()
    monkeypatch.setattr(recalling.traces, "record", waiting.append)
    message = Weakly(role="user", content=QUESTION)
    gone = weakref.ref(message)
    assert outcome(await recalling(message)) == (True, Reason.OK)
    del message
    gc.collect()
    assert len(waiting) == 1
    assert gone() is None, "thousands of objects to be looked through by the garbage collector"


async def test_one_search_per_target_all_sent_together() -> None:
    backend = ScriptedBackend(memories=[BIKE], experiences=[experience("a")])
    holds = [backend.hold(target.value) for target in Target]
    asking = asyncio.create_task(Recalling(backend, recall={"resources": True}, **EXPERIENCES)(TASK))
    for _ in Target:
        await backend.arrivals.get()
    for hold in holds:
        hold.set()
    assert outcome(await asking) == (True, Reason.OK)
    assert sorted(target for target, _, _ in backend.asked) == sorted(Target)
    assert {query for _, query, _ in backend.asked} == {TASK}


@pytest.mark.parametrize(("limit", "asked"), [(1, 12), (6, 24), (100, 400)])
async def test_four_candidates_an_item_and_twelve_at_least(limit: int, asked: int) -> None:
    backend = ScriptedBackend()
    await Recalling(backend, recall={"limit": limit})(QUESTION)
    assert backend.asked == [(Target.MEMORIES, QUESTION, asked)]


async def test_what_is_ready_at_the_deadline_is_used() -> None:
    backend = ScriptedBackend(memories=[BIKE], experiences=[experience("a")])
    backend.hold("experiences")
    result = await Recalling(backend, **EXPERIENCES)(TASK, ms=60)
    assert outcome(result) == (True, Reason.OK)
    assert result.context_block and "Long-term" in result.context_block and "Agent Exp" not in result.context_block
    assert result.recall and result.recall.degraded == ("experiences:deadline_exceeded",)


@pytest.mark.parametrize("step", ["transform.decide", "plan.Plan.choose"])
async def test_reading_a_huge_message_neither_stops_the_others_nor_the_clock(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()
    monkeypatch.setattr(f"app.recall.{step}", lambda *_, **__: done.wait())
    try:
        huge = "which tea do I like? " * 20_000
        result = await Recalling(ScriptedBackend(memories=[memory("tea", "Green tea.")]))(huge, ms=50)
    finally:
        done.set()
    assert outcome(result) == (False, Reason.DEADLINE_EXCEEDED)
    assert raw(result.messages) == ({"role": "user", "content": huge},)


async def test_the_recalls_own_time_out_holds_too() -> None:
    backend = ScriptedBackend(memories=[BIKE])
    backend.hold("memories")
    result = await Recalling(backend, recall={"timeout_ms": 30})(QUESTION, ms=60_000)
    assert outcome(result) == (False, Reason.DEADLINE_EXCEEDED)
    assert raw(result.messages) == ({"role": "user", "content": QUESTION},)


@pytest.mark.parametrize(
    "reason", [Reason.OPENVIKING_UNAVAILABLE, Reason.OPENVIKING_REJECTED, Reason.DEADLINE_EXCEEDED]
)
async def test_a_failure_leaves_the_messages_and_says_why(reason: Reason) -> None:
    result = await Recalling(ScriptedBackend(memories=failing(reason)))(QUESTION)
    assert outcome(result) == (False, reason)
    assert result.context_block is None


async def test_a_failure_beside_a_hit_is_noted_and_takes_nothing_away() -> None:
    backend = ScriptedBackend(memories=failing(), experiences=[experience("a")])
    result = await Recalling(backend, **EXPERIENCES)(TASK)
    assert outcome(result) == (True, Reason.OK)
    assert result.recall and result.recall.degraded == ("memories:openviking_unavailable",)


async def test_nothing_found_beside_a_failure_is_reported_as_the_failure() -> None:
    backend = ScriptedBackend(memories=failing(), experiences=[])
    assert (await Recalling(backend, **EXPERIENCES)(TASK)).reason is Reason.OPENVIKING_UNAVAILABLE
    assert (await Recalling(ScriptedBackend(), **EXPERIENCES)(TASK)).reason is Reason.NO_RECALL_HITS


@pytest.mark.parametrize(
    ("messages", "more", "sections", "reason"),
    [
        ([QUESTION], {"bypassed": True}, {}, Reason.SESSION_BYPASSED),
        ([QUESTION, {"role": "assistant", "content": "green"}], {}, {}, Reason.NON_USER_TAIL),
        ([], {}, {}, Reason.NON_USER_TAIL),
        ([QUESTION], {}, {"recall": {"enabled": False}}, Reason.RECALL_DISABLED),
        (["<openviking-context>\nx\n</openviking-context>\n\nhi there"], {}, {}, Reason.ALREADY_INJECTED),
        (["hi"], {}, {}, Reason.QUERY_TOO_SHORT),
        (["continue"], {}, {}, Reason.QUERY_TOO_SHORT),
        (["好的"], {}, {}, Reason.QUERY_TOO_SHORT),
        ([""], {}, {}, Reason.QUERY_TOO_SHORT),
        ([QUESTION], {"who": someone(peer_role=PeerRole.PERSON)}, {}, Reason.MISSING_SENDER),
    ],
)
async def test_when_there_is_nothing_to_recall_nothing_is_asked(messages, more, sections, reason) -> None:
    backend = ScriptedBackend(memories=[BIKE])
    result = await Recalling(backend, **sections)(*messages, **more)
    assert outcome(result) == (False, reason)
    assert backend.asked == []
    assert [*raw(result.messages)] == [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]


async def test_a_short_chinese_question_is_long_enough() -> None:
    assert (await Recalling(ScriptedBackend(memories=[BIKE]))("我车啥色")).reason is Reason.OK


async def test_with_recall_off_only_experiences_are_looked_up() -> None:
    backend = ScriptedBackend(memories=[BIKE], experiences=[experience("a")])
    engine = Recalling(backend, recall={"enabled": False}, **EXPERIENCES)
    assert (await engine(TASK)).reason is Reason.OK
    assert (await engine("what is a migration?")).reason is Reason.NO_RECALL_HITS
    assert [target for target, _, _ in backend.asked] == [Target.EXPERIENCES]


async def test_the_question_may_stand_in_the_prompt_alone() -> None:
    backend = ScriptedBackend(memories=[BIKE])
    history = {"role": "assistant", "content": "hello"}
    result = await Recalling(backend)(history, prompt=QUESTION)
    assert outcome(result) == (True, Reason.OK)
    assert raw(result.messages) == (history,) and result.context_block
    assert backend.asked[0][1] == QUESTION


@pytest.mark.parametrize("mode", ["message", "tool_call"])
async def test_its_own_output_is_left_alone(mode: str) -> None:
    engine = Recalling(ScriptedBackend(memories=[BIKE]))
    once = await engine(QUESTION, inject=Mode(mode))
    twice = await engine(*once.messages, inject=Mode(mode))
    assert outcome(twice) == (False, Reason.ALREADY_INJECTED)
    assert raw(twice.messages) == raw(once.messages)


@pytest.mark.parametrize("mode", ["block", "system"])
async def test_a_mode_that_leaves_the_messages_answers_the_same_again(mode: str) -> None:
    engine = Recalling(ScriptedBackend(memories=[BIKE]))
    once = await engine(QUESTION, inject=Mode(mode))
    twice = await engine(*once.messages, inject=Mode(mode))
    assert (raw(once.messages), once.context_block) == (raw(twice.messages), twice.context_block)
    assert once.system_prompt_addition == twice.system_prompt_addition


async def test_resources_only_when_switched_on_and_never_with_own_only() -> None:
    for sections, asked in (
        ({}, [Target.MEMORIES]),
        ({"resources": True}, [Target.MEMORIES, Target.RESOURCES]),
        ({"resources": True, "own_only": True}, [Target.MEMORIES]),
    ):
        backend = ScriptedBackend()
        await Recalling(backend, recall=sections)(QUESTION)
        assert [target for target, _, _ in backend.asked] == asked


async def test_a_pasted_conversation_gets_the_note_even_without_hits() -> None:
    talk = "Ana: did you call the plumber?\nBen: yes, he comes on Tuesday\nAna: great, what time?\nBen: around nine"
    result = await Recalling(ScriptedBackend())(talk)
    assert outcome(result) == (True, Reason.OK) and result.context_block is None
    assert "<ingest-reply-assist>" in result.messages[0].raw["content"]
    assert result.messages[0].raw["content"].endswith(talk)


# --- the same question again ---------------------------------------------------------------------------------------


async def test_the_same_question_in_the_same_turn_is_asked_once() -> None:
    backend = ScriptedBackend(memories=[BIKE])
    engine = Recalling(backend)
    results = [await engine(QUESTION) for _ in range(3)]
    assert len(backend.asked) == 1
    assert {result.context_block for result in results} == {results[0].context_block}
    assert [trace.searches[0].how for trace in engine.traces] == ["fresh", "cached", "cached"]


@pytest.mark.parametrize(
    "other",
    [
        {"tenant": Tenant("acme", "bob")},
        {"tenant": Tenant("other", "alice")},
        {"session": "s2"},
        {"agent": "second"},
        {"peer_role": PeerRole.NONE},
        {"peer_role": PeerRole.PERSON, "sender": "ben"},
    ],
)
async def test_nobody_else_is_answered_from_the_cache(other) -> None:
    backend = ScriptedBackend(memories=[BIKE])
    engine = Recalling(backend)
    await engine(QUESTION)
    await engine(QUESTION, who=someone(**other))
    assert len(backend.asked) == 2


async def test_the_cache_forgets_with_time_and_when_memories_changed() -> None:
    backend, now = ScriptedBackend(memories=[BIKE]), [0.0]
    engine = Recalling(backend, clock=lambda: now[0], recall={"cache_ms": 1_000})
    await engine(QUESTION)
    now[0] = 0.9
    await engine(QUESTION)
    assert len(backend.asked) == 1
    now[0] = 1.1
    await engine(QUESTION)
    assert len(backend.asked) == 2
    engine.searches.memories_changed(someone())
    await engine(QUESTION)
    assert len(backend.asked) == 3


async def test_what_is_written_makes_the_users_kept_answers_old() -> None:
    backend, now = ScriptedBackend(memories=[BIKE]), [0.0]
    engine = Recalling(backend, clock=lambda: now[0])
    await engine(QUESTION)
    engine.searches.memories_changed(someone(session="another"))
    await engine(QUESTION)
    await engine(QUESTION)
    assert len(backend.asked) == 3, "a backend may find new memories a little late"
    now[0] = 3.0
    await engine(QUESTION)
    await engine(QUESTION)
    assert len(backend.asked) == 4
    engine.searches.memories_changed(someone(tenant=Tenant("acme", "bob")))
    await engine(QUESTION)
    assert len(backend.asked) == 4, "another user's memories are no reason to ask again"


async def test_that_nothing_waits_for_the_backend_holds_until_the_next_change() -> None:
    told, counted, asked = [MemoryNews(version=1)], [7], list[Tenant]()

    async def news(tenant: Tenant) -> MemoryNews:
        asked.append(tenant)
        return told[0]

    searches = Searches(ScriptedBackend(memories=[BIKE]), news=news, changes=lambda: counted[0])  # type: ignore[arg-type]
    who, deadline = someone(), Deadline.after_ms(5_000)

    async def found() -> list[str]:
        return [hit.uri for hit in (await searches.find(who, QUESTION, Target.MEMORIES, 5, deadline)).hits]

    for _ in range(3):
        assert await found() == [BIKE.uri]
    assert len(asked) == 1
    waits = NewMemory("m_1", "The bicycle is red", "2026-01-01T00:00:00.000Z", MemorySource("api", ""), "facts")
    told[0], counted[0] = MemoryNews(version=2, waiting=(waits,)), 8
    for _ in range(2):
        assert len(await found()) == 2
    assert len(asked) == 3
    told[0] = MemoryNews(version=3)
    assert await found() == [BIKE.uri] and await found() == [BIKE.uri]
    assert len(asked) == 4


async def test_an_empty_answer_is_not_kept() -> None:
    backend = ScriptedBackend()
    engine = Recalling(backend)
    assert (await engine(QUESTION)).reason is Reason.NO_RECALL_HITS
    backend.answers = {"memories": [BIKE]}
    assert (await engine(QUESTION)).reason is Reason.OK


async def test_equal_questions_under_way_share_one_search_and_outlive_each_other() -> None:
    backend = ScriptedBackend(memories=[BIKE])
    hold = backend.hold("memories")
    engine = Recalling(backend)
    first, second, third = (asyncio.create_task(engine(QUESTION)) for _ in range(3))
    await backend.arrivals.get()
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    hold.set()
    assert [(await task).reason for task in (second, third)] == [Reason.OK, Reason.OK]
    assert len(backend.asked) == 1


async def test_a_shared_search_that_failed_fails_for_all_and_is_asked_again_next_time() -> None:
    backend = ScriptedBackend(memories=failing())
    engine = Recalling(backend)
    results = await asyncio.gather(engine(QUESTION), engine(QUESTION))
    assert {result.reason for result in results} == {Reason.OPENVIKING_UNAVAILABLE}
    backend.answers = {"memories": [BIKE]}
    assert (await engine(QUESTION)).reason is Reason.OK


@pytest.mark.parametrize("reason", [Reason.OPENVIKING_UNAVAILABLE, Reason.DEADLINE_EXCEEDED])
async def test_the_last_good_answer_may_serve_while_the_backend_is_late_or_down(reason: Reason) -> None:
    backend, now = ScriptedBackend(memories=[BIKE]), [0.0]
    engine = Recalling(backend, clock=lambda: now[0], recall={"cache_ms": 0, "stale_ms": 10_000})
    fresh = await engine(QUESTION)
    backend.answers = {"memories": failing(reason)}
    now[0] = 5.0
    stale = await engine(QUESTION)
    assert stale.context_block == fresh.context_block
    assert stale.recall and stale.recall.degraded == ("memories:stale",)
    now[0] = 11.0
    assert (await engine(QUESTION)).reason is reason


async def test_a_rejection_is_never_papered_over() -> None:
    backend = ScriptedBackend(memories=[BIKE])
    engine = Recalling(backend, recall={"cache_ms": 0, "stale_ms": 10_000})
    await engine(QUESTION)
    backend.answers = {"memories": failing(Reason.OPENVIKING_REJECTED)}
    assert (await engine(QUESTION)).reason is Reason.OPENVIKING_REJECTED


async def test_closing_stops_what_is_under_way() -> None:
    backend = ScriptedBackend()
    backend.hold("memories")
    engine = Recalling(backend)
    asking = asyncio.create_task(engine(QUESTION))
    await backend.arrivals.get()
    await engine.searches.aclose()
    assert (await asking).reason is Reason.DEADLINE_EXCEEDED


# --- cool-down -----------------------------------------------------------------------------------------------------


async def test_what_the_model_still_sees_is_not_shown_again() -> None:
    other = memory("lock", "The bicycle has a code lock", 0.79)
    engine = Recalling(ScriptedBackend(memories=[BIKE]), recall={"cooldown_turns": 2, "cache_ms": 0})
    first = await engine(QUESTION)
    reply = {"role": "assistant", "content": "green"}
    second = await engine(first.messages[0], reply, "and what lock does the bicycle have?")
    assert second.reason is Reason.NO_RECALL_HITS
    assert engine.traces[-1].candidates[0].verdict is Verdict.RESTING
    engine.backend.answers = {"memories": [BIKE, other]}
    third = await engine(first.messages[0], reply, "and what lock does the bicycle have?")
    assert third.recall and [item.uri for item in third.recall.items] == [other.uri]
    gone = await engine(QUESTION, reply, "and what colour was the bicycle?")
    assert gone.recall and BIKE.uri in [item.uri for item in gone.recall.items]


# --- gate and trace ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "trigger"),
    [
        ({"trigger_hint": "cron_start"}, "cron_start"),
        ({"trigger_hint": "write_preflight"}, "write_preflight"),
        ({"who": someone(kind=SessionKind.CRON)}, "cron_start"),
    ],
)
async def test_a_forced_trigger_needs_no_task(more, trigger: str) -> None:
    result = await Recalling(ScriptedBackend(experiences=[experience("a")]), **EXPERIENCES)(
        "the weather in Lisbon tomorrow", **more
    )
    assert result.recall and (result.recall.gate.recall, result.recall.gate.trigger) == (True, trigger)
    assert result.context_block and "### Experience: a" in result.context_block


async def test_the_gate_shows_each_point() -> None:
    engine = Recalling(ScriptedBackend(), **EXPERIENCES)
    result = await engine(TASK, trigger_hint="task_start")
    assert result.recall and result.recall.gate.trigger == "task_start"
    gate = engine.traces[0].gate
    assert gate.score >= TASK_FROM
    assert gate.parts[0][0] == "execution"


async def test_a_trace_tells_the_whole_story_without_anybodys_words() -> None:
    backend = ScriptedBackend(memories=[BIKE, memory("weak", "something else", 0.1)], experiences=[experience("a")])
    engine = Recalling(backend, recall={"score_threshold": 0.003}, **EXPERIENCES)
    result = await engine(TASK)
    (trace,) = engine.traces
    assert result.recall and trace.trace_id == result.recall.trace_id
    assert {c.uri.rsplit("/", 1)[-1]: c.verdict for c in trace.candidates} == {
        "a.md": Verdict.KEPT,
        "bike.md": Verdict.KEPT,
        "weak.md": Verdict.BELOW_THRESHOLD,
    }
    assert {search.target: (search.how, search.hits) for search in trace.searches} == {
        "experiences": ("fresh", 1),
        "memories": ("fresh", 2),
    }
    assert {"gate", "experiences", "memories", "rank", "total"} <= set(trace.timings_ms)
    told = adapter(RecallTrace).dump_json(trace)
    assert not any(text.encode() in told for text in (TASK, BIKE.text, LESSON))
    assert adapter(RecallTrace).validate_json(told) == trace


async def test_a_setting_keeps_the_words() -> None:
    engine = Recalling(ScriptedBackend(memories=[BIKE]), trace={"texts": True})
    await engine(QUESTION)
    assert engine.traces[0].query == QUESTION
    assert engine.traces[0].candidates[0].text == BIKE.text


async def test_a_passthrough_leaves_a_trace_too() -> None:
    engine = Recalling(ScriptedBackend())
    await engine("hi")
    assert [trace.reason for trace in engine.traces] == ["query_too_short"]


async def test_a_follow_up_is_searched_for_with_what_it_follows() -> None:
    """Alone, half of such questions are too short to search for, and none says what is asked."""
    said = ["What is the capital of Peru?", "Where does my brother work?", "thanks!"]
    history = [{"role": role, "content": text} for text in said for role, text in (("user", text), ("assistant", "."))]
    for asked, subject in (("and hers?", said[1]), ("and the second one?", said[1]), ("Where do I live?", "")):
        backend = ScriptedBackend()
        engine = Recalling(backend)
        await engine(*history, asked)
        assert [query for _, query, _ in backend.asked] == [f"{asked}\n{subject}".strip()]
        assert engine.traces[0].turns == ((0, 2) if subject else (0,))


async def test_a_follow_up_with_nothing_before_it_is_too_short() -> None:
    engine = Recalling(ScriptedBackend())
    await engine("so?")
    assert [trace.reason for trace in engine.traces] == ["query_too_short"]


def test_experiences_are_off_by_default() -> None:
    assert not settings().experience.enabled


class TestWhatTheModelSeesAnyway:
    def test_what_was_said_in_the_live_messages_is_not_recalled(self) -> None:
        live = [{"role": "user", "content": "I prefer my tea green,\nwith honey from Kyoto."}]
        said = said_before(typed([*live, {"role": "user", "content": "Which tea?"}]))
        assert is_said("2026-11-21 user: I prefer my tea green,\n  with honey from Kyoto.", said)
        assert is_said("- I prefer my tea green, with honey from Kyoto.", said)
        assert not is_said("2026-11-21 user: I prefer my tea green,\n  and my coffee black and strong.", said)

    def test_short_words_and_the_question_itself_prove_nothing(self) -> None:
        question = {"role": "user", "content": "Which tea do I prefer in the morning?"}
        assert not is_said("Which tea do I prefer in the morning?", said_before(typed([question])))
        assert not is_said("ok", said_before(typed([{"role": "user", "content": "ok"}, question])))


async def test_an_equal_recall_is_decided_once_until_something_else_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    decided: list[str] = []
    choose = Memories.choose

    def counted(source: Memories, asked: Asked, hits: Sequence[Hit]) -> Selection:
        decided.append(asked.who.agent)
        return choose(source, asked, hits)

    monkeypatch.setattr(Memories, "choose", counted)
    backend = ScriptedBackend(memories=[BIKE])
    engine = Recalling(backend, recall={"cache_ms": 60_000})
    first, again = await engine(QUESTION), await engine(QUESTION)
    assert (raw(first.messages), first.context_block) == (raw(again.messages), again.context_block)
    assert decided == ["main"]
    await engine(QUESTION, who=someone(agent="other"))
    assert decided == ["main", "other"]
    backend.answers["memories"] = [BIKE, memory("bell", "The bike has a loud bell.")]
    engine.searches.memories_changed(someone())
    found = await engine(QUESTION)
    assert "loud bell" in (found.context_block or "")
    assert decided == ["main", "other", "main"]


class TestDetail:
    WALK = "We walked along the harbour and looked at the boats. "
    RIDE = f"The bike has a bell that everybody on the street can hear. {WALK}"
    LONG = f"{WALK * 20}The bike stands in the cellar. {WALK * 20}{RIDE * 6}"
    PIECE = memory("turn", "… The bike stands in the cellar. …", whole=LONG)

    async def shown(self, *hits: Hit, **recall: Any) -> tuple[str, str]:
        engine = Recalling(ScriptedBackend(memories=list(hits)), recall=recall)
        result = await engine("Where does my bike stand?")
        (cut,) = engine.traces[0].cuts
        return result.context_block or "", cut.detail

    async def test_a_setting_says_how_much_of_a_memory_is_shown_and_the_trace_tells(self) -> None:
        long = memory("long", self.LONG)
        default, overview = await self.shown(long), await self.shown(long, detail="overview")
        abstract, full = await self.shown(long, detail="abstract"), await self.shown(long, detail="full")
        assert default == overview and default[1] == "overview" and abstract[1] == "abstract" and full[1] == "full"
        assert len(abstract[0]) < len(default[0]) < len(full[0])
        assert all("The bike stands in the cellar." in block for block, _ in (default, abstract, full))
        assert self.LONG.strip() in full[0]

    async def test_full_is_all_of_a_turn_where_it_fits_and_the_passage_elsewhere(self) -> None:
        assert self.LONG.strip() in (await self.shown(self.PIECE, detail="full"))[0]
        narrow, _ = await self.shown(self.PIECE, BIKE, detail="full", max_injected_chars=1_000)
        assert self.PIECE.text in narrow and BIKE.text in narrow
        assert self.PIECE.text in (await self.shown(self.PIECE))[0]


class TestFilter:
    async def test_settings_and_the_host_narrow_what_is_searched_among_the_memories(self) -> None:
        backend = ScriptedBackend(memories=[BIKE], experiences=[experience("locks")])
        limits = {"categories": ["Preferences", "entities"], "excluded_categories": ["events"], "max_age_days": 30}
        engine = Recalling(backend, recall=limits, experience={"enabled": True})
        since = datetime(2999, 1, 1, tzinfo=UTC)
        await engine(TASK, only=RecallFilter(frozenset({"entities", "cases"}), since=since))
        filters = dict(backend.filters)
        assert filters[Target.EXPERIENCES].is_open
        wanted = filters[Target.MEMORIES]
        assert (wanted.categories, wanted.excluded) == ({"entities"}, {"events"})
        assert wanted.since == since and wanted.until is None
        told = "only entities; without events; since 2999-01-01T00:00:00+00:00"
        assert engine.traces[0].only == told

    async def test_an_age_is_counted_in_whole_days(self) -> None:
        backend = ScriptedBackend(memories=[BIKE])
        await Recalling(backend, recall={"max_age_days": 30})(QUESTION)
        [(_, wanted)] = backend.filters
        assert wanted.since and wanted.since.time() == time() and wanted.since.tzinfo is UTC
        assert timedelta(days=29) < datetime.now(UTC) - wanted.since < timedelta(days=32)

    async def test_without_a_filter_everything_is_searched_and_one_with_another_filter_anew(self) -> None:
        backend = ScriptedBackend(memories=[BIKE])
        engine = Recalling(backend, recall={"cache_ms": 60_000})
        for only in (ANY, ANY, RecallFilter(excluded=frozenset({"events"}))):
            await engine(QUESTION, only=only)
        assert [str(only) for _, only in backend.filters] == ["", "without events"]
