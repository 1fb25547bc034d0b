"""What is remembered of tool calls: exact counts, the same error as one, and what mended it."""

import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capture.captured_message import CapturedMessage, ToolPart
from app.core.capture.captured_turn import captured_messages
from app.core.capture.storable_parts import MAX_TEXT_CHARS
from app.core.capture.tool_records import (
    MAX_ERRORS,
    MAX_TOOLS,
    ToolRecord,
    joined,
    settled,
    tallied,
    texts_of,
    together,
    without,
)
from app.core.capture.tool_uses import MAX_ARGUMENTS, TOO_LONG, ToolUse, parted, uses_in
from app.core.injection.session_start.addition import addition_of
from app.core.injection.session_start.section import ChatType, Facts
from app.core.injection.session_start.sections import sections_for
from app.core.memories.forget_selection import Forgetting, Redactor, Statement
from app.core.messages.host_message import HostMessage
from tests.unit.turning import TIME


def uses_of(*parts: ToolPart) -> list[ToolUse]:
    return list(uses_in([CapturedMessage("assistant", parts, TIME)]))


def call(name: str = "shell", output: str = "ok", *, failed: bool = False, **arguments: Any) -> ToolPart:
    return ToolPart("c1", name, arguments, output, failed)


def record_of(*parts: ToolPart) -> ToolRecord:
    [tally] = tallied(uses_of(*parts))
    return tally.record


def test_a_failure_and_what_mended_it() -> None:
    broken = call(
        output="line 7\nError: timed out after 5 s\n(Command exited with code 2)", command="npm test", timeout=5
    )
    again = call(output="Error: timed out after 12 s", failed=True, command="npm test", timeout=12)
    mended = call(command="npm test", timeout=60)
    record = record_of(broken, again, mended, mended)
    assert (record.calls, record.failures) == (4, 2)
    assert {text: (one.count, dict(one.fixes)) for text, one in record.errors.items()} == {
        "Error: timed out after # s": (2, {"timeout=60": 1})
    }
    assert record.arguments["command=npm test"] == 4


def test_the_section_tells_the_most_used_first_and_is_concise() -> None:
    shell = record_of(call(output="Error: no such file", failed=True, path="a"), call(path="b/a"), call(path="b/a"))
    read = ToolRecord("read", calls=40, timed=4, total_ms=9_200)
    facts = Facts(tools=together([shell, read, read]))
    text = addition_of(sections_for({"tools"}, ChatType.GROUP), facts, 3_000).text
    assert text == (
        "<openviking-session>\n## Tool Usage Memories\n"
        "### read\n- Called 80 times, 100% success, 2.3s on average\n"
        "### shell\n- Called 3 times, 67% success\n- Usually with: path=b/a\n"
        "- Common issue: Error: no such file (once)\n- Best practice: path=b/a (worked once after that)\n"
        "</openviking-session>"
    )


def test_a_duration_is_the_time_between_call_and_result() -> None:
    at = 1_795_298_000_000
    calls = [{"type": "toolCall", "id": name, "name": "shell", "arguments": {}} for name in ("a", "b")]
    messages = [
        HostMessage({"role": "assistant", "content": calls, "timestamp": at}),
        HostMessage({"role": "toolResult", "toolCallId": "a", "content": "ok", "timestamp": at + 2_300}),
        HostMessage({"role": "toolResult", "toolCallId": "b", "content": "ok"}),
    ]
    [one] = captured_messages(messages, datetime.fromtimestamp(0, UTC))
    assert [use.ms for use in uses_in([one])] == [2_300, None]


def test_an_output_in_several_parts_is_one_call_that_ends_as_it_ends() -> None:
    call_ = {"type": "toolCall", "id": "a", "name": "shell", "arguments": {"command": "x"}}
    output = "y" * (2 * MAX_TEXT_CHARS) + "\nCommand exited with code 1"
    messages = [
        HostMessage({"role": "assistant", "content": [call_]}),
        HostMessage({"role": "toolResult", "toolCallId": "a", "content": output}),
    ]
    captured = captured_messages(messages, datetime.fromtimestamp(0, UTC))
    assert len(captured) == 3
    [use] = uses_in(captured)
    assert use.failed and use.arguments == ("command=x",)


