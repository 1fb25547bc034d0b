"""A tool call as what is asked about: guidance for it, behind its result or beside the messages."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.identity import Scope, SessionKind
from app.core.injection.inject import Mode, after_result
from app.core.messages.host_message import HostMessage, Role
from app.core.reasons import Reason
from app.core.recall.tool_subject import MAX_CHARS, ToolSubject, subject_of
from app.ports import Target
from tests.unit.recalling import Recalling, ScriptedBackend, experience, memory, someone

pytestmark = pytest.mark.anyio

ON = {"experience": {"enabled": True}}
WRITE = ToolSubject("write_file", {"path": "src/after_turn.py", "content": "def after_turn(): ..."})
BLOCK = "<openviking-context>\n## Agent Experiences\n</openviking-context>"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda one: st.lists(one) | st.dictionaries(st.text(), one),
    max_leaves=20,
)


@given(st.text(), json_values)
def test_any_call_can_be_asked_about(name: str, arguments: Any) -> None:
    subject = ToolSubject(name, arguments)
    assert len(subject.query) <= MAX_CHARS and isinstance(subject.skill, str)


@pytest.mark.parametrize(
    ("path", "skill"),
    [
        ("/home/me/skills/slides/SKILL.md", "slides"),
        ("skills/发布/SKILL.md", "发布"),
        ("C:\\work\\skills\\demo\\skill.md", "demo"),
        ("skills/SKILL.md", ""),
        ("skills/demo/README.md", ""),
        ("notskills/demo/SKILL.md", ""),
    ],
)
def test_a_skill_is_known_by_its_path(path: str, skill: str) -> None:
    assert ToolSubject("read", {"path": path}).skill == skill
    assert ToolSubject("tool_call", {"id": "read", "args": {"file": path}}).skill == skill


RESULTS = [
    {"role": "toolResult", "toolCallId": "c1", "content": "# Demo"},
    {"role": "toolResult", "toolCallId": "c1", "content": [{"type": "text", "text": "# Demo"}]},
    {"role": "tool", "tool_call_id": "c1", "content": "# Demo"},
    *(
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": content}]}
        for content in ("# Demo", [{"type": "text", "text": "# Demo"}])
    ),
]


@pytest.mark.parametrize("result", RESULTS)
def test_the_block_follows_the_results_own_text(result: dict[str, Any]) -> None:
    call = {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "x"}}],
    }
    messages = [HostMessage(call), HostMessage(result)]
    assert subject_of("", None, messages) == ToolSubject("read", {"path": "x"})
    placed = after_result(messages, BLOCK, Mode.MESSAGE).messages
    assert placed[0] is messages[0] and len(placed) == 2
    [shown] = placed[1].results
    assert shown.text == f"# Demo\n\n{BLOCK}" and placed[1].role is messages[1].role
    assert after_result(placed, BLOCK, Mode.MESSAGE).messages == placed, "again changes nothing"
    assert after_result(messages, BLOCK, Mode.BLOCK).messages == tuple(messages)
    assert after_result(messages[:1], BLOCK, Mode.MESSAGE).messages == tuple(messages[:1])
    assert placed[1].role is not Role.SYSTEM


async def test_only_experiences_are_looked_up_for_a_call() -> None:
    backend = ScriptedBackend(memories=[memory("x", "Likes tea", 0.9)], experiences=[experience("login_error")])
    engine = Recalling(backend, **ON)
    answer = await engine(prompt=WRITE.query, trigger_hint="write_preflight", subject=WRITE)
    assert [target for target, _, _ in backend.asked] == [Target.EXPERIENCES]
    assert "## Agent Experiences" in (answer.context_block or "") and "Long-term" not in (answer.context_block or "")


async def test_with_experiences_off_nothing_is_asked_for_a_call() -> None:
    backend = ScriptedBackend(memories=[memory("x", "Likes tea", 0.9)])
    answer = await Recalling(backend)(prompt=WRITE.query, trigger_hint="write_preflight", subject=WRITE)
    assert (backend.asked, answer.context_block, answer.reason) == ([], None, Reason.NO_RECALL_HITS)


async def test_a_scheduled_run_searches_with_its_name_and_its_last_error_too() -> None:
    backend = ScriptedBackend(experiences=[experience("login_error")])
    scope = Scope(automation_name="nightly login check", last_error="Error: login timed out")
    engine, task = Recalling(backend, **ON), "Run the checks of tonight, please."
    for kind, queries in (
        (SessionKind.CRON, {f"{task}\nnightly login check\nError: login timed out"}),
        (SessionKind.CHAT, {task}),
    ):
        backend.asked.clear()
        await engine(task, who=replace(someone(), kind=kind), scope=scope)
        assert {query for _, query, _ in backend.asked} == queries
    assert len(Scope(last_error="x" * 10_000).automation) == 500
