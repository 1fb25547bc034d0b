"""The guards: what of an output stays, which outputs are cut when, and that a prompt always fits."""

import json
import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.history.guards import output_lines
from app.core.history.guards.cuts import Decisions, Kind
from app.core.history.guards.guard_registry import Guarding
from app.core.history.guards.guard_rules import GuardRules, Mode, Situation
from app.core.history.guards.output_excerpt import within_chars, within_tokens
from app.core.history.guards.output_pages import find, page
from app.core.history.guards.packing import pack, unpack
from app.core.history.prompt import Assembled, assemble_history
from app.core.history.summary_message import HEADING
from app.core.history.summary_text import History
from app.core.messages.host_message import HostMessage, Role, tokens_of
from app.core.messages.tokens import estimate_tokens
from tests.messages import raw, typed

EXAMPLES = int(os.environ.get("GUARD_HISTORIES", settings.default.max_examples))
"""Histories that the property is tried on; `make histories` tries all that is promised."""
LOG = "\n".join([f"12:00:{n % 60:02} worker {n} has done {n * 7919 % 10_007} things" for n in range(4_000)])


# What of an output stays


def excerpt(text: str, tokens: int = 1_000) -> str:
    shown = within_tokens(text, tokens, "c1").text
    assert estimate_tokens(shown) <= tokens
    return shown


def test_head_and_tail_stay_and_one_line_says_how_to_read_the_rest() -> None:
    shown = excerpt(LOG)
    assert shown.startswith(LOG[:800]) and shown.endswith(LOG[-800:])
    (notice,) = [line for line in shown.splitlines() if "ov_tool_result" in line]
    assert '{"callId": "c1", "offset": ' in notice and f"of {len(LOG):,} characters" in notice


@pytest.mark.parametrize(
    "failure",
    [
        "Traceback (most recent call last):\n  File 'a.py', line 3\n    boom()\nValueError: no such row",
        "error[E0382]: borrow of moved value: `x`",
        "panic: runtime error: index out of range [5]",
        "致命错误: 找不到文件 配置.yaml",
        "npm ERR! ERROR missing script: build",
    ],
)
def test_a_failure_in_the_middle_is_shown_with_what_belongs_to_it(failure: str) -> None:
    middle = len(LOG) // 2
    shown = excerpt(f"{LOG[:middle]}\n{failure}\n{LOG[middle:]}")
    assert all(line in shown for line in failure.splitlines())


def test_many_failures_leave_room_for_different_ones() -> None:
    text = "\n".join([*(f"error: row {n} is wrong" for n in range(3_000)), "fatal: the disk is full", LOG])
    shown = excerpt(text)
    assert "fatal: the disk is full" in shown and shown.endswith(LOG[-500:])


def test_progress_repetition_and_data_go_first() -> None:
    bar = "".join([f"\rDownloading {n / 50:.1f}% [{'#' * (n // 200)}]" for n in range(5_000)])
    bars = "\n".join([f"Fetching {n / 50:.1f}% {'█' * (n // 200)}" for n in range(5_000)])
    base64 = "iVBORw0KGgo" + "A1b2C3d4" * 40_000
    minified = "function(a,b){return(a+b)/2};" * 5_000
    words = ["the beginning", bar, bars, "warn: again\n" * 4_000, f'<img src="{base64}">', minified, "the end"]
    shown = excerpt("\n".join(words), 2_000)
    assert shown.startswith("the beginning") and shown.endswith("the end")
    assert "image/png, base64 data of 240,0" in shown
    assert "[the line above 3,999 more times]" in shown
    assert shown.count("Downloading") == 1 and shown.count("Fetching") <= 2
    assert "characters of this line ..." in shown


def test_binary_data_becomes_its_type_and_size() -> None:
    text = "\x89PNG\x00\x01\x02\x03" + "\x00\x07\x0e\x9f" * 100_000
    assert "image/png data, 400,008 characters" in excerpt(text)


