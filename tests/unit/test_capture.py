"""What is captured of a turn, what counts as new, and what tells a repeat."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capture import storable_parts
from app.core.capture.captured_message import TextPart, ToolPart
from app.core.capture.captured_turn import CapturedTurn, capture_turn, with_ids
from app.core.capture.incoming import read_incoming
from app.core.history.rebuild import rebuilt
from app.core.history.summary_message import acknowledgement, summary_message
from app.core.messages.host_message import HostMessage
from tests.messages import typed

from .histories import histories

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
STAMP = 1_760_000_000_123


def captured(*messages: Any, pre_prompt_count: int | None = None, **rest: Any) -> CapturedTurn:
    return capture_turn(read_incoming(typed(messages), pre_prompt_count), received_at=NOW, **rest)


def fingerprint_of(message: dict[str, Any]) -> str | None:
    return HostMessage(message).fingerprint


def texts(turn: CapturedTurn) -> list[str]:
    return [part.text for message in turn.messages for part in message.parts if isinstance(part, TextPart)]


def tools(turn: CapturedTurn) -> list[ToolPart]:
    return [part for message in turn.messages for part in message.parts if isinstance(part, ToolPart)]


def user(text: Any, stamp: Any = None) -> dict[str, Any]:
    return {"role": "user", "content": text} | ({} if stamp is None else {"timestamp": stamp})


def assistant(content: Any, stamp: Any = None) -> dict[str, Any]:
    return user(content, stamp) | {"role": "assistant"}


def test_text_keeps_its_line_breaks() -> None:
    code = "def f():\n    return 1\n\n\nprint(f())"
    assert texts(captured(user(code), assistant(f"```\n{code}\n```"))) == [code, f"```\n{code}\n```"]


@given(histories(timed=True))
def test_every_call_has_its_result_in_all_three_styles(turns: list[Any]) -> None:
    for turn in turns:
        kept = captured(*turn, pre_prompt_count=0)
        assert all(part.output == f"out {part.id}" and part.input == {"n": part.id} for part in tools(kept))
        roles = [message.role for message in kept.messages]
        assert roles[0] == "user" and set(roles[1:]) <= {"assistant"}


def test_results_carry_their_error_flag() -> None:
    call = {"type": "toolCall", "id": "a", "name": "exec", "arguments": {"command": "false"}}
    result = {"role": "toolResult", "toolCallId": "a", "toolName": "exec", "content": "exit 1", "isError": True}
    part = ToolPart("a", "exec", {"command": "false"}, "exit 1", is_error=True)
    assert tools(captured(user("go"), assistant([call]), result)) == [part]


def test_text_and_calls_keep_their_order() -> None:
    call = {"type": "tool_use", "id": "a", "name": "exec", "input": {}}
    blocks = [{"type": "text", "text": "before"}, call, {"type": "text", "text": "after"}]
    kept = captured(user("go"), assistant(blocks))
    assert [type(part) for part in kept.messages[1].parts] == [TextPart, ToolPart, TextPart]


def test_a_result_without_its_call_is_kept_as_one() -> None:
    kept = captured(user("go"), {"role": "tool", "tool_call_id": "gone", "name": "exec", "content": "late"})
    assert tools(kept) == [ToolPart("gone", "exec", {}, "late")]
    assert kept.messages[1].role == "assistant"


def test_ids_that_come_again_in_a_later_round_keep_rounds_apart() -> None:
    call = {"type": "toolCall", "id": "0", "name": "exec", "arguments": {}}
    rounds = [
        m
        for text in ("one", "two")
        for m in (assistant([call]), {"role": "tool", "tool_call_id": "0", "content": text})
    ]
    assert [part.output for part in tools(captured(user("go"), *rounds))] == ["one", "two"]


def test_calls_and_results_without_ids_meet_by_name() -> None:
    call = {"type": "functionCall", "name": "exec", "args": {}}
    kept = captured(user("go"), assistant([call]), {"role": "tool", "name": "exec", "content": "out"})
    assert [part.output for part in tools(kept)] == ["out"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "system", "content": "rules"},
        {"role": "custom", "content": "x", "excludeFromContext": True},
        {"role": "compactionSummary", "summary": "x"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},
        {"role": "user", "content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]},
        {"role": "assistant", "content": "  \n "},
        {"role": "user", "content": None},
        {"role": "user", "content": "<openviking-context>\n## Long-term Memories\n- x\n</openviking-context>\n\n"},
        {"role": "unheard-of", "content": "x"},
    ],
)
def test_what_is_not_conversation_is_not_captured(message: dict[str, Any]) -> None:
    assert captured(message).messages == ()


def test_injected_blocks_do_not_reach_storage_not_even_in_tool_results() -> None:
    block = "<openviking-context>\n## Long-term Memories\n- secret\n</openviking-context>"
    result = {"role": "tool", "tool_call_id": "a", "content": f"{block}\n\nreal"}
    call = {"type": "toolCall", "id": "a", "name": "exec", "arguments": {}}
    kept = captured(user(f"{block}\n\nhello"), assistant([call]), result)
    assert texts(kept) == ["hello"]
    assert [part.output for part in tools(kept)] == ["real"]


BLOCK = "<openviking-context>\n## Long-term Memories\n- secret\n</openviking-context>"


def deep(text: str, levels: int) -> Any:
    value: Any = {"prompt": text, "n": [1, 2.5, None, True]}
    for _ in range(levels):
        value = {"args": [value]}
    return value


@pytest.mark.parametrize("levels", [0, 3, 30, 40, 200])
@pytest.mark.parametrize("as_text", [False, True], ids=["parsed", "json-text"])
def test_injected_blocks_in_tool_input_do_not_reach_storage_at_any_depth(levels: int, as_text: bool) -> None:
    """A host that copies its prompt into a sub-agent's call."""

    def input_of(text: str) -> Any:
        value = deep(text, levels)
        call = {"type": "toolCall", "id": "a", "name": "spawn", "arguments": json.dumps(value) if as_text else value}
        return tools(captured(user("go"), assistant([call])))[0].input

    assert input_of(f"{BLOCK}\n\nFix <b>it</b>.") == input_of("Fix <b>it</b>.")
    assert levels >= storable_parts.MAX_INPUT_DEPTH / 2 or input_of("Fix <b>it</b>.") == deep("Fix <b>it</b>.", levels)


