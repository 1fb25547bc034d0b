"""Numbers of payment cards, by prefix, length and check digit, and the code that is told beside one."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import PUBLISHED_CARDS

_DIGITS = re.compile(r"\d+(?:[ -]\d+)*")
_GROUP = re.compile(r"\d+")
_GROUPS = ((4, 4, 4, 4, 3), (4, 4, 4, 4), (4, 4, 4, 7), (4, 4, 4, 1), (4, 6, 5), (4, 6, 4), (6, 13), (6, 10))
"""How the digits of a number stand together on cards."""
_ENOUGH = Pattern(r"\p{Nd}(?:[ -]?\p{Nd}){12}")
"""Of digits for a number; of any script, like those of `_DIGITS`."""
_CODE = Pattern(
    r"(?i)(?:^|[^a-z])(?:cvv2?|cvc2?|安全码|驗證碼背面|security code)[^0-9\n]{1,12}(?P<card>\d{3,4})(?:$|\D)"
)
_CARD_WORD = ("card", "visa", "mastercard", "amex", "卡", "karte", "carte", "tarjeta", "cartão", "карт", "カード")


def find(text: str) -> Iterator[Span]:
    """Card numbers that pass the check, test numbers excepted, and security codes beside a card."""
    for run in _DIGITS.finditer(text):
        if run.end() - run.start() >= 13 and not _is_part(text, run.start(), run.end()):
            yield from _in_groups(text, [group.span() for group in _GROUP.finditer(text, run.start(), run.end())])
    for start, end in _CODE.spans(text, "card"):
        around = text[max(0, start - 200) : end + 100].lower()
        if any(word in around for word in _CARD_WORD):
            yield start, end


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
        size = next((n for n in _sizes(groups, at) if is_card("".join(text[a:b] for a, b in groups[at : at + n]))), 0)
        if size:
            yield groups[at][0], groups[at + size - 1][1]
        at += size or 1


def _sizes(groups: list[Span], at: int) -> Iterator[int]:
    """Of how many groups a card's number from ``at`` on could be."""
    lengths = tuple(b - a for a, b in groups[at : at + 5])
    if 13 <= lengths[0] <= 19:
        yield 1
    yield from (len(form) for form in _GROUPS if lengths[: len(form)] == form)


def is_card(digits: str) -> bool:
    """Whether this is a number that a card can have (ISO/IEC 7812) and none for tests."""
    if digits in PUBLISHED_CARDS or not 13 <= len(digits) <= 19 or len(set(digits)) < 3:
        return False
    return _has_prefix(digits) and luhn(digits)


def _has_prefix(digits: str) -> bool:
    """Visa, Mastercard, American Express, Discover, Diners Club, JCB, UnionPay, Maestro."""
    two, four = int(digits[:2]), int(digits[:4])
    if digits[0] == "4":
        return len(digits) in (13, 16, 19)
    if two in (34, 37):
        return len(digits) == 15
    if 51 <= two <= 55 or 2221 <= four <= 2720:
        return len(digits) == 16
    if two in (36, 38, 39) or 300 <= int(digits[:3]) <= 305:
        return len(digits) in (14, 16)
    if 3528 <= four <= 3589:
        return len(digits) == 16
    return two in (50, 56, 57, 58) or digits[0] == "6"


_DOUBLED = str.maketrans("0123456789", "0246813579")


def luhn(digits: str) -> bool:
    """The check of ISO/IEC 7812: every second digit from the right counts twice, less nine when that has two digits."""
    return sum(map(int, digits[-1::-2] + digits[-2::-2].translate(_DOUBLED))) % 10 == 0


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_ENOUGH, _CODE)
