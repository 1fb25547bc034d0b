import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capture.captured_message import CapturedMessage
from app.core.capture.captured_turn import capture_turn
from app.core.capture.incoming import read_incoming
from app.core.injection import inject as module
from app.core.injection.fence import strip_blocks
from app.core.injection.inject import Injected, Mode
from app.core.messages.host_message import HostMessage, Role
from app.core.recall.transcript import REPLY_ASSIST
from app.recall.block import fit, render_block
from app.recall.ranking import Policy, rank
from app.recall.sources.long_term_memories import SECTION
from tests.messages import raw, typed
from tests.unit.recalling import memory
from tests.unit.test_block import HOSTILE

BLOCK = "<openviking-context>\n## Long-term Memories\nx\n</openviking-context>"
NOTE = REPLY_ASSIST.strip()
USER = {"role": "user", "content": "where did I park?"}

OPENCLAW = [
    {"role": "user", "content": "hi", "timestamp": 1},
    {"role": "assistant", "content": [{"type": "toolCall", "id": "c1", "name": "ls", "arguments": {}}],
     "provider": "p", "model": "m", "api": "a", "timestamp": 2},
    {"role": "toolResult", "toolCallId": "c1", "toolName": "ls", "content": [{"type": "text", "text": "a"}]},
    {"role": "user", "content": [{"type": "text", "text": "where did I park?"}], "timestamp": 3, "x": 1},
]  # fmt: skip
OPENAI = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},  # noqa: E501
    {"role": "tool", "tool_call_id": "c1", "content": "a"},
    USER,
]  # fmt: skip
ANTHROPIC = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "one file"}]},
    USER,
]
STYLES = {"openclaw": OPENCLAW, "openai": OPENAI, "anthropic": ANTHROPIC, "plain": [USER]}


def inject(messages: Sequence[Any], *what: Any) -> Injected:
    """`module.inject` of JSON objects, which come back as such."""
    placed = module.inject(typed(messages), *what)
    return Injected(raw(placed.messages), placed.system_prompt_addition)  # type: ignore[arg-type]


def is_injected(messages: Sequence[Any]) -> bool:
    return module.is_injected(typed(messages))


def is_simulated(message: Any) -> bool:
    return module.is_simulated(HostMessage(message))