@pytest.mark.parametrize(
    "text", [f"{BLOCK}\n\nplain words", json.dumps({"task": f"{BLOCK}\n\ngo"}), f"```\n{BLOCK}\n```"]
)
def test_input_that_is_text_is_cleaned_like_text(text: str) -> None:
    call = {"type": "toolCall", "id": "a", "name": "spawn", "arguments": {"text": text, text: 1}}
    shown = str([message.raw for message in rebuilt(captured(assistant([call])).messages)])
    assert ("secret" in shown) == text.startswith("```")


def test_a_call_is_known_again_when_the_block_in_its_input_is_gone() -> None:
    calls = [
        assistant([{"type": "toolCall", "id": "a", "name": "spawn", "arguments": {"prompt": text}}], STAMP)
        for text in (f"{BLOCK}\n\nFix it.", "Fix it.")
    ]
    assert fingerprint_of(calls[0]) == fingerprint_of(calls[1])


def test_our_own_summary_is_not_captured_again() -> None:
    kept = captured(summary_message("the past"), acknowledgement(), user("hello"), assistant("hi"))
    assert texts(kept) == ["hello", "hi"]
    assert len(kept.fingerprints) == 2


@pytest.mark.parametrize(
    ("stamp", "created_at"),
    [
        (STAMP, "2025-10-09T08:53:20.123Z"),
        ("2025-10-09T10:53:20.123+02:00", "2025-10-09T08:53:20.123Z"),
        ("yesterday", "2026-03-01T12:30:00.000Z"),
        (float("inf"), "2026-03-01T12:30:00.000Z"),
        (-5, "2026-03-01T12:30:00.000Z"),
        (None, "2026-03-01T12:30:00.000Z"),
    ],
)
def test_each_message_has_a_time_of_its_own_that_openviking_accepts(stamp: Any, created_at: str) -> None:
    kept = captured(user("a", stamp), assistant("b", 1_760_000_060_000))
    assert [message.created_at for message in kept.messages] == [created_at, "2025-10-09T08:54:20.000Z"]


@given(st.text(st.characters(codec=None)), st.recursive(st.text() | st.floats(), st.lists, max_leaves=5))
def test_whatever_was_said_can_be_stored(text: str, value: Any) -> None:
    odd = text + "\ud800\0"
    call = {"type": "toolCall", "id": odd, "name": odd, "arguments": {odd: [odd, value]}}
    kept = captured(user(odd), assistant([call]), {"role": "tool", "tool_call_id": odd, "content": odd})
    assert "\0" not in repr(kept.messages)
    for part in tools(kept):
        repr(part).encode("utf-8")
        assert "\0" not in part.name + part.id + (part.output or "")


def test_absurdly_nested_input_is_kept_as_text() -> None:
    value: Any = "core"
    for _ in range(400):
        value = [value]
    part = tools(captured(assistant([{"type": "toolCall", "id": "a", "name": "x", "arguments": {"v": value}}])))[0]
    assert "core" in repr(part.input)


