"""When something is over that says so itself: "until Friday", "this week", "remind me on 3 March", 到周五, 本周."""

import re
from datetime import datetime, timedelta

from app.text.dates import MONTH, WEEKDAY
from app.text.days import days_in

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CHINESE_WEEKDAYS = "一二三四五六日天"
_MAX_CHARS = 400
"""Of a longer text the beginning is read."""
_AFTER_CHARS = 40
_UNTIL = re.compile(
    r"\b(?:until|till|through|up to|valid to|expires?(?: on| at| in)?|ends?(?: on| at)?)\b"
    r"(?:\W+(?:the|on|at|in|noon|midnight|early|mid|late|coming|\d{1,2}(?::\d\d)? ?[ap]m)\b){0,3}\W{1,3}"
    r"(?=(?:next|this|end of|tomorrow|today|tonight|\d{4}-|\d{4}/"
    rf"|{'|'.join(_WEEKDAYS)}|(?:\d{{1,2}}(?:st|nd|rd|th)?[ -](?:of )?)?{MONTH})\b)",
    re.IGNORECASE,
)
"""A word for the end with the day right behind it: of "until the review on Monday is done" Monday is no end."""
_REMIND = re.compile(
    r"\bremind (?:me|us|him|her|them)\b(?! of)|\breminder\b|\b(?:don't|do not) forget to\b"
    r"|(?:提醒|别忘|別忘)(?![过過了])",
    re.I,
)
_RANGE = re.compile(rf"\b(?:{WEEKDAY}|mon|tue|wed|thu|fri|sat|sun)\W{{1,3}}$", re.IGNORECASE)
"""In front of the word for an end: "Monday through Friday" comes again each week."""
_AGAIN = re.compile(
    rf"\b(?:every|each|daily|weekly|monthly|yearly|annually|always|usually|weekdays|{WEEKDAY}s)\b|每", re.I
)
_WEEKDAY = re.compile(rf"\b(?P<next>next )?(?P<day>{'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_TOMORROW = re.compile(r"\btomorrow\b|明天", re.IGNORECASE)
_TODAY = re.compile(r"\b(?:today|tonight)\b|今天|今晚", re.IGNORECASE)
_END_OF = re.compile(r"\bend of (?:the |this )?(?P<what>week|month|year)\b", re.IGNORECASE)
_THIS = re.compile(
    r"\bthis (?P<what>week(?:end)?|month)\b|(?P<week>[这這本](?:周|週|星期))|(?P<month>[这這]个?月|本月)", re.I
)
_CHINESE_UNTIL = re.compile(rf"(?:到|直到|截止到?)(?:这|本|下)?(?:周|週|星期|礼拜)(?P<day>[{_CHINESE_WEEKDAYS}])")
_CHINESE_DATE_UNTIL = re.compile(r"(?:到|直到|截止到?)(?=\d)")
_PAST = re.compile(
    r"\b(?:was|were|did|had|went|got|bought|sold|left|began|started|became|met|\w{3,20}ed)\b|了|过(?!年)", re.IGNORECASE
)
_STATE = re.compile(
    r"(?:\b(?:is|are|am|be|been|being)|['’](?:s|re|m))(?: \w{1,20}ly| not| still| now)? \w{3,20}ed\b", re.I
)
"""What is so now, and sounds like the past: "is closed"."""


def ends_at(text: str, said_at: datetime) -> datetime | None:
    """When it is over, by its own words and the time it was said; None where it names no end.

    What was over already when it was said is about the past and goes on to be true: "worked there until March 2020".
    So does what comes again: "Monday through Friday". "This week" is an end for what is or will be ("closed this
    week"), not for what has happened ("moved this week").
    """
    text = text[:_MAX_CHARS]
    end = None if _AGAIN.search(text) else _named_end(text, said_at)
    return end if end is not None and end >= said_at else None


def _named_end(text: str, said_at: datetime) -> datetime | None:
    if until := _UNTIL.search(text):
        before = text[: until.start()]
        over = _RANGE.search(before[-_AFTER_CHARS:]) or _PAST.search(_STATE.sub("", before))
        return None if over else _day_in(text[until.end() : until.end() + _AFTER_CHARS], said_at)
    if until := _CHINESE_UNTIL.search(text):
        return _end_of_day(_next_weekday(said_at, min(_CHINESE_WEEKDAYS.index(until["day"]), 6)))
    if until := _CHINESE_DATE_UNTIL.search(text):
        return _day_in(text[until.end() : until.end() + _AFTER_CHARS], said_at)
    if _REMIND.search(text):
        return _day_in(text, said_at)
    this = _THIS.search(text)
    if this and not _PAST.search(text):
        return _end_of(this["what"] or ("week" if this["week"] else "month"), said_at)
    return None


def _day_in(text: str, said_at: datetime) -> datetime | None:
    """The end of the first day, week or month that the text names."""
    if end := _END_OF.search(text):
        return _end_of(end["what"], said_at)
    if this := _THIS.search(text):
        return _end_of(this["what"] or ("week" if this["week"] else "month"), said_at)
    if _TOMORROW.search(text):
        return _end_of_day(said_at + timedelta(days=1))
    if weekday := _WEEKDAY.search(text):
        day = _next_weekday(said_at, _WEEKDAYS.index(weekday["day"].lower()))
        return _end_of_day(day + timedelta(days=7 if weekday["next"] and (day - said_at).days < 3 else 0))
    if days := sorted(days_in(text)):
        return _named(days[0].year, days[0].month, days[0].day, said_at)
    return _end_of_day(said_at) if _TODAY.search(text) else None


def _named(year: int, month: int, day: int, said_at: datetime) -> datetime | None:
    """The end of a day or month that is named without its year: the next one."""
    try:
        if not day:
            start = said_at.replace(year=year or said_at.year, month=month, day=1)
            start = start if year or start.month >= said_at.month else start.replace(year=start.year + 1)
            return _end_of("month", start)
        named = said_at.replace(year=year or said_at.year, month=month, day=day)
        if not year and named.date() < said_at.date():
            named = named.replace(year=named.year + 1)
        return _end_of_day(named)
    except ValueError:
        return None


def _next_weekday(said_at: datetime, weekday: int) -> datetime:
    return said_at + timedelta(days=(weekday - said_at.weekday()) % 7)


def _end_of(what: str, at: datetime) -> datetime:
    match what.lower():
        case "year":
            return _end_of_day(at.replace(month=12, day=31))
        case "month":
            first = at.replace(day=28) + timedelta(days=4)
            return _end_of_day(first - timedelta(days=first.day))
        case _:
            return _end_of_day(_next_weekday(at, 6))


def _end_of_day(at: datetime) -> datetime:
    return at.replace(hour=23, minute=59, second=59, microsecond=0)