@pytest.fixture(params=STYLES)
def host(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    return STYLES[request.param]


def test_message_changes_only_the_latest_users_text(host: list[dict[str, Any]]) -> None:
    before = json.dumps(host)
    placed = inject(host, BLOCK, "", Mode.MESSAGE, "q").messages
    assert [*placed[:-1]] == host[:-1]
    assert HostMessage(placed[-1]).text == BLOCK + "\n\nwhere did I park?"
    assert {k: v for k, v in placed[-1].items() if k != "content"} == {
        k: v for k, v in host[-1].items() if k != "content"
    }
    assert json.dumps(host) == before


def test_block_changes_no_message(host: list[dict[str, Any]]) -> None:
    assert [*inject(host, BLOCK, "", Mode.BLOCK, "q").messages] == host


def test_system_goes_into_the_system_prompt(host: list[dict[str, Any]]) -> None:
    placed = inject(host, BLOCK, NOTE, Mode.SYSTEM, "q")
    assert [*placed.messages] == host
    assert placed.system_prompt_addition == f"{BLOCK}\n\n{NOTE}"


def test_tool_call_puts_a_call_and_its_result_before_the_question(host: list[dict[str, Any]]) -> None:
    placed = inject(host, BLOCK, "", Mode.TOOL_CALL, "car park").messages
    call, result = placed[-3:-1]
    assert [*placed[:-3], placed[-1]] == host
    assert [m.role for m in typed(placed[-3:])] == [Role.ASSISTANT, Role.TOOL, Role.USER]
    (called,), (found,) = HostMessage(call).calls, HostMessage(result).results
    assert (called.name, called.arguments) == ("search_memories", {"query": "car park"})
    assert called.id == found.call_id
    assert found.text == BLOCK
    assert is_simulated(call) and is_simulated(result) and not any(is_simulated(m) for m in host)


def test_a_simulated_call_is_not_captured(host: list[dict[str, Any]]) -> None:
    now = datetime.now(UTC)

    def kept(messages: Sequence[Any]) -> tuple[CapturedMessage, ...]:
        return capture_turn(read_incoming(typed(messages), None), received_at=now).messages

    placed = inject(host, BLOCK, "", Mode.TOOL_CALL, "q").messages
    assert kept(placed) == kept(host)


@pytest.mark.parametrize(
    ("style", "roles"),
    [
        ("openclaw", ["assistant", "toolResult"]),
        ("openai", ["assistant", "tool"]),
        ("anthropic", ["assistant", "user"]),
        ("plain", ["assistant", "tool"]),
    ],
)
def test_the_call_is_in_the_hosts_style(style: str, roles: list[str]) -> None:
    placed = inject(STYLES[style], BLOCK, "", Mode.TOOL_CALL, "q").messages
    assert [m["role"] for m in placed[-3:-1]] == roles


def test_an_openclaw_call_has_what_the_host_reads_off_every_assistant_message() -> None:
    call = inject(OPENCLAW, BLOCK, "", Mode.TOOL_CALL, "q").messages[-3]
    assert (call["provider"], call["model"], call["api"], call["timestamp"]) == ("p", "m", "a", 3)
    assert call["usage"]["totalTokens"] == 0 and call["stopReason"] == "toolUse"


@pytest.mark.parametrize("mode", Mode)
def test_the_same_input_gives_the_same_bytes(mode: Mode) -> None:
    one, other = (json.dumps(inject(OPENCLAW, BLOCK, NOTE, mode, "q").messages) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("mode", [Mode.MESSAGE, Mode.TOOL_CALL])
def test_what_was_injected_is_recognised(mode: Mode, host: list[dict[str, Any]]) -> None:
    assert not is_injected(host)
    assert is_injected(inject(host, BLOCK, "", mode, "q").messages)


def test_a_note_alone_is_recognised_too() -> None:
    placed = inject([USER], "", NOTE, Mode.MESSAGE, "q").messages
    assert is_injected(placed)
    assert strip_blocks(HostMessage(placed[-1]).text) == USER["content"]


def test_a_block_in_an_earlier_message_is_no_reason_to_stop() -> None:
    earlier = {"role": "user", "content": f"{BLOCK}\n\nhello"}
    assert not is_injected([earlier, {"role": "assistant", "content": "hi"}, USER])


@pytest.mark.parametrize("mode", [Mode.MESSAGE, Mode.TOOL_CALL])
@pytest.mark.parametrize("messages", [[], [{"role": "assistant", "content": "hi"}]])
def test_without_a_question_among_the_messages_they_stay_as_they_are(mode: Mode, messages: list[Any]) -> None:
    assert [*inject(messages, BLOCK, "", mode, "q").messages] == messages


def test_the_note_goes_where_the_users_words_stay_untouched() -> None:
    placed = inject([USER], BLOCK, NOTE, Mode.TOOL_CALL, "q")
    assert placed.messages[-1] == USER and placed.system_prompt_addition == NOTE


@pytest.mark.parametrize("content", [None, "", [], [{"type": "image", "data": "..."}]])
def test_a_message_without_text_gets_the_block_as_its_text(content: Any) -> None:
    placed = inject([{"role": "user", "content": content}], BLOCK, "", Mode.MESSAGE, "q").messages
    assert strip_blocks(HostMessage(placed[-1]).text) == ""


words = st.text(st.characters(exclude_categories=()), max_size=200)
messages = st.one_of(
    words,
    st.sampled_from([*HOSTILE, "a\n\nb", "\n\nlead", "trail\n\n", "```\ncode", "plain", "中文\n第二行", "\r\n\r\nx"]),
)


@given(messages, st.lists(st.one_of(words, st.sampled_from(HOSTILE)), min_size=1, max_size=4))
def test_stripping_what_was_injected_gives_back_the_original(text: str, memories: list[str]) -> None:
    host = {"role": "user", "content": text}
    hits = [memory(str(n), body, 0.9) for n, body in enumerate(memories)]
    block = render_block((SECTION, fit(rank(hits, "zzz", Policy()), SECTION, Policy())[0]))
    if not block or is_injected([host]) or strip_blocks(text) != text:
        return
    for note in ("", NOTE):
        placed = inject([host], block, note, Mode.MESSAGE, "q").messages[-1]
        assert strip_blocks(str(placed["content"])) == text
