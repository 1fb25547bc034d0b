"""Numbers of payment cards: the form, the issuers' ranges and the check digit, and which of them are for tests."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice, takewhile

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.published import PUBLISHED_CARDS

_DIGITS = re.compile(r"\d+(?:[ .\u00a0\u202f\u2009-]\d+)*")
ENOUGH = Pattern(r"\p{Nd}(?:[ .\x{A0}\x{202F}\x{2009}-]?\p{Nd}){12}")
"""Of digits for a number; of any script, like those of `_DIGITS`."""
_GROUP = re.compile(r"\d+")
_GROUPS = (
    (4, 4, 4, 4, 3),
    (4, 4, 4, 4),
    (4, 4, 4, 7),
    (4, 4, 4, 1),
    (4, 6, 5),
    (4, 6, 4),
    (6, 13),
    (6, 10),
    (8, 8),
    (8, 11),
)
"""How the digits of a number stand together on cards."""
_LONGEST_IN_FOURS = 5
"""Groups of four of one card. More of them in a row are a longer number, such as that of an invoice."""

_SIXTEEN, _LONG = range(16, 17), range(16, 20)
_RANGES: tuple[tuple[int, int, range | tuple[int, ...]], ...] = (
    (1946_00, 1946_99, _SIXTEEN),  # GPN
    (2200_00, 2204_99, _LONG),  # Mir
    (2205_00, 2205_99, _SIXTEEN),  # Borica
    (2221_00, 2720_99, _SIXTEEN),  # Mastercard
    (2869_00, 2869_99, _SIXTEEN),  # Carnet
    (3000_00, 3059_99, (14, 16)),  # Diners Club
    (3095_00, 3095_99, (14, 16)),
    (3400_00, 3499_99, (15,)),  # American Express
    (3528_00, 3589_99, _LONG),  # JCB, RuPay
    (3600_00, 3699_99, (14, 16, 19)),
    (3700_00, 3799_99, (15,)),
    (3800_00, 3999_99, (14, 16, 19)),
    (4000_00, 4999_99, (13, 16, 19)),  # Visa, Elo, Dankort
    (5000_00, 5099_99, range(13, 20)),  # Maestro, Elo, Verve, RuPay, Dankort
    (5100_00, 5599_99, _SIXTEEN),  # Mastercard
    (5600_00, 5899_99, range(13, 20)),  # Maestro, Naranja
    (6000_00, 6999_99, range(13, 20)),  # UnionPay, Discover, Maestro, RuPay, Elo, Hipercard, Troy, Verve
    (8100_00, 8299_99, _LONG),  # UnionPay, RuPay
    (8600_00, 8600_99, _SIXTEEN),  # Uzcard
    (9051_00, 9051_99, _SIXTEEN),  # ArCa
    (9112_00, 9112_99, _SIXTEEN),  # Belkart
    (9704_00, 9704_99, (16, 19)),  # Napas
    (9792_00, 9792_99, _SIXTEEN),  # Troy
    (9860_00, 9860_99, _SIXTEEN),  # Humo
)
"""Six digits from, to, and how long a number is: the issuers' ranges of ISO/IEC 7812 that are in use."""

_BEFORE_PUBLISHED, _BEHIND_PUBLISHED = 60, 100
"""How far from a published number the code, date and PIN are those of a test."""


def numbers(text: str) -> Iterator[Span]:
    """Numbers of the form and check digit of a card, published ones as well."""
    for run in _DIGITS.finditer(text):
        if run.end() - run.start() >= 13 and not _is_part(text, run.start(), run.end()):
            yield from _in_groups(text, [group.span() for group in _GROUP.finditer(text, run.start(), run.end())])


def beside_published(text: str) -> list[Span]:
    """Where the codes of published test cards are told, in order; nowhere when there is a real card as well."""
    found = list(numbers(text))
    if not all(is_published_card(text[start:end]) for start, end in found):
        return []
    return [(max(0, start - _BEFORE_PUBLISHED), end + _BEHIND_PUBLISHED) for start, end in found]


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether the digits are part of a name, a path or a decimal number."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    return (
        (before.isascii() and before.isalnum())
        or before in tuple("_.-/#")
        or after == "_"
        or (after.isascii() and after.isalnum())
    )


def _in_groups(text: str, groups: list[Span]) -> Iterator[Span]:
    at = 0
    while at < len(groups):
        fours = sum(1 for _ in takewhile(_is_four, islice(groups, at, None)))
        if fours > _LONGEST_IN_FOURS:
            cards = [groups[place : place + 4] for place in range(at, at + fours, 4)]
            if all(_passes(_digits(text, card)) for card in cards):
                yield from ((card[0][0], card[-1][1]) for card in cards)
            at += fours
            continue
        size = next((n for n in _sizes(groups, at) if _passes(_digits(text, groups[at : at + n]))), 0)
        if size:
            yield groups[at][0], groups[at + size - 1][1]
        at += size or 1


def _is_four(group: Span) -> bool:
    return group[1] - group[0] == 4


def _digits(text: str, groups: list[Span]) -> str:
    return "".join(text[start:end] for start, end in groups)


def _sizes(groups: list[Span], at: int) -> Iterator[int]:
    """Of how many groups a card's number from ``at`` on could be."""
    lengths = tuple(b - a for a, b in groups[at : at + 5])
    if 13 <= lengths[0] <= 19:
        yield 1
    yield from (len(form) for form in _GROUPS if lengths[: len(form)] == form)


def is_card(digits: str) -> bool:
    """Whether this is a number that a card can have (ISO/IEC 7812) and none for tests."""
    return _passes(digits) and digits not in PUBLISHED_CARDS


def is_published_card(number: str) -> bool:
    """Whether a number, in groups or not, is one that providers publish for tests."""
    return "".join(c for c in number if c.isdigit()) in PUBLISHED_CARDS


def _passes(digits: str) -> bool:
    if digits in PUBLISHED_CARDS:
        return True
    return (
        13 <= len(digits) <= 19
        and digits.isdecimal()
        and len(set(digits)) >= 3
        and _is_issued(digits)
        and luhn(digits)
        and not _is_barcode(digits)
    )


def _is_barcode(digits: str) -> bool:
    """Whether this is the number of an article from China (EAN-13): some pass for the number of a Maestro card."""
    return len(digits) == 13 and digits.startswith("69") and sum(map(int, digits + digits[1::2] * 2)) % 10 == 0


def _is_issued(digits: str) -> bool:
    """Whether the first six digits and the length are of an issuer's range."""
    place = bisect_right(_RANGES, int(digits[:6]), key=lambda each: each[0]) - 1
    return place >= 0 and int(digits[:6]) <= _RANGES[place][1] and len(digits) in _RANGES[place][2]


_DOUBLED = str.maketrans("0123456789", "0246813579")


def luhn(digits: str) -> bool:
    """The check of ISO/IEC 7812: every second digit from the right counts twice, less nine when that has two digits."""
    return sum(map(int, digits[-1::-2] + digits[-2::-2].translate(_DOUBLED))) % 10 == 0
