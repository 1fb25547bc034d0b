"""A turn goes out in as few writes as a backend's limits allow."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capture import batches as module
from app.core.capture.batches import batches, extent, weight
from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart

MESSAGES, CHARS, VALUES = 6, 100, 40


@pytest.fixture(autouse=True, scope="module")
def limits() -> Iterator[None]:
    """Small ones, so that small turns reach them."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MAX_MESSAGES", MESSAGES), ("MAX_CHARS", CHARS), ("MAX_VALUES", VALUES)):
            patch.setattr(module, name, value)
        yield


def said(*parts: TextPart | ToolPart) -> CapturedMessage:
    return CapturedMessage("assistant", parts, "2026-03-04T10:00:00Z")


texts = st.integers(0, 130).map("x".__mul__)
inputs = st.sampled_from([None, {}, {"cmd": ["ls", "-l"]}, {"list": [0] * 30}, {"list": [0] * 60}])
parts = st.builds(TextPart, texts) | st.builds(ToolPart, st.just("id"), st.just("exec"), inputs, st.none() | texts)
turns = st.lists(st.lists(parts, min_size=1, max_size=3).map(lambda some: said(*some)), max_size=20)


def fits(group: list[CapturedMessage]) -> bool:
    chars, values = (sum(sizes) for sizes in zip(*map(weight, group), strict=True))
    return len(group) <= MESSAGES and chars <= CHARS and values <= VALUES


@given(turns)
def test_batches_keep_the_order_and_the_limits_and_none_is_cut_short(messages: list[CapturedMessage]) -> None:
    groups = [*batches(messages)]
    assert [message for group in groups for message in group] == messages
    assert all(fits([*group]) or len(group) == 1 for group in groups)
    for group, after in pairwise(groups):
        assert not fits([*group, after[0]])


def test_what_a_message_weighs() -> None:
    call = ToolPart("id", "exec", {"cmd": ["ls", "-l"], "n": 1}, "out")
    assert weight(said(TextPart("four"), TextPart("five"))) == (8, 2)
    assert weight(said(call)) == (len("idexecoutcmdls-ln"), 6)
    assert weight(said(ToolPart("id", "exec", None, None))) == (6, 2)
    assert extent({"a": [{"b": "c"}]}) == (3, 4, 4)
