"""The days and months that a text names, in English and Chinese: "March 2025", "14 January", "1月14日", "三月",
2025-01-14."""

import re
from calendar import monthrange
from collections.abc import Iterable
from datetime import MAXYEAR, MINYEAR, date
from typing import NamedTuple

MONTH_NAMES = "january february march april may june july august september october november december".split()  # noqa: SIM905
_MONTHS = {name[:length]: n for n, name in enumerate(MONTH_NAMES, 1) for length in (3, len(name))} | {"sept": 9}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_YEAR = r"(?:19|20)\d\d"
_DAY = r"[0-3]?\d(?:st|nd|rd|th)?"
_ENGLISH = re.compile(
    rf"\b(?:(?P<before>{_DAY})[ -](?:of )?{_MONTH}"
    rf"|{_MONTH.replace('?P<month>', '?P<first>')}[ -](?:the )?(?P<after>{_DAY})(?![\d:]))"
    rf"(?:,? (?P<year>{_YEAR})\b)?",
    re.IGNORECASE,
)
_MONTH_ALONE = re.compile(
    rf"\b(?:in|of|since|until|till|by|during|last|this|next|early|late|mid|from|through|for|before|after|late-|early-|mid-)"
    rf"[ -](?P<month>{'|'.join(MONTH_NAMES)})\b(?:,? (?P<year>{_YEAR})\b)?"
    rf"|\b(?P<dated>{'|'.join(MONTH_NAMES)}),? (?P<its>{_YEAR})\b",
    re.IGNORECASE,
)
_NUMERALS = "一二三四五六七八九十"
_CHINESE = re.compile(
    rf"(?:(?P<year>\d{{4}})年)?(?<![\d{_NUMERALS}历曆])(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月(?:份)?"
    rf"(?:(?P<day>[0-3]?\d|[{_NUMERALS}]{{1,3}})[日号號])?"
)
_NUMBERS = re.compile(rf"(?<!\d)(?P<year>{_YEAR})[-/](?P<month>0?[1-9]|1[0-2])[-/](?P<day>[0-3]?\d)(?!\d)")


class Day(NamedTuple):
    """A day or a month; what is not named is 0."""

    year: int
    month: int
    day: int

    def agrees(self, other: "Day") -> bool:
        """Whether both can be meant: nothing that both name differs."""
        return all(mine == theirs or not mine or not theirs for mine, theirs in zip(self, other, strict=True))

    def is_one_of(self, days: Iterable["Day"]) -> bool:
        """Whether it agrees with one of ``days``."""
        return any(map(self.agrees, days))

    def is_over(self, on: date, told: date) -> bool:
        """Whether it was over ``on`` a day. Without a year it is the one nearest to the day when it was ``told``; a
        day that no month has is never over."""
        years = [self.year] if self.year else range(max(MINYEAR, told.year - 1), min(MAXYEAR, told.year + 1) + 1)
        if self.day > 31:
            return False
        last = [date(year, self.month, min(self.day or 31, monthrange(year, self.month)[1])) for year in years]
        return min(last, key=lambda day: abs(day - told)) < on

    def may_stand_in(self, text: str) -> bool:
        """Whether ``text``, in small letters, has what every way to write the month has in it; far faster than
        `days_in`."""
        return any(mark in text for mark in _MARKS[self.month])


_CHINESE_MONTHS = (*_NUMERALS, "十一", "十二")
_MARKS = {
    n: (name[:3], f"{n}月", f"{_CHINESE_MONTHS[n - 1]}月", f"-{n:02}-", f"-{n}-", f"/{n:02}/", f"/{n}/")
    for n, name in enumerate(MONTH_NAMES, 1)
}


def _number(written: str) -> int:
    """The number that one to three figures or Chinese numerals say: 14, 十四, 三十一."""
    if written.isdecimal():
        return int(written)
    tens, ten, ones = written.rpartition("十")
    return (_NUMERALS.find(tens[:1]) + 1 if tens else 1) * 10 * bool(ten) + (_NUMERALS.find(ones) + 1 if ones else 0)


def days_in(text: str) -> frozenset[Day]:
    """The days and months that ``text`` names. "May" alone is a word of its own, and needs "in" or a year to be one."""
    found = set()
    for match in _NUMBERS.finditer(text):
        found.add(Day(int(match["year"]), int(match["month"]), int(match["day"])))
    for match in _ENGLISH.finditer(text):
        name, number = match["month"] or match["first"], match["before"] or match["after"]
        found.add(Day(int(match["year"] or 0), _MONTHS[name.lower()], int(re.sub(r"\D", "", number))))
    for match in _MONTH_ALONE.finditer(text):
        name, year = match["month"] or match["dated"], match["year"] or match["its"]
        found.add(Day(int(year or 0), _MONTHS[name.lower()], 0))
    for match in _CHINESE.finditer(text):
        found.add(Day(int(match["year"] or 0), _number(match["month"]), _number(match["day"] or "0")))
    dated = {(day.year, day.month) for day in found if day.day}
    return frozenset(day for day in found if day.day or (day.year, day.month) not in dated)
