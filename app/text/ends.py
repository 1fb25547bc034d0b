"""When something is over that says so itself: "until Friday", "this week", "remind me on 3 March", 到周五, 本周.

What is said in which language stands in `app.text.end_words`, a table for each; what follows from it is the same for
all. Where it is in doubt whether something ends, it does not: to hide what holds is worse than to keep what is over.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from datetime import MAXYEAR, datetime, timedelta

from app.text.end_words import LANGUAGES
from app.text.end_words.language import Language
from app.text.end_words.patterns import Patterns, patterns_of

_MAX_CHARS = 400
"""Of a longer text the beginning is read."""
_RANGE_CHARS = 25
"""A weekday so near in front of the word for an end begins a range."""
_WORD = re.compile(r"\w+")


def _marks() -> tuple[dict[str, list[Language]], list[tuple[str, Language]]]:
    """A word of each phrase that can name an end, or all of it where no space parts words, and whose it is."""
    words: dict[str, list[Language]] = defaultdict(list)
    phrases: list[tuple[str, Language]] = []
    for language in LANGUAGES:
        for phrase in (*language.until, *language.remind, *language.this_week, *language.this_month):
            if not language.spaced:
                phrases.append((phrase, language))
            elif language not in words[longest := max(_WORD.findall(phrase), key=len)]:
                words[longest].append(language)
    return dict(words), phrases


_WORDS, _PHRASES = _marks()


def ends_at(text: str, said_at: datetime) -> datetime | None:
    """When it is over, by its own words and the time it was said; None where it names no end.

    What was over already when it was said is about the past and goes on to be true: "worked there until March 2020".
    So does what comes again: "Monday through Friday". "This week" is an end for what is or will be ("closed this
    week"), not for what has happened ("moved this week"). Where a phrase is one of several languages ("esta semana"),
    it is an end only if it is one in all of them.
    """
    if said_at.year == MAXYEAR:  # a stamp from outside: there is no day behind its last one
        return None
    text = text[:_MAX_CHARS].lower()
    if not (languages := _languages(text)):
        return None
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    last = None
    for language in languages:
        words = patterns_of(language)
        named, end = _named_end(text, said_at, language, words)
        if named and (end is None or words.goes_on.search(text)):
            return None
        if end is not None:
            last = max(last or end, end)
    return last if last is not None and last >= said_at else None


def _languages(text: str) -> set[Language]:
    """Those that ``text``, in small letters, may name an end in. Nearly every text stops here."""
    found = {language for word in _WORDS.keys() & _WORD.findall(text) for language in _WORDS[word]}
    if not text.isascii():
        found.update(language for phrase, language in _PHRASES if phrase in text)
    return found


def _named_end(text: str, said_at: datetime, language: Language, words: Patterns) -> tuple[bool, datetime | None]:
    """Whether the words of a language name an end, and when it is; None for what is past or comes again."""
    if untils := list(words.until.finditer(text)):
        before = text[: untils[0].start()]
        told = text if language.past_behind or not before.strip() else before
        if any(_is_range(text, until, words) for until in untils) or _has_happened(told, words):
            return True, None
        return True, _latest(iter(untils), said_at, words)
    if words.remind.search(text):
        end = _latest(words.remind_day.finditer(text), said_at, words)
        return end is not None, end
    if this := words.this.search(text):
        if _has_happened(text, words):
            return True, None
        if words.present.search(text):
            return True, _end_of("week" if this["week"] else "month", said_at)
    return False, None


def _is_range(text: str, until: re.Match[str], words: Patterns) -> bool:
    """Whether a weekday begins what another one ends: it comes again each week."""
    if not until["weekday"]:
        return False
    return words.a_weekday.search(text, max(0, until.start() - _RANGE_CHARS), until.start()) is not None


def _has_happened(text: str, words: Patterns) -> bool:
    return words.past.search(words.state.sub("", text)) is not None


def _latest(days: Iterator[re.Match[str]], said_at: datetime, words: Patterns) -> datetime | None:
    """The end of the last day, week or month that is named: what is said of it may hold until then."""
    return max(filter(None, (_end_of_named(day, said_at, words) for day in days)), default=None)


def _end_of_named(found: re.Match[str], said_at: datetime, words: Patterns) -> datetime | None:
    groups = {name: value for name, value in found.groupdict().items() if value}
    for what in ("week", "month", "year"):
        if what in groups:
            return _end_of(what, said_at)
    if "tomorrow" in groups:
        return _end_of_day(said_at + timedelta(days=1))
    if "today" in groups:
        return _end_of_day(said_at)
    if "weekday" in groups:
        day = _next_weekday(said_at, words.weekdays[groups["weekday"]])
        next_one = "next" in groups or "then" in groups
        soon = (day - said_at).days < 3 or day.weekday() > said_at.weekday()
        return _end_of_day(day + timedelta(days=7 if next_one and soon else 0))
    if "iso" in groups or "numbers" in groups:
        numbers = [int(part) for part in re.split(r"[-./]", groups.get("iso") or groups["numbers"])]
        year, month, day_number = numbers if "iso" in groups else reversed(numbers)
        return _date(year, month, day_number, said_at)
    name, month_name = next((name, value) for name, value in groups.items() if name.startswith("month"))
    order = name.removeprefix("month")
    year, day_number = (int(groups.get(part + order, 0)) for part in ("year", "day"))
    return _date(year, words.months[month_name], day_number, said_at)


def _date(year: int, month: int, day: int, said_at: datetime) -> datetime | None:
    """The end of a day or month (``day`` is 0), the next one where no year is named."""
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
    match what:
        case "year":
            return _end_of_day(at.replace(month=12, day=31))
        case "month":
            first = at.replace(day=28) + timedelta(days=4)
            return _end_of_day(first - timedelta(days=first.day))
        case _:
            return _end_of_day(_next_weekday(at, 6))


def _end_of_day(at: datetime) -> datetime:
    return at.replace(hour=23, minute=59, second=59, microsecond=0)
