"""Days and months that a text names."""

from datetime import MAXYEAR, MINYEAR, date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.days import Day, days_in


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("In March 2025, who paid?", {Day(2025, 3, 0)}),
        ("on January 14th and 9 Feb", {Day(0, 1, 14), Day(0, 2, 9)}),
        ("the 3rd of May, 2024", {Day(2024, 5, 3)}),
        ("2025年3月，他付了多少", {Day(2025, 3, 0)}),
        ("1月14日做了什么", {Day(0, 1, 14)}),
        ("他在三月中旬做了什么", {Day(0, 3, 0)}),
        ("2025年十一月三日和十二月二十一日", {Day(2025, 11, 3), Day(0, 12, 21)}),
        ("十月十号，十月三十号", {Day(0, 10, 10), Day(0, 10, 30)}),
        ("农历八月十五日，住了三个月", set()),
        ("[Calendar 2025-01-14 12:50]", {Day(2025, 1, 14)}),
        ("may I march in?", set()),
        ("Mark decided: 12 apples", set()),
    ],
)
def test_days_and_months_are_found_and_ordinary_words_are_none(text: str, named: set[Day]) -> None:
    assert days_in(text) == named


def test_what_is_not_named_agrees_with_anything() -> None:
    assert Day(0, 3, 0).agrees(Day(2025, 3, 9))
    assert not Day(0, 3, 0).agrees(Day(2025, 4, 3))
    assert not Day(2024, 3, 0).agrees(Day(2025, 3, 9))


def test_every_way_to_write_a_month_is_seen_by_the_quick_look() -> None:
    for text in ("14 january", "jan. 14", "1月14日", "一月", "2025-01-14", "2025/1/4"):
        (day,) = days_in(text)
        assert day.may_stand_in(text), text


@pytest.mark.parametrize(
    ("day", "on", "is_over"),
    [
        (Day(2026, 3, 0), date(2026, 3, 31), False),
        (Day(2026, 3, 0), date(2026, 4, 1), True),
        (Day(0, 2, 0), date(2026, 3, 1), True),
        (Day(0, 12, 0), date(2026, 3, 1), True),
        (Day(0, 5, 0), date(2026, 3, 1), False),
        (Day(0, 2, 31), date(2026, 3, 1), True),
    ],
)
def test_a_month_is_over_the_day_after_its_last(day: Day, on: date, is_over: bool) -> None:
    assert day.is_over(on, date(2026, 2, 20)) is is_over


@given(st.integers(0, MAXYEAR), st.integers(1, 12), st.integers(0, 99), st.dates(), st.dates())
def test_no_day_of_any_year_is_too_much(year: int, month: int, day: int, on: date, told: date) -> None:
    assert Day(year, month, day).is_over(on, told) in (True, False)
    for end in (date(MINYEAR, 1, 1), date(MAXYEAR, 12, 31)):
        assert Day(0, month, day).is_over(on, end) in (True, False)