@pytest.mark.parametrize(
    "value",
    [
        [{"id": n, "name": f"user {n}"} for n in range(20_000)],
        {"log": "line\n" * 60_000, "ok": False, "error": "the last word"},
        {f"key {n}": "x" * 50 for n in range(9_000)},
        {"deep": [[["x" * 400_000]]], "n": 1},
        [["a" * 1_000] * 900],
    ],
    ids=["list", "text", "members", "deep", "nested"],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_stays_json(value: Any, indent: int | None) -> None:
    shown = excerpt(json.dumps(value, indent=indent), 900)
    assert "ov_tool_result" in shown
    parsed = json.loads(shown)
    assert type(parsed) is type(value)
    if isinstance(value, dict) and "error" in value:
        assert parsed["error"] == "the last word" and parsed["ok"] is False


@given(st.text(st.sampled_from('ab é漢\r\n\t %#=0{}[]",:\x00\x1b\ud83e')) | st.text(), st.integers(150, 400))
def test_an_excerpt_of_anything_fits(text: str, tokens: int) -> None:
    text *= 60
    if estimate_tokens(text) > tokens:
        excerpt(text, tokens)
        assert len(within_chars(text, 300, "c1").text) < 1_500


def test_half_a_surrogate_pair_in_json_is_text_like_any_other() -> None:
    assert "ov_tool_result" in excerpt(json.dumps([LOG])[:-2] + '\ud83e"]')


@given(st.text(), st.integers(1, 50))
def test_pages_are_the_text(text: str, limit: int) -> None:
    assert unpack(pack(text)) == text
    read, offset = "", 0
    while True:
        part = page(text, offset, limit)
        read += part.text
        if part.following is None:
            break
        offset = part.following
    assert read == text


def test_a_query_finds_its_lines() -> None:
    text = f"{LOG}\nthe fatal one: disk full\n{LOG}"
    (place,) = find(text, "fatal disk", 8_000)
    assert text[place.offset :].startswith(place.text) and place.text == "the fatal one: disk full"
    assert find(text, "xyzzy", 8_000) == [] and find("", "a", 100) == []


# Which outputs are cut, and when

BUDGET = 32_000
PER_TOKEN = len(LOG) / estimate_tokens(LOG)
"""Characters."""


def turn(number: int, output: str, *, style: str = "openclaw", call_id: str = "") -> list[dict[str, Any]]:
    name = call_id or f"call_{number}"
    at = 1_770_000_000_000 + number * 60_000
    call = {"type": "toolCall", "id": name, "name": "exec", "arguments": {"command": f"step {number}"}}
    return [
        {"role": "user", "content": f"Question {number}, please.", "timestamp": at},
        {"role": "assistant", "content": [call], "timestamp": at + 1},
        {"role": "toolResult", "toolCallId": name, "toolName": "exec", "content": output, "timestamp": at + 2},
        {"role": "assistant", "content": f"Answer {number}.", "timestamp": at + 3},
    ]


def guarded(messages: Sequence[Any], decisions: Decisions, budget: int = BUDGET, **rules: Any) -> Assembled:
    cold = rules.pop("cold", True)
    tools = rules.pop("tools", None)
    layout = rules.pop("layout", None)
    situation = Situation(budget, GuardRules(**rules), cold, tools)
    return assemble_history(
        typed(messages),
        History(),
        token_budget=budget,
        summary_share=0.3,
        guarding=Guarding(situation, decisions, layout=layout),
    )


def kinds(answer: Assembled) -> dict[str | None, str]:
    return {note.call_id: note.kind.value for note in answer.guards}


def history(*tokens: int) -> list[dict[str, Any]]:
    return [message for number, size in enumerate(tokens) for message in turn(number, LOG[: int(size * PER_TOKEN)])]


def test_earlier_outputs_are_trimmed_oldest_first_and_the_newest_turns_left_alone() -> None:
    answer = guarded(history(5_000, 5_000, 2_000, 500, 500, 500), Decisions())
    assert list(kinds(answer)) == ["call_0", "call_1", "call_2"][: len(answer.guards)] and len(answer.guards) >= 2
    assert set(kinds(answer).values()) == {"trimmed"}
    assert tokens_of(answer.messages) < 0.3 * BUDGET
    shown = answer.messages[2].text
    end = int(5_000 * PER_TOKEN)
    assert shown.startswith(LOG[:1_000]) and LOG[end - 1_000 : end] in shown and "ov_tool_result" in shown


def test_what_is_short_enough_is_left_as_it_is() -> None:
    messages = typed(history(800, 800, 800, 500, 500))
    answer = guarded(messages, Decisions())
    assert not answer.changed and answer.messages == messages and answer.guards == ()


def test_above_the_second_ratio_a_line_takes_their_place() -> None:
    answer = guarded(history(*[700] * 24, 3_000, 3_000, 3_000), Decisions())
    cleared = [name for name, kind in kinds(answer).items() if kind == "cleared"]
    assert cleared == [f"call_{n}" for n in range(len(cleared))] and cleared
    assert tokens_of(answer.messages) <= 0.5 * BUDGET
    line = answer.messages[2].text
    assert "\n" not in line and f"{int(700 * PER_TOKEN):,} characters" in line and '"callId": "call_0"' in line


def test_decisions_stay_and_only_go_forward() -> None:
    decisions = Decisions()
    messages = history(5_000, 5_000, 2_000, 500, 500, 500)
    before = guarded(messages, decisions)
    kept = dict(kinds(before).items())
    again = Decisions(decisions.made.values())
    after = guarded([*messages, *turn(7, "ok")], again)
    assert raw(after.messages[: len(before.messages)]) == raw(before.messages)
    grown = guarded([*messages, *history(*[600] * 40)[4 * 10 :]], Decisions(again._cuts.values()))
    assert all(kinds(grown).get(name) in (kind, "cleared", None) for name, kind in kept.items())
    for mode in Mode:
        same = guarded(messages, Decisions(decisions.made.values()), mode=mode, cold=False)
        assert raw(same.messages) == raw(before.messages)


def test_by_the_cache_they_are_cut_only_when_it_is_cold() -> None:
    messages = history(5_000, 5_000, 2_000, 500, 500, 500)
    warm = guarded(messages, Decisions(), mode=Mode.CACHE_TTL, cold=False)
    assert warm.guards == ()
    cold = guarded(messages, Decisions(), mode=Mode.CACHE_TTL)
    assert kinds(cold) == {"call_0": "trimmed", "call_1": "trimmed", "call_2": "trimmed"}
    assert guarded(messages, Decisions(), mode=Mode.OFF).guards == ()


def test_equal_ids_of_different_calls_have_names_of_their_own() -> None:
    messages = [*turn(1, LOG[:80_000], call_id="call_1"), *turn(2, LOG[80_000:], call_id="call_1")]
    answer = guarded(messages, Decisions())
    names = [kept.cut.ref for kept in answer.originals]
    assert len(set(names)) == 2 and names[0] == "call_1" and names[1].startswith("call_1~")


def test_the_newest_turns_alone_where_a_setting_says_so() -> None:
    answer = guarded(history(*[20] * 9), Decisions(), max_turns=2)
    asked = [message.text for message in answer.messages if message.role is Role.USER]
    assert asked[1:] == ["Question 7, please.", "Question 8, please."]
    assert all(f"Question {n}" in asked[0] for n in range(7))
    assert [note.kind for note in answer.guards] == [Kind.DROPPED] * 7


@pytest.mark.parametrize("style", ["openclaw", "openai", "anthropic"])
def test_calls_of_tools_that_are_gone_leave_with_their_results(style: str) -> None:
    from .histories import written

    plan = [
        {"kind": "user", "text": "go"},
        {"kind": "tools", "count": 2, "text": "looking"},
        {"kind": "answer", "text": "done"},
    ]
    messages = [message for one in written([plan, plan], style, True) for message in one]
    stays = guarded(messages, Decisions(), drop_unavailable=True, tools=frozenset({"exec"}))
    assert not stays.changed
    answer = guarded(messages, Decisions(), drop_unavailable=True, tools=frozenset({"read"}))
    assert not any(message.calls or message.results for message in answer.messages)
    assert [note.call_id for note in answer.guards] == ["call_0", "call_1", "call_2", "call_3"]
    assert [message.text for message in answer.messages][-6:] == ["go", "looking", "done"] * 2
    assert not guarded(messages, Decisions(), tools=frozenset({"read"})).changed


# That it fits

SIZES = st.sampled_from([0, 3, 40, 400, 3_000, 20_000, 120_000])
IMAGE = {"type": "image", "data": "x" * 20, "mimeType": "image/png"}


STEPS = st.lists(
    st.fixed_dictionaries({"size": SIZES, "image": st.booleans(), "kind": st.sampled_from(["log", "json", "data"])}),
    min_size=1,
    max_size=4,
)
TURNS = st.fixed_dictionaries(
    {
        "asks": st.sampled_from([0, 2, 40]),
        "batches": st.lists(STEPS, max_size=2),
        "says": st.sampled_from([0, 60]),
    }
)
PLANS = st.fixed_dictionaries(
    {
        "style": st.sampled_from(["openclaw", "openai", "anthropic"]),
        "timed": st.booleans(),
        "turns": st.lists(TURNS, min_size=1, max_size=12),
        "again": st.sampled_from([1, 1, 1, 6]),
        "question": st.booleans(),
    }
)


def planned(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The history that a plan stands for."""
    style = plan["style"]
    messages: list[dict[str, Any]] = []
    calls = 0
    for number, one in enumerate(plan["turns"] * plan["again"]):
        messages.append({"role": "user", "content": f"Turn-{number:03} asks for something. {'Why so? ' * one['asks']}"})
        for batch in one["batches"]:
            ids = [f"call_{calls + n}" for n in range(len(batch))]
            calls += len(batch)
            messages.append(_calls(style, ids))
            messages += _outputs(style, ids, batch)
        messages.append({"role": "assistant", "content": f"Answer-{number}. {'So. ' * one['says']}"})
    if plan["question"]:
        messages.append({"role": "user", "content": "And now the last question."})
    if plan["timed"]:
        messages = [{**one, "timestamp": 1_770_000_000_000 + n * 1_000} for n, one in enumerate(messages)]
    return messages


def _calls(style: str, ids: list[str]) -> dict[str, Any]:
    if style == "openai":
        listed = [{"id": i, "type": "function", "function": {"name": "exec", "arguments": "{}"}} for i in ids]
        return {"role": "assistant", "content": None, "tool_calls": listed}
    kind, key = ("toolCall", "arguments") if style == "openclaw" else ("tool_use", "input")
    return {"role": "assistant", "content": [{"type": kind, "id": i, "name": "exec", key: {"n": 1}} for i in ids]}


def _outputs(style: str, ids: list[str], batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
    contents = [_output(name, one) for name, one in zip(ids, batch, strict=True)]
    if style == "openai":
        return [{"role": "tool", "tool_call_id": i, "content": c} for i, c in zip(ids, contents, strict=True)]
    if style == "anthropic":
        blocks = [{"type": "tool_result", "tool_use_id": i, "content": c} for i, c in zip(ids, contents, strict=True)]
        return [{"role": "user", "content": blocks}]
    return [
        {"role": "toolResult", "toolCallId": i, "toolName": "exec", "content": c}
        for i, c in zip(ids, contents, strict=True)
    ]


def _output(name: str, one: dict[str, Any]) -> Any:
    text = (f"{name}\n{LOG}" * (1 + one["size"] // len(LOG)))[: one["size"]]
    if one["kind"] == "json":
        text = json.dumps({"name": name, "lines": text.split("\n")})
    if one["kind"] == "data":
        text = "A1b2" * (one["size"] // 4)
    return [{"type": "text", "text": text}, IMAGE] if one["image"] else text


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(PLANS, st.sampled_from([2_000, 3_000, 8_000, 32_000, 200_000, 1_000_000]))
def test_whatever_comes_fits_and_is_valid_and_stable_and_named(plan: dict[str, Any], budget: int) -> None:
    decisions, messages = Decisions(), planned(plan)
    answer = guarded(messages, decisions, budget)
    assert answer.estimated_tokens <= budget
    sent = typed(messages)
    _assert_pairs(answer.messages)
    for one, two in pairwise(answer.messages):
        assert not one.role is two.role is Role.USER
    kept = {"layout": answer.layout, "cold": False}
    again = guarded(list(answer.messages), Decisions(decisions.made.values()), budget, **kept)
    assert raw(again.messages) == raw(answer.messages)
    resent = guarded(messages, Decisions(decisions.made.values()), budget, **kept)
    assert raw(resent.messages) == raw(answer.messages) and resent.guards == answer.guards
    without_store = guarded(list(answer.messages), Decisions(), budget)
    assert without_store.estimated_tokens <= budget
    shown = "\n".join(message.text for message in answer.messages)
    lines = {line.strip() for line in shown.split("\n")}
    asked = [message.text.strip() for message in sent if message.role is Role.USER and message.text]
    gone = [text.split()[0] for text in asked if text not in lines]
    for name in gone[-50:]:
        assert name in shown, f"{name} left without a word"
    assert len(gone) <= 50 or f"{len(gone) - 50} turns" in shown
    assert not gone or HEADING in shown


def _assert_pairs(messages: Sequence[HostMessage]) -> None:
    open_: set[str] = set()
    for message in messages:
        for result in message.results:
            assert result.call_id in open_, "a result without its call"
            open_.discard(result.call_id)
        if message.calls:
            assert not open_, "a call without its result"
            open_ = {call.id for call in message.calls}
    assert not open_, "a call without its result"


def test_of_what_leaves_decisions_open_points_files_and_errors_are_told() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "exec", "arguments": {"command": "pytest", "path": "app/pay.py"}}
    failed = {"role": "toolResult", "toolCallId": "c1", "toolName": "exec", "content": "1 failed", "isError": True}
    first = [
        {"role": "user", "content": "We decided to go with PostgreSQL. Run the tests."},
        {"role": "assistant", "content": [call]},
        failed,
        {"role": "assistant", "content": "It fails.\nTODO: mend the refund"},
    ]
    talk = [{"role": role, "content": f"{n} {'word ' * 60}"} for n in range(30) for role in ("user", "assistant")]
    answer = guarded([*first, *talk], Decisions(), 3_000)
    summary = answer.messages[0].text
    assert HEADING in summary and not any(one.results for one in answer.messages)
    for words in ("go with PostgreSQL", "TODO: mend the refund", "app/pay.py", "1 failed"):
        assert words in summary, words


def test_what_even_the_newest_turn_can_not_hold_leaves_its_question() -> None:
    question = {"role": "user", "content": "Look at these."}
    ids = [f"c{n}" for n in range(6)]
    batch = [{"size": 20_000, "image": True, "kind": "log"} for _ in ids]
    answer = guarded([question, _calls("openclaw", ids), *_outputs("openclaw", ids, batch)], Decisions(), 2_000)
    assert answer.estimated_tokens <= 2_000
    assert next(message.role for message in answer.messages) is Role.USER
    huge = {"role": "user", "content": "x" * 20_000}
    alone = guarded([*turn(1, "ok"), huge], Decisions(), 2_000)
    assert alone.messages[-1].raw == huge


def test_a_line_that_is_nearly_a_bar_is_read_in_linear_time() -> None:
    """With backtracking each of these took more than a minute."""
    for line in ("=" * 200_000 + "x", "#" * 200_000, "=#" * 100_000 + "x"):
        assert list(output_lines.entries(f"{line}\nplain\n", 0, len(line) + 7))
    assert next(iter(output_lines.entries("a====> 3\nb\n", 0, 11))).shown == "a====> 3"