def test_a_text_beyond_the_limit_goes_on_in_a_further_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storable_parts, "MAX_TEXT_CHARS", 100)
    call = {"type": "toolCall", "id": "a", "name": "exec", "arguments": {}}
    kept = captured(user("x" * 250), assistant([call]), {"role": "tool", "tool_call_id": "a", "content": "y" * 150})
    assert "".join(texts(kept)) == "x" * 250
    assert [(part.id, part.output) for part in tools(kept)] == [("a", "y" * 100), ("a.1", "y" * 50)]
    assert len(kept.messages) == 5


def test_only_what_follows_the_history_is_new() -> None:
    kept = captured(user("old"), assistant("old"), user("new"), assistant("new"), pre_prompt_count=2)
    assert texts(kept) == ["new", "new"]
    assert len(kept.fingerprints) == 2


@pytest.mark.parametrize("count", [None, 4, 9])
def test_without_a_usable_count_everything_not_yet_captured_is_new(count: int | None) -> None:
    first = [user("one", STAMP), assistant("1", STAMP + 1)]
    second = [user("one", STAMP + 2), assistant("1", STAMP + 3)]
    seen = captured(*first).fingerprints
    kept = captured(*first, *second, recorded=seen, pre_prompt_count=count)
    assert [message.created_at for message in kept.messages] == ["2025-10-09T08:53:20.125Z", "2025-10-09T08:53:20.126Z"]
    assert captured(*first, *second, recorded=seen + kept.fingerprints).messages == ()


def test_a_resent_history_without_times_is_aligned_in_order() -> None:
    first, second = [user("ok"), assistant("done")], [user("ok"), assistant("done")]
    seen = captured(*first).fingerprints
    assert texts(captured(*first, *second, recorded=seen)) == ["ok", "done"]
    again = captured(*first, *second, user("ok"), assistant("done"), recorded=seen * 2)
    assert texts(again) == ["ok", "done"]


def test_a_lone_turn_without_times_or_position_is_a_new_turn_each_time() -> None:
    turn = [user("ok"), assistant("done")]
    first = captured(*turn)
    second = captured(*turn, recorded=first.fingerprints)
    assert texts(second) == texts(first)


def test_messages_repeated_together_with_the_next_turn_are_taken_once() -> None:
    first, second = [user("one", STAMP), assistant("1", STAMP + 1)], [user("two", STAMP + 2)]
    assert texts(captured(*first, *second, pre_prompt_count=0, recorded=captured(*first).fingerprints)) == ["two"]


def test_old_results_that_the_host_pruned_are_not_new() -> None:
    call = {"type": "toolCall", "id": "a", "name": "exec", "arguments": {}}
    result = {"role": "toolResult", "toolCallId": "a", "content": "long output", "timestamp": STAMP + 2}
    first = [user("go", STAMP), assistant([call], STAMP + 1), result, assistant("done", STAMP + 3)]
    pruned = [*first[:2], result | {"content": "[cleared]"}, first[3]]
    kept = captured(*pruned, user("more", STAMP + 4), recorded=captured(*first).fingerprints)
    assert texts(kept) == ["more"] and tools(kept) == []


def test_a_result_that_came_after_its_call_was_captured_is_new() -> None:
    call = {"type": "toolCall", "id": "a", "name": "exec", "arguments": {}}
    begun = [user("go", STAMP), assistant([call], STAMP + 1)]
    result = {"role": "toolResult", "toolCallId": "a", "content": "out", "timestamp": STAMP + 2}
    kept = captured(*begun, result, assistant("done", STAMP + 3), recorded=captured(*begun).fingerprints)
    assert [part.output for part in tools(kept)] == ["out"] and texts(kept) == ["done"]


@given(histories())
def test_resending_the_whole_history_captures_each_message_once(turns: list[Any]) -> None:
    seen: tuple[str, ...] = ()
    sent: list[Any] = []
    said: list[str] = []
    for turn in turns:
        sent += turn
        kept = captured(*sent, recorded=seen)
        seen += kept.fingerprints
        said += texts(kept)
    assert seen == tuple(fingerprint_of(message) for message in sent)
    assert said == texts(captured(*sent, pre_prompt_count=0))


def test_only_a_count_before_the_end_says_where_the_turn_starts() -> None:
    assert not read_incoming(typed([user("a")]), None).is_placed
    assert not read_incoming(typed([user("a")]), 1).is_placed
    assert not read_incoming(typed([user("a")]), 5).is_placed
    assert read_incoming(typed([user("a"), user("b")]), 1).is_placed


