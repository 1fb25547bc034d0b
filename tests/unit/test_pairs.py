"""Calls and results stay together."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.core.messages.pairs import units
from tests.messages import typed

from .histories import histories


def call(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "toolCall", "id": i, "name": "f", "arguments": {}} for i in ids]}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": call_id, "content": "x"}


USER = {"role": "user", "content": "hi"}


def shapes(*messages: dict[str, Any]) -> list[list[int]]:
    return [list(unit) for unit in units(typed(messages))]


def test_a_call_and_its_results_are_one_unit() -> None:
    assert shapes(USER, call("a", "b"), result("a"), result("b"), USER) == [[0], [1, 2, 3], [4]]


def test_what_stands_between_a_call_and_its_result_belongs_to_them() -> None:
    assert shapes(call("a"), USER, call("b"), result("a"), result("b")) == [[0, 1, 2, 3, 4]]


def test_broken_pairs_stay_as_they_are() -> None:
    assert shapes(result("x"), call("a"), USER, call("b")) == [[0], [1], [2], [3]]


def test_an_id_of_a_later_round_does_not_reach_back() -> None:
    assert shapes(call("0"), result("0"), USER, call("0"), result("0")) == [[0, 1], [2], [3, 4]]


def test_ids_that_lost_their_underscore_still_match() -> None:
    assert shapes(call("call_1"), result("call1")) == [[0, 1]]


@given(histories(), st.randoms())
def test_units_cover_everything_once_and_part_no_pair(turns: list[Any], random: Any) -> None:
    messages = list(typed(message for turn in turns for message in turn))
    if random.random() < 0.3:
        random.shuffle(messages)
    found = units(messages)
    assert [index for unit in found for index in unit] == list(range(len(messages)))
    place = {index: number for number, unit in enumerate(found) for index in unit}
    caller: dict[str, int] = {}
    for index, message in enumerate(messages):
        for answer in message.results:
            assert answer.call_id not in caller or place[caller[answer.call_id]] == place[index]
        caller |= {one.id: index for one in message.calls}
