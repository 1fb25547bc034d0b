"""One test a line of the acceptance list of the agent-experience design, section "验收标准" (and its test coverage)."""

import pytest

from app.core.identity import SessionKind
from app.core.injection.fence import strip_blocks
from app.core.reasons import Reason
from app.core.recall.trace import Verdict
from app.ports import Target
from tests.messages import raw
from tests.unit.recalling import Recalling, ScriptedBackend, experience, memory, someone

pytestmark = pytest.mark.anyio

TASK = "修复登录接口报错"
KNOWLEDGE = "What is a database migration?"
ON = {"experience": {"enabled": True}}
FACT = memory("coffee", "Prefers filter coffee", 0.8, "preferences")


def backend() -> ScriptedBackend:
    return ScriptedBackend(memories=[FACT], experiences=[experience("login_error")])


async def block(engine: Recalling, text: str, **more: object) -> str:
    return (await engine(text, **more)).context_block or ""


async def test_the_default_never_recalls_experiences_and_sends_no_request_for_them() -> None:
    engine = Recalling(backend())
    assert "## Agent Experiences" not in await block(engine, TASK, trigger_hint="cron_start")
    assert [target for target, _, _ in engine.backend.asked] == [Target.MEMORIES]


async def test_with_experiences_off_long_term_recall_uses_the_same_envelope() -> None:
    shown = await block(Recalling(backend()), TASK)
    assert shown.startswith("<openviking-context>\n## Long-term Memories\nSource: openviking-auto-recall\n")
    assert shown.endswith("\n</openviking-context>")


async def test_a_plain_question_is_not_given_experiences() -> None:
    engine = Recalling(backend(), **ON)
    assert "## Agent Experiences" not in await block(engine, KNOWLEDGE)
    assert Target.EXPERIENCES not in [target for target, _, _ in engine.backend.asked]


@pytest.mark.parametrize("task", [TASK, "fix the login error and run the tests", "please deploy the new release"])
async def test_a_task_with_a_matching_experience_is_given_it(task: str) -> None:
    assert "## Agent Experiences" in await block(Recalling(backend(), **ON), task)


async def test_both_kinds_stand_in_sections_of_their_own_experiences_first() -> None:
    shown = await block(Recalling(backend(), **ON), TASK)
    experiences, memories = shown.split("## Long-term Memories")
    assert "### Experience: login_error" in experiences and "coffee" not in experiences
    assert "filter coffee" in memories and "login_error" not in memories


async def test_only_experiences_only_memories_and_neither() -> None:
    only = Recalling(ScriptedBackend(experiences=[experience("login_error")]), **ON)
    assert "## Long-term Memories" not in await block(only, TASK)
    only = Recalling(ScriptedBackend(memories=[FACT]), **ON)
    assert "## Agent Experiences" not in await block(only, TASK)
    neither = await Recalling(ScriptedBackend(), **ON)(TASK)
    assert (neither.context_block, neither.reason) == (None, Reason.NO_RECALL_HITS)
    assert raw(neither.messages) == ({"role": "user", "content": TASK},)


async def test_the_injected_block_is_taken_off_before_a_turn_is_stored() -> None:
    result = await Recalling(backend(), **ON)(TASK)
    assert strip_blocks(result.messages[0].text) == TASK


async def test_the_legacy_block_is_taken_off_too() -> None:
    assert strip_blocks(f"<relevant-memories>\n- [profile] x\n</relevant-memories>\n\n{TASK}") == TASK


async def test_a_cron_trigger_forces_recall() -> None:
    engine = Recalling(backend(), **ON)
    for more in ({"trigger_hint": "cron_start"}, {"who": someone(kind=SessionKind.CRON)}):
        assert "## Agent Experiences" in await block(engine, KNOWLEDGE, **more)


async def test_experiences_never_stand_among_the_memories() -> None:
    engine = Recalling(ScriptedBackend(memories=[FACT, experience("login_error")]))
    assert "login_error" not in await block(engine, KNOWLEDGE)
    assert Verdict.IS_EXPERIENCE in [candidate.verdict for candidate in engine.traces[0].candidates]


async def test_a_block_that_is_there_already_is_not_repeated() -> None:
    engine = Recalling(backend(), **ON)
    once = await engine(TASK)
    assert (await engine(*once.messages)).reason is Reason.ALREADY_INJECTED


async def test_three_experiences_at_most_each_once_above_their_threshold_and_within_their_budget() -> None:
    found = [experience(f"lesson_{n}", score=0.9 - n / 10, text=f"## Situation\n- {n}\n") for n in range(8)]
    engine = Recalling(ScriptedBackend(experiences=[*found, found[0]]), **ON)
    shown = await block(engine, TASK)
    assert [line for line in shown.splitlines() if line.startswith("### ")] == [
        f"### Experience: lesson_{n}" for n in range(3)
    ]
    strict = Recalling(ScriptedBackend(experiences=found), experience={"enabled": True, "score_threshold": 0.85})
    assert (await block(strict, TASK)).count("### Experience:") == 1
    small = Recalling(ScriptedBackend(experiences=found), experience={"enabled": True, "max_injected_chars": 20})
    assert await block(small, TASK) == ""


async def test_the_search_for_experiences_asks_for_twelve_candidates_or_four_an_item() -> None:
    for limit, asked in ((3, 12), (10, 40)):
        engine = Recalling(backend(), experience={"enabled": True, "limit": limit})
        await engine(TASK)
        assert (Target.EXPERIENCES, TASK, asked) in engine.backend.asked


async def test_a_task_shorter_than_the_minimum_by_weight_is_skipped() -> None:
    engine = Recalling(backend(), **ON)
    assert "## Agent Experiences" in await block(engine, "修复报错")
    assert "## Agent Experiences" not in await block(engine, "fix it now")
