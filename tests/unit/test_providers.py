"""Cleaning for providers: valid whatever came in, no text lost, and nothing to do the second time."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.messages.content_blocks import RESULT_TYPES, kind_of
from app.core.messages.host_message import HostMessage, Role
from app.core.messages.providers import STYLES
from app.core.messages.providers.thinking import THINKING_TYPES

Raw = dict[str, Any]
RULED = [name for name in STYLES if name != "openclaw"]

_numbers = st.integers(0, 10_000)
_ids = st.sampled_from(["c1", "c_2", "c3", "c4", ""])
_names = st.sampled_from(["exec", "read"])
_texts = st.one_of(st.just(""), st.just("  "), _numbers.map("said {}".format))


def _calls(ids: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    return st.lists(st.tuples(ids, _names), max_size=3)


def _assistant(shape: str, text: str, thinking: bool, signed: bool, calls: list[tuple[str, str]]) -> Raw:
    if shape == "openai":
        made = [{"id": id_, "type": "function", "function": {"name": name, "arguments": "{}"}} for id_, name in calls]
        return {"role": "assistant", "content": text or None} | ({"tool_calls": made} if made else {})
    reasoning: list[Raw] = [
        {"type": "thinking", "thinking": "hm", **({"signature": "sig"} if signed else {})}
    ] * thinking
    key, arguments = ("tool_use", "input") if shape == "anthropic" else ("toolCall", "arguments")
    blocks = [{"type": key, "id": id_, "name": name, arguments: {}} for id_, name in calls]
    return {"role": "assistant", "content": [*reasoning, {"type": "text", "text": text}, *blocks]}


def _result(shape: str, call_id: str, name: str, number: int, words: str) -> Raw:
    text = f"gave {number}"
    if shape == "openai":
        return {"role": "tool", "tool_call_id": call_id, "name": name, "content": text}
    if shape == "anthropic":
        block = {
            "type": "tool_result",
            "tool_use_id": call_id,
            "name": name,
            "content": [{"type": "text", "text": text}],
        }
        return {"role": "user", "content": [{"type": "text", "text": words}, block] if words.strip() else [block]}
    return {"role": "toolResult", "toolCallId": call_id, "toolName": name, "content": [{"type": "text", "text": text}]}


def _message(shape: str) -> st.SearchStrategy[Raw]:
    users = st.one_of(_texts, _texts.map(lambda text: [{"type": "text", "text": text}]))
    return st.one_of(
        users.map(lambda content: {"role": "user", "content": content}),
        st.builds(lambda *parts: _assistant(shape, *parts), _texts, st.booleans(), st.booleans(), _calls(_ids)),
        st.builds(lambda *parts: _result(shape, *parts), _ids, _names, _numbers, _texts),
        st.just({"role": "system", "content": "Be brief."}),
    )


_histories = st.sampled_from(["openai", "anthropic", "openclaw"]).flatmap(
    lambda shape: st.lists(_message(shape), max_size=14)
)


def _read(messages: Sequence[Raw]) -> list[HostMessage]:
    return [HostMessage(message) for message in messages]


def _words(messages: Sequence[HostMessage]) -> Counter[str]:
    """Every word of texts and results but ours."""
    words: Counter[str] = Counter()
    for message in messages:
        texts = [] if message.role is Role.TOOL else [message.text]
        texts += [result.text for result in message.results]
        words.update(word for text in texts for word in text.split() if word.isdigit())
    return words


def _sides(messages: Sequence[HostMessage], *, tools: str) -> list[str]:
    """Neighbouring messages' sides; a run of tool messages is one."""
    sides: list[str] = []
    for message in messages:
        own = message.raw["role"] in {"tool", "toolResult"}
        side = tools if own else {"user": "user", "assistant": "assistant"}.get(message.raw["role"], "")
        if side and not (own and sides and sides[-1] == "tools"):
            sides.append("tools" if own else side)
    return [tools if side == "tools" else side for side in sides]


def _open_calls(messages: Sequence[HostMessage]) -> list[str]:
    """What is wrong between calls and results: a call not answered at once, a result that nothing asked for."""
    wrong, asked = [], Counter[str]()
    for message in messages:
        if message.role is Role.SYSTEM:
            continue
        if message.results:
            for result in message.results:
                key = result.call_id.replace("_", "") or f"name {result.name}"
                if not asked[key]:
                    wrong.append(f"result {key}")
                asked[key] -= 1
            continue
        wrong += [f"call {key}" for key, count in asked.items() if count > 0]
        asked = Counter(call.id.replace("_", "") or f"name {call.name}" for call in message.calls)
    return wrong + [f"call {key}" for key, count in asked.items() if count > 0]


