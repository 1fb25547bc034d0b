"""What a value looks like: is this a name, a place, a date, a number ... at the beginning of a text? Pure.

A statement may replace an earlier one only with a value of the right kind. "My boss is Carlos" names one; "My boss is
angry today" stands in the same place and names none. Every function takes the text from where a value should begin and
gives the value, or "" where none stands there.
"""

import re
from collections.abc import Callable

from app.embedded.extraction.lexicon import (
    ABSTRACT_PLACES,
    CALENDAR,
    DEMONYMS,
    NO_OCCUPATIONS,
    OCCUPATIONS,
    ORGANISATIONS,
    SOFTWARE,
    STATES,
)
from app.embedded.extraction.values_chinese import person_zh, place_zh
from app.text.dates import date_in_front, weekday_in_front
from app.text.scripts import HAN
from app.text.words import tokens

Shape = Callable[[str], str]
"""The value at the beginning of a text, or ""."""

_WORD = r"[^\W\d_](?:[\w'’-]|\.(?=\w))*\.?"
_CAPITALISED = re.compile(
    rf"(?=[^\W\d_])(?:(?:St|Dr|Mr|Ms|Mrs|Prof)\. )?{_WORD}(?: (?:(?:de|da|do|dos|del|der|den"
    rf"|van|von|la|le|al|bin|ibn|y) ){{0,2}}{_WORD}){{0,4}}"
)
_AFTER = re.compile(
    r"\s*(?:$|[,.;:!?()\"”—–/，。；：！？、（）]|-\s|(?:a|about|actually|after|again|and|anymore|any|around|as|at|back|because|but|by|due|for|from|full|"
    r"if|in|instead|last|near|not|now|nowadays|on|once|or|outside|over|please|right|since|so|still|than|that|then|these|this|though|to|"
    r"together|too|under|until|when|where|which|while|who|with|without|yesterday|years?|already|already|recently|rather|btw)\b)",
    re.IGNORECASE,
)
"""What may follow a value: the end, a pause, or a word that begins something else. A noun may not ("Carlos's car")."""
_NO_PLAIN_NAMES = (
    STATES
    | SOFTWARE
    | CALENDAR
    | frozenset(
        [
            "a",
            "an",
            "what",
            "it",
            "that",
            "home",
            "night",
            "noon",
            "midnight",
            "dawn",
            "dusk",
            "work",
            "weekends",
            "speed",
            "scale",
            "ease",
            "will",
            "peanuts",
            "money",
            "fun",
            "school",
            "times",
            "least",
            "most",
            "last",
            "first",
            "once",
            "tabs",
            "spaces",
        ]
    )
)


def ends_here(rest: str) -> bool:
    """Whether a value may end where ``rest`` begins."""
    return bool(_AFTER.match(rest))


def capitalised(text: str) -> str:
    """A run of capitalised words that stands by itself, as names of people, places and firms do; no weekday or month,
    no "German"."""
    found = _CAPITALISED.match(text)
    if not found:
        return ""
    words = found.group().split(" ")
    end = 0
    for number, word in enumerate(words, 1):
        if word[0].isupper():
            end = number
        elif word.lower() not in {
            "de",
            "da",
            "do",
            "dos",
            "del",
            "der",
            "den",
            "van",
            "von",
            "la",
            "le",
            "al",
            "bin",
            "ibn",
            "y",
        }:
            break
    value = " ".join(words[:end]).rstrip(".")
    folded = value.lower().split(" ")
    if (
        not value
        or any(word in CALENDAR for word in folded)
        or folded[-1] in DEMONYMS
        or (len(folded) == 1 and folded[0] in STATES)
    ):
        return ""
    return value if ends_here(text[len(value) :]) else ""


def person(text: str) -> str:
    """A person's (or a pet's) name."""
    value = capitalised(text)
    if value:
        words = value.split(" ")
        shouted = any(len(word) > 2 and word.isupper() for word in words)
        return "" if shouted or len(words) > 4 or words[-1].lower() in SOFTWARE else value
    return person_zh(text)


def plain_name(text: str) -> str:
    """One word in lower case that can be a name, where somebody writes without capitals ("my name is mara")."""
    found = re.match(r"[a-z][a-z'-]{1,20}", text)
    word = found.group() if found else ""
    if not word or word in _NO_PLAIN_NAMES or word.endswith(("ing", "ed", "able", "ible", "ful", "less", "ous")):
        return ""
    return word if ends_here(text[len(word) :]) else ""


def place(text: str) -> str:
    """A town, a country, an address by name."""
    value = capitalised(text.removeprefix("the "))
    if value:
        return (
            ""
            if value.lower().split(" ")[0] in SOFTWARE or not value[1:] or (value.isupper() and len(value) > 3)
            else value
        )
    return place_zh(text)


def plain_place(text: str) -> str:
    """One word in lower case that can be a place."""
    word = plain_name(text)
    return "" if word in ABSTRACT_PLACES else word


def employer(text: str) -> str:
    """A firm or an institution by name."""
    value = capitalised(text.removeprefix("the "))
    return (
        ""
        if value and value.lower() in SOFTWARE - {"github", "gitlab", "openai", "oracle", "jetbrains", "vercel"}
        else value
    )


def institution(text: str) -> str:
    """ "a small bakery": an institution without a name."""
    phrase = _noun_phrase(text)
    return phrase if phrase and tokens(phrase)[-1] in ORGANISATIONS else ""