def test_a_history_that_stands_in_a_row_in_the_record_is_known_wherever_it_stands() -> None:
    first, second = [user("one"), assistant("1")], [user("two"), assistant("2")]
    record = captured(*first, *second, user("three"), pre_prompt_count=0).fingerprints
    assert captured(*first, *second, recorded=record).messages == ()
    assert texts(captured(*second, user("other"), recorded=record)) == ["two", "2", "other"]


def test_a_lone_turn_that_is_counted_as_history_is_compared_unless_it_has_a_key() -> None:
    turn = [user("ok"), assistant("done")]
    record = captured(*turn).fingerprints
    assert captured(*turn, pre_prompt_count=2, recorded=record).messages == ()
    assert texts(captured(*turn, pre_prompt_count=2, recorded=record, keyed=True)) == ["ok", "done"]


def occurrence(*messages: dict[str, Any], count: int | None = None) -> str | None:
    return read_incoming(typed(messages), count).occurrence


def test_what_only_a_repeat_shares_is_words_with_their_times_else_with_their_place() -> None:
    timed = [user("a", STAMP), assistant("b")]
    assert occurrence(*timed) == occurrence(*timed, count=0) == occurrence(user("old"), *timed, count=1)
    assert occurrence(*timed) != occurrence(user("a", STAMP + 1), assistant("b"))
    placed = [user("a"), assistant("b")]
    assert occurrence(*placed, count=0) == occurrence(*placed, count=0)
    others = [occurrence(user("a"), assistant("c"), count=0), occurrence(user("a"), *placed, count=1)]
    assert len({*others, occurrence(*placed, count=0), occurrence(*placed, count=2), occurrence(*timed)}) == 5
    assert occurrence(*placed) is None and occurrence(count=0) is None


def test_a_fingerprint_depends_on_words_alone() -> None:
    said = read_incoming(typed([user("a"), assistant("b")]), None).fingerprint
    assert read_incoming(typed([user("a", STAMP), assistant("b")]), 0).fingerprint == said
    assert read_incoming(typed([user("a"), assistant("c")]), None).fingerprint != said


def test_the_span_is_that_of_what_is_new() -> None:
    turn = [user("one", STAMP), assistant("1", STAMP + 1), user("two", STAMP + 2), assistant("2")]
    first = captured(*turn[:2])
    assert first.span == (STAMP, STAMP + 1)
    assert captured(*turn, recorded=first.fingerprints).span == (STAMP + 2, STAMP + 2)
    assert captured(user("a")).span is None


def test_a_heartbeat_leaves_its_fingerprints_and_nothing_else() -> None:
    kept = captured(user("poll"), assistant("all quiet"), is_heartbeat=True)
    assert kept.messages == () and kept.tokens == 0 and len(kept.fingerprints) == 2


def test_fingerprints_survive_what_hosts_do_to_history() -> None:
    call = {"type": "toolCall", "id": "call_1a", "name": "exec", "arguments": {"b": 1, "a": 2}}
    before = assistant([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "look \n"}, call], STAMP)
    after = assistant([{"type": "text", "text": "look"}, call | {"id": "call1a", "arguments": {"a": 2, "b": 1}}], STAMP)
    assert fingerprint_of(before) == fingerprint_of(after)
    assert fingerprint_of(after) != fingerprint_of(after | {"timestamp": STAMP + 1})


def test_source_ids_are_turn_and_index() -> None:
    kept = with_ids(captured(user("a"), assistant("b")).messages, "t_1")
    assert [message.source_id for message in kept] == ["t_1.0", "t_1.1"]


def test_messages_carry_the_peer() -> None:
    assert {message.peer_id for message in captured(user("a"), assistant("b"), peer_id="main").messages} == {"main"}


def appended(*said: str, stamp: int = STAMP) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": [{"type": "text", "text": text} for text in said], "timestamp": stamp}]


def test_what_a_host_appends_to_an_assistants_message_is_kept_once() -> None:
    record: tuple[str, ...] = ()
    kept: list[str] = []
    grown = (["On its way."], ["On its way.", "The kid is done."], ["On its way.", "The kid is done.", "So is two."])
    for said in grown * 2:
        turn = captured(*appended(*said), recorded=record)
        record += turn.fingerprints
        kept += texts(turn)
    assert kept == ["On its way.", "The kid is done.", "So is two."]


def test_equal_beginnings_of_other_times_are_other_messages() -> None:
    first = captured(*appended("Yes."))
    turn = captured(*appended("Yes.", "And no.", stamp=STAMP + 1), recorded=first.fingerprints)
    assert texts(turn) == ["Yes.\nAnd no."]