@pytest.mark.parametrize("name", RULED)
@settings(max_examples=3 * settings.default.max_examples)
@given(history=_histories, prompt_follows=st.booleans())
def test_what_comes_out_is_valid_complete_and_final(name: str, history: list[Raw], prompt_follows: bool) -> None:
    style, given_messages = STYLES[name], _read(history)
    cleaned = style.clean(given_messages, prompt_follows)

    assert _open_calls(cleaned) == []
    assert _words(cleaned) == _words(given_messages)
    assert all(message.calls or message.results or message.text.strip() or _thinks(message) for message in cleaned)
    again = style.clean(cleaned, prompt_follows)
    assert [message.raw for message in again] == [message.raw for message in cleaned]
    if name != "openai":
        sides = _sides(cleaned, tools="user" if name == "gemini" else "tool")
        assert all(one != other for one, other in pairwise(sides))
        assert sides[:1] in ([], ["user"])
    if name == "anthropic":
        ids = [
            call_id
            for message in cleaned
            for call_id in {call.id.replace("_", "") for call in message.calls}
            if call_id
        ]
        assert len(ids) == len(set(ids))
    for message in cleaned:
        kinds = [kind_of(block) in RESULT_TYPES for block in message.blocks]
        assert kinds == sorted(kinds, reverse=True) or name == "openai"


def _thinks(message: HostMessage) -> bool:
    return any(kind_of(block) in THINKING_TYPES for block in message.blocks)


@pytest.mark.parametrize("name", RULED)
def test_a_valid_conversation_stays_the_same_objects(name: str) -> None:
    history = _read(
        [
            {"role": "user", "content": "list the files"},
            _assistant("openai", "", False, False, [("c1", "exec"), ("c2", "read")]),
            _result("openai", "c1", "exec", 1, ""),
            _result("openai", "c2", "read", 2, ""),
            {"role": "assistant", "content": "two files"},
            {"role": "user", "content": "thanks"},
        ]
    )
    assert STYLES[name].clean(STYLES[name].thin(history, False), False) == history


def test_signed_thinking_stays_in_the_turn_under_way_and_leaves_when_the_next_question_comes() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    call = {"type": "tool_use", "id": "c1", "name": "exec", "input": {}}
    under_way = _read(
        [
            {"role": "user", "content": "list the files"},
            {"role": "assistant", "content": [thinking, call]},
            _result("anthropic", "c1", "exec", 1, ""),
        ]
    )
    style = STYLES["anthropic"]
    assert style.clean(under_way, False) == under_way
    old = style.clean(under_way, True)
    assert old[1].raw["content"] == [call]
    unsigned = [under_way[0], under_way[1].with_content([{"type": "thinking", "thinking": "hm"}, call]), under_way[2]]
    assert style.clean(unsigned, False)[1].raw["content"] == [call]


@pytest.mark.parametrize("shape", ["openai", "anthropic", "openclaw"])
def test_a_call_whose_id_comes_again_gets_another_for_anthropic(shape: str) -> None:
    rounds: list[Raw] = [{"role": "user", "content": "go on"}]
    for number in range(3):
        rounds += [_assistant(shape, "", False, False, [("c_1", "exec")]), _result(shape, "c1", "exec", number, "")]
    cleaned = STYLES["anthropic"].clean(_read(rounds), False)
    calls = [call.id for message in cleaned for call in message.calls]
    assert calls == ["c_1", "c1-2", "c1-3"]
    results = [result for message in cleaned for result in message.results]
    assert [(result.call_id, result.text) for result in results] == [
        ("c1", "gave 0"),
        ("c1-2", "gave 1"),
        ("c1-3", "gave 2"),
    ]
    assert [call.id for message in STYLES["openai"].clean(_read(rounds), False) for call in message.calls] == [
        "c_1"
    ] * 3


def test_calls_of_one_message_with_the_same_id_are_told_apart() -> None:
    rounds: list[Raw] = [{"role": "user", "content": "go on"}]
    rounds += [_assistant("anthropic", "", False, False, [("c", "exec"), ("c", "exec")])]
    rounds += [_result("anthropic", "c", "exec", number, "") for number in range(2)]
    cleaned = STYLES["anthropic"].clean(_read(rounds), False)
    assert [call.id for message in cleaned for call in message.calls] == ["c", "c-2"]
    results = [result for message in cleaned for result in message.results]
    assert [(result.call_id, result.text) for result in results] == [("c", "gave 0"), ("c-2", "gave 1")]


def test_openclaw_is_left_alone() -> None:
    broken = _read([{"role": "assistant", "content": ""}, {"role": "toolResult", "toolCallId": "x", "content": "1"}])
    style = STYLES["openclaw"]
    assert style.clean(style.thin(broken, True), True) == broken