names = st.sampled_from(["shell", "read", "write"])
uses = st.builds(
    ToolUse,
    names,
    st.lists(st.text(min_size=1, max_size=8), max_size=3).map(tuple),
    st.text(min_size=1, max_size=6),
    st.none() | st.integers(0, 10_000),
    st.booleans(),
)


@given(st.lists(uses, max_size=120), st.integers(0, 120))
def test_counts_are_exact_bounded_and_add_up(made: list[ToolUse], cut: int) -> None:
    parts = [tallied(made[:cut]), tallied(made[cut:])]
    for record in [one.record for part in parts for one in part]:
        assert ToolRecord.from_json(json.loads(json.dumps(record.to_json()))) == record
        assert len(record.arguments) <= MAX_ARGUMENTS and len(record.errors) <= MAX_ERRORS
    sums = {one.tool: one for one in together(one.record for part in parts for one in part)}
    for tool in {use.tool for use in made}:
        mine = [use for use in made if use.tool == tool]
        assert (sums[tool].calls, sums[tool].failures) == (len(mine), sum(use.failed for use in mine))
        timed = [use.ms for use in mine if use.ms is not None]
        assert (sums[tool].timed, sums[tool].total_ms) == (len(timed), sum(timed))
    assert [one.calls for one in sums.values()] == sorted((one.calls for one in sums.values()), reverse=True)


few = st.builds(
    ToolUse,
    names,
    st.lists(st.sampled_from(["a=1", "b=2"]), max_size=2, unique=True).map(tuple),
    st.sampled_from(["broken", "gone"]),
    st.none() | st.integers(0, 10_000),
    st.booleans(),
)


@given(st.lists(few, max_size=30), st.integers(0, 30))
def test_a_turn_added_to_a_record_is_as_if_both_had_been_one(made: list[ToolUse], cut: int) -> None:
    records = {one.name: one.record for one in tallied(made[:cut])}
    for one in tallied(made[cut:]):
        records[one.name] = joined(records.get(one.name, ToolRecord(one.name)), one)
    assert records == {one.name: one.record for one in tallied(made)}


def told_apart(messages: list[HostMessage], cuts: Iterable[int]) -> dict[str, ToolRecord]:
    """What is remembered of a conversation whose turns end at ``cuts``."""
    records: dict[str, ToolRecord] = {}
    ends = sorted({0, *cuts, len(messages)})
    for start, end in pairwise(ends):
        late, calls = parted(uses_in(captured_messages(messages[start:end], datetime.fromtimestamp(0, UTC))))
        changed, orphans = settled(records.values(), late)
        records |= changed
        for one in (*tallied(orphans), *tallied(calls)):
            records[one.name] = joined(records.get(one.name, ToolRecord(one.name)), one)
    return records


made_calls = st.tuples(names, st.sampled_from(["a", "b"]), st.sampled_from([None, "ok", "Error: no", "Error: gone"]))


