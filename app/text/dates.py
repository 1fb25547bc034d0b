"""Moments in ISO 8601, and days that people name: English and Chinese."""

import re
from datetime import UTC, datetime

_FIRST_DAY = "1970-01-01"
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
"""A month, in full or short, in small letters; as part of a regular expression."""
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
MONTHS = frozenset(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())  # noqa: SIM905

_DATE = re.compile(
    rf"(?:on |the )*(?:{MONTH}\.? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}\.?(?!\w)"
    r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?"
    r"|(?:\d{2,4}年)?(?:农历|農曆)?[\d一二三四五六七八九十正腊]{1,3}月"
    r"[\d一二三四五六七八九十初廿]{1,3}[日号號]?)(?:,? \d{4})?",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(rf"(?:on |next |this )*{WEEKDAY}\b", re.IGNORECASE)
_DATED = re.compile(
    r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b"
    rf"|\b{MONTH}\.? \d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{'|'.join(sorted(MONTHS))})\b"
    r"|\b(?:yesterday|tomorrow|tonight"
    rf"|(?:last|next|this) (?:week|weekend|month|year|summer|winter|spring|fall|{WEEKDAY}))\b|\bon {WEEKDAY}\b"
    r"|\d{4}年|\d{1,2}月\d{1,2}[日号號]|昨天|明天|后天|後天|前天|[上下这這本](?:周|週|星期|个月|個月|礼拜|禮拜)"
    r"|周[一二三四五六日天]|星期[一二三四五六日天]",
    re.IGNORECASE,
)


def moment_of(text: str) -> datetime | None:
    """The moment of an ISO 8601 text, in UTC where it names no zone; None where it is none that UTC can express."""
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment


def day_of(text: str) -> str:
    """``YYYY-MM-DD`` of an ISO 8601 text, in its own zone; the epoch's first day where it is no moment."""
    moment = moment_of(text)
    return moment.date().isoformat() if moment else _FIRST_DAY


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds, the only form OpenViking's commit is known to accept in every position."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def date_in_front(text: str) -> str:
    """The day of a year that ``text`` begins with, as it is written; empty where there is none ("next week")."""
    found = _DATE.match(text)
    return found.group() if found else ""


def weekday_in_front(text: str) -> str:
    """The weekday that ``text`` begins with ("next Friday"), as it is written."""
    found = _WEEKDAY.match(text)
    return found.group() if found else ""


def names_a_day(text: str) -> bool:
    """Whether a day, a week or a season is named anywhere in ``text``."""
    return _DATED.search(text) is not None
