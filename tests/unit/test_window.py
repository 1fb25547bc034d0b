"""The host's window: what it holds, how estimates are corrected, and when a flush is due."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.history.window import LEAST_SCALE, MOST_SCALE, STEP, FlushRules, Measured, Window, measured
from app.core.messages.host_message import HostMessage, tokens_of
from app.core.messages.usage import Usage, usage_in

ON = FlushRules(enabled=True)


@pytest.mark.parametrize(
    ("budget", "due_at"), [(200_000, 176_000), (60_000, 36_000), (59_999, 47_999), (1_000, 800), (1, 0)]
)
def test_a_flush_is_due_before_the_reserve_is_touched(budget: int, due_at: int) -> None:
    assert ON.due_at(budget) == due_at
    assert FlushRules().due_at(budget) is None


def test_a_reserve_beyond_the_budget_is_due_at_once() -> None:
    assert FlushRules(True, 100_000, 4_000).due_at(80_000) == 1


def test_without_usage_a_window_grows_by_estimates() -> None:
    window = Window(tokens=500, scale=1.25).after_turn(100, 20, None)
    assert (window.tokens, window.measured, window.scale) == (625, 0, 1.25)


def test_a_measured_window_is_what_the_host_says() -> None:
    assert Window(tokens=9).after_turn(100, 20, Measured(Usage(4_000, 300))).tokens == 4_300


def test_estimates_are_corrected_in_whole_steps_once_they_are_off_for_long() -> None:
    scales = []
    window = Window()
    for number in range(12):
        window = window.after_turn(3_000, 0, Measured(Usage(5_000 + number, 1), grown=3_900, estimated=3_000))
        scales.append(window.scale)
    assert scales[-1] == pytest.approx(1.3, abs=STEP)
    assert len(set(scales)) <= 4 and sorted(scales) == scales
    settled = window.after_turn(3_000, 0, Measured(Usage(6_000, 1), grown=3_750, estimated=3_000))
    assert settled.scale == window.scale


def test_from_turn_to_turn_only_what_came_between_is_compared() -> None:
    window = Window(measured=10_000)
    window = window.after_turn(estimated=4_200, reply=200, usage=Measured(Usage(15_000, 250)))
    assert window.ratio == pytest.approx(1.075)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 10**6)), max_size=30))
def test_a_correction_stays_within_bounds(turns: list[tuple[int, int, int]]) -> None:
    window = Window()
    for grown, estimated, prompt in turns:
        window = window.after_turn(estimated, 0, Measured(Usage(prompt, 1), grown=grown, estimated=estimated))
        assert LEAST_SCALE <= window.scale <= MOST_SCALE


@pytest.mark.parametrize(
    "told",
    [
        {"input": 100, "output": 7, "cacheRead": 800, "cacheWrite": 100, "totalTokens": 1007},
        {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 7},
        {"prompt_tokens": 1000, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 900}},
        {"inputTokens": 1000, "outputTokens": 7},
    ],
)
def test_usage_is_read_in_the_words_of_each_provider(told: dict[str, object]) -> None:
    assert usage_in(told) == Usage(1000, 7)


@pytest.mark.parametrize(
    "told", [None, 7, "many", {}, {"input": -4}, {"input": True}, {"input": 10**12}, {"output": 7}]
)
def test_nonsense_is_no_usage(told: object) -> None:
    assert usage_in(told) is None


def test_replies_of_one_turn_tell_by_how_much_the_prompt_grew() -> None:
    def reply(prompt: int) -> HostMessage:
        return HostMessage({"role": "assistant", "content": "looking", "usage": {"input": prompt, "output": 9}})

    result = HostMessage({"role": "toolResult", "toolCallId": "c", "content": "a line of it\n" * 400})
    messages = [HostMessage({"role": "user", "content": "go"}), reply(5_000), result, reply(6_300)]
    told = measured(messages)
    assert told == Measured(Usage(6_300, 9), 1_300, tokens_of(messages[1:3]))
    assert measured(messages, Usage(1, 1)) == Measured(Usage(1, 1), 1_300, tokens_of(messages[1:3]))
    assert measured(messages[:1]) is None