@given(
    st.lists(made_calls, max_size=12), st.randoms(use_true_random=False), st.booleans(), st.lists(st.integers(0, 40))
)
def test_a_result_of_a_later_turn_is_that_of_its_call(
    made: list[tuple[str, str, str | None]], chance: Any, named: bool, cuts: list[int]
) -> None:
    messages: list[HostMessage] = []
    waiting: list[tuple[int, str, str]] = []

    def answer() -> None:
        number, tool, output = waiting.pop(chance.randrange(len(waiting)))
        name = {"name": tool} if named else {}
        result = {"role": "tool", "tool_call_id": f"c_{number}", "content": output, **name}
        messages.append(HostMessage({**result, "is_error": output != "ok"}))

    for number, (tool, argument, output) in enumerate(made):
        call = {"id": f"c_{number}", "function": {"name": tool, "arguments": json.dumps({"x": argument})}}
        messages.append(HostMessage({"role": "assistant", "content": None, "tool_calls": [call]}))
        if output is not None:
            waiting.append((number, tool, output))
        if waiting and chance.random() < 0.5:
            answer()
    while waiting:
        answer()
    records = told_apart(messages, cuts)
    for tool in {tool for tool, _, _ in made} | records.keys():
        mine = [(argument, output) for one, argument, output in made if one == tool]
        failed = Counter(output for _, output in mine if output not in (None, "ok"))
        record = records[tool]
        assert (record.calls, record.failures) == (len(mine), failed.total())
        assert {text: one.count for text, one in record.errors.items()} == failed
        assert record.arguments == Counter(f"x={argument}" for argument, _ in mine)
        assert len(record.waiting) == sum(output is None for _, output in mine)
        assert ToolRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_what_fails_in_a_later_turn_is_mended_by_the_next_call() -> None:
    def calls(number: int, seconds: int) -> HostMessage:
        call = {"id": f"c{number}", "function": {"name": "shell", "arguments": f'{{"timeout": {seconds}}}'}}
        return HostMessage({"role": "assistant", "tool_calls": [call]})

    def result(number: int, output: str) -> HostMessage:
        return HostMessage({"role": "tool", "tool_call_id": f"c{number}", "content": output})

    failed = "Error: timed out\n(Command exited with code 1)"
    messages = [calls(1, 5), result(1, failed), calls(2, 60), result(2, "ok")]
    record = told_apart(messages, [1])["shell"]
    assert {text: dict(one.fixes) for text, one in record.errors.items()} == {"Error: timed out": {"timeout=60": 1}}
    assert told_apart(messages, []) == {"shell": record}


def test_tools_beyond_the_limit_are_counted_together() -> None:
    told = {one.name: one.record.calls for one in tallied(ToolUse(f"t{n % 300}") for n in range(600))}
    assert len(told) == MAX_TOOLS + 1 and told["other tools"] == 200 and told["t0"] == 2


def test_texts_can_be_taken_out_and_counts_stay() -> None:
    record = record_of(call(output="Error: zebra", failed=True, word="zebra"), call(word="lark"))
    gone = frozenset(text for text in texts_of(record) if "zebra" in text)
    left = without(record, gone)
    assert (left.calls, left.failures) == (2, 1) and not any("zebra" in text for text in texts_of(left))
    assert left.arguments == {"word=lark": 1}


FACT = "Quokkas open the vault with a purple zebra."


@pytest.mark.parametrize("filler", ["x", "xy ", "So it goes on. ", "row of the table\n"])
@pytest.mark.parametrize("end", ["", ".", "\n(Command exited with code 1)"])
def test_no_piece_of_a_forgotten_statement_stays_in_an_error(filler: str, end: str) -> None:
    """Whatever of a text does not fit is left out as a whole: half a statement could not be told from another."""
    redactor = Redactor(Forgetting(TIME, (Statement("m_1", "viking://x", "notes", (FACT,)),)))
    for before in (*range(0, 700, 13), *range(1_960, 2_010, 7), 5_990):
        output = f"Error: {(filler * before)[:before]} {FACT}{end}"
        record = record_of(
            call(output=output, failed=True, note="n" * (before % 60), word=FACT),
            call(note=FACT, more="m" * (before % 61), third=f"{'z' * (before % 40)} {FACT}"),
        )
        left = without(record, frozenset(text for text in texts_of(record) if redactor.derived(text) != text))
        told = " ".join(texts_of(left)).casefold()
        assert not [word for word in ("quok", "vaul", "purp", "zebr") if word in told], before


@pytest.mark.parametrize("lines", [3, 400])
@pytest.mark.parametrize("size", [10, 70, 300, 3_000, 5_000])
def test_no_line_of_an_error_is_kept_in_part(lines: int, size: int) -> None:
    words = [f"Error: {'w' * size}{'abc'[number % 3]} ends" for number in range(lines)]
    [told] = record_of(call(output="\n".join(words), failed=True)).errors
    assert told in {*words, TOO_LONG}


@pytest.mark.parametrize("value", [None, 7, "x" * 10_000_000, [1], {"a": {"b": "c"}}, {"q": "long " * 100}])
def test_what_is_no_short_argument_is_left_out(value: Any) -> None:
    [use] = uses_of(ToolPart("c", "shell", value, None))
    assert use.arguments == () and not use.failed