_JOB_WORDS = 5
"""Longest name of an occupation."""
_PASSING_TRAITS = frozenset(["bit", "little", "lot", "tad", "while", "kind", "sort", "mess", "wreck", "bind", "hurry"])


def job(text: str) -> str:
    """What someone is paid for (or studies): "a veterinary nurse"."""
    phrase = _noun_phrase(text) or _noun_phrase(f"a {text}")
    words = tokens(phrase)
    if not words or NO_OCCUPATIONS.intersection(words):
        return ""
    if len(words) > _JOB_WORDS:
        return ""
    ending = words[-1].endswith(("er", "or", "ist", "ian", "eer", "yst", "woman")) and len(words[-1]) > 4
    return phrase if words[-1] in OCCUPATIONS or ending else ""


_PHRASE = re.compile(
    r"(?:an?|the|my|our) (?P<noun>[^,.;:!?()]{2,60}?)(?= (?:at|for|in|on|with|by|from|of|and"
    r"|but|now|these|not|who|that|because|since|so|today|to|any|near|right|this|as|again)\b"
    r"|\s*[,.;:!?()]|\s*$)",
    re.I,
)


def _noun_phrase(text: str) -> str:
    found = _PHRASE.match(text)
    return found["noun"].strip() if found else ""


def phrase(text: str) -> str:
    """A noun phrase with an article: something is told, whatever it is."""
    return _noun_phrase(text)


def trait(text: str) -> str:
    """What one is and stays: no "bit tired", no "mess"."""
    value = _noun_phrase(text)
    return "" if (STATES | _PASSING_TRAITS).intersection(tokens(value)) else value


def phone(text: str) -> str:
    """At least five digits."""
    found = re.match(r"[+(]?\d[\d ()./-]{3,24}\d", text)
    return found.group() if found and sum(character.isdigit() for character in found.group()) >= 5 else ""


def email(text: str) -> str:
    """An address with an ``@``."""
    found = re.match(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", text)
    return found.group() if found else ""


def date(text: str) -> str:
    """A day of the year; "next week" is none."""
    return date_in_front(text)


def day(text: str) -> str:
    """A date or a weekday, for what falls due."""
    return date_in_front(text) or weekday_in_front(text)


def years(text: str) -> str:
    """An age."""
    found = re.match(
        r"(?:turning |turned )?(\d{1,3})(?: years?| months?)?(?: old)?(?=\s*(?:$|[,.;!]|now\b"
        r"|and\b|years?\b))|[\d一二三四五六七八九十]{1,3}(?:岁|歲)",
        text,
    )
    return found.group() if found else ""


def zone(text: str) -> str:
    """A time zone: ``CET``, ``UTC+2``, ``Europe/Lisbon``, or a name."""
    found = re.match(
        r"(?:UTC|GMT)(?: ?[+-] ?\d{1,2}(?::\d\d)?)?|[A-Z]{2,5}(?=\s*(?:$|[,.;!(]|now\b|time\b))"
        r"|[A-Z][a-z]+/[A-Z][\w/]+|东八区|北京时间",
        text,
    )
    return found.group() if found else capitalised(text)


def address(text: str) -> str:
    """A street with a number, or a place by name."""
    street = re.match(r"(?=[^,.;!]{0,80}\d)(?=[^,.;!]{0,80}[^\W\d_]{3})[^;!]{5,120}", text)
    numbered = street and (text[0].isdigit() or text[0].isupper() or not text[0].isascii())
    return street.group() if street and numbered else place(text)


def product(text: str) -> str:
    """A thing by its make: "a ThinkPad", "neovim", "VW Golf"."""
    bare = re.sub(r"^(?:an?|the) ", "", text)
    found = re.match(r"[\w.+#-]{1,30}", bare)
    word = found.group().rstrip(".") if found else ""
    if word.lower() in SOFTWARE and ends_here(bare[len(word) :]):
        return word
    brand = re.match(r"(?:[A-Z0-9][\w.+#-]*)(?: [A-Z0-9][\w.+#-]*){0,4}", bare)
    value = brand.group().rstrip(".") if brand else ""
    return (
        value
        if value and value.lower() not in STATES and value.lower() not in CALENDAR and ends_here(bare[len(value) :])
        else ""
    )


def blood(text: str) -> str:
    """A blood type."""
    found = re.match(r"(?:AB|A|B|O)(?:型| ?[+-]| positive| negative)?", text)
    return found.group() if found else ""


def language(text: str) -> str:
    """A language by name."""
    found = re.match(rf"[A-Z][a-z]{{2,20}}|[{HAN}]{{1,4}}[语語话話文]", text)
    return found.group() if found else ""


def taste(text: str) -> str:
    """What is liked best: a word or few that do not say how it fares."""
    found = re.match(r"[^,.;:!?，。；！]{1,60}", text)
    first = tokens(text)[:1]
    if not found or not first or first[0] in STATES - {"red", "cold", "hot", "dry", "big", "old", "the", "new"}:
        return ""
    words = found.group().split()
    if words[0].lower() in {"in", "on", "at", "with", "under", "from", "about", "being", "no", "getting", "going"}:
        return ""
    return (
        ""
        if len(words) > 1 and words[0].endswith("ing") and words[1] in {"at", "in", "on", "like"}
        else found.group().strip()
    )


def anything(text: str) -> str:
    """Whatever stands up to the next pause."""
    found = re.match(r"[^,.;:!?()，。；！]{2,60}", text)
    return found.group().strip() if found else ""
