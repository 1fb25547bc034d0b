"""The regular expressions that a language's table of words makes. Each is compiled when a text first needs it.

Every repetition in them is bounded, and `app.text.ends` reads no more than the beginning of a text: whatever the text,
the time is that of its length.
"""

import re
from dataclasses import dataclass
from functools import cache

from app.text.end_words.language import Language

_ISO = r"(?P<iso>(?:19|20)\d\d[-/](?:0?[1-9]|1[0-2])[-/][0-3]?\d)(?!\d)"
_DAY_FIRST = r"(?P<numbers>[0-3]?\d[./-][01]?\d[./-](?:19|20)\d\d)(?!\d)"


@dataclass(frozen=True, slots=True)
class Patterns:
    """What to look for in a text in small letters.

    ``until`` and ``remind_day`` name a day by the groups ``weekday`` with ``next`` or ``then``, ``iso``, ``numbers``,
    ``week``, ``month``, ``year``, ``tomorrow``, ``today``, and ``day0``, ``month0``, ``year0`` and so on for each
    order of a date.
    """

    until: re.Pattern[str]
    remind: re.Pattern[str]
    remind_day: re.Pattern[str]
    this: re.Pattern[str]
    a_weekday: re.Pattern[str]
    goes_on: re.Pattern[str]
    present: re.Pattern[str]
    past: re.Pattern[str]
    state: re.Pattern[str]
    weekdays: dict[str, int]
    """From 0, Monday."""
    months: dict[str, int]
    """From 1, January."""


@cache
def patterns_of(language: Language) -> Patterns:
    """The patterns of a language."""
    last = "".join(f"(?<!{word})" for word in language.last_before)

    def words(pattern: str) -> re.Pattern[str]:
        return re.compile(_whole(language, pattern))

    weekdays = _any(language.weekdays)
    return Patterns(
        until=re.compile(_until(language, last)),
        remind=re.compile(
            "".join(f"(?<!{word})" for word in language.remind_unless_behind)
            + _whole(language, _any(language.remind))
            + f"(?!{language.remind_unless})"
        ),
        remind_day=re.compile(
            _whole(language, _day(language, (*language.dates, *language.remind_dates), language.today, last))
        ),
        this=words(f"(?P<week>{_any(language.this_week)})|{_any(language.this_month)}"),
        a_weekday=words(f"{weekdays}|{language.weekdays_short}"),
        goes_on=words(language.goes_on),
        present=words(language.present) if language.present else re.compile(""),
        past=words(language.past),
        state=words(language.state),
        weekdays=_numbers(language.weekdays, 0),
        months=_numbers(language.months, 1),
    )


def _until(language: Language, last: str) -> str:
    gap = r"\W{1,3}" if language.spaced else r"\s?"
    word = _whole(language, _any(language.until))
    small = _whole(language, language.small)
    day = _whole(language, _day(language, language.dates, language.until_today, last))
    if language.until_behind:
        return rf"{day}(?:{gap}{small}){{0,3}}{gap}{word}"
    return rf"{word}(?:{gap}{small}){{0,3}}{gap}{day}"


def _day(language: Language, dates: tuple[str, ...], today: str, last: str) -> str:
    gap = r"\W{1,3}" if language.spaced else r"\s?"
    weekdays = _any(language.weekdays)
    then = rf"(?!\W{{1,2}}(?:{language.last_behind}))"
    orders = "|".join(
        order.replace("{day}", rf"(?P<day{n}>[0-3]?\d)")
        .replace("{month}", rf"(?P<month{n}>{_any(language.months)})")
        .replace("{year}", rf"(?P<year{n}>(?:19|20)\d\d)")
        for n, order in enumerate(dates)
    )
    numbers = f"|{_DAY_FIRST}" if language.day_first else ""
    article = rf"(?:{_whole(language, language.small)}{gap}){{0,2}}" if language.spaced else ""
    return (
        rf"(?:{weekdays}{gap}{article})?(?:{_ISO}{numbers}|{orders})"
        rf"|(?P<week>{language.end_of_week}|{_any(language.this_week)})"
        rf"|(?P<month>{language.end_of_month}|{_any(language.this_month)})"
        rf"|(?P<year>{language.end_of_year})"
        rf"|(?:(?P<next>{language.next_before}){gap if language.spaced else ''})?"
        rf"{last}(?P<weekday>{weekdays}){language.weekday_then}{then}(?:{gap}(?P<then>{language.next_behind}))?"
        rf"|(?P<tomorrow>{language.tomorrow})|(?P<today>{today})"
    )


def _whole(language: Language, pattern: str) -> str:
    """What begins and ends where a word does."""
    return rf"(?<!\w)(?:{pattern})(?!\w)" if language.spaced else f"(?:{pattern})"


def _any(words: tuple[str, ...]) -> str:
    """One of them, the longest that fits."""
    each = sorted((word for entry in words for word in entry.split("|")), key=len, reverse=True)
    return f"(?:{'|'.join(map(re.escape, each))})"


def _numbers(words: tuple[str, ...], first: int) -> dict[str, int]:
    return {word: n for n, entry in enumerate(words, first) for word in entry.split("|")}
