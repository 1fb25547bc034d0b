"""Numbers of payment cards, by prefix, length and check digit, and the code that is told beside one."""

import re
from collections.abc import Iterator

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_DIGITS = re.compile(r"\d+(?:[ -]\d+)*")
_GROUP = re.compile(r"\d+")
_GROUPS = ((4, 4, 4, 4, 3), (4, 4, 4, 4), (4, 4, 4, 7), (4, 4, 4, 1), (4, 6, 5), (4, 6, 4), (6, 13), (6, 10))
"""How the digits of a number stand together on cards."""
_CODE = Pattern(
    r"(?i)(?:^|[^a-z])(?:cvv2?|cvc2?|安全码|驗證碼背面|security code)[^0-9\n]{1,12}(?P<card>\d{3,4})(?:$|\D)"
)
_CARD_WORD = ("card", "visa", "mastercard", "amex", "卡", "karte", "carte", "tarjeta", "cartão", "карт", "カード")
_TEST_NUMBERS = (
    "4242424242424242 4000056655665556 5555555555554444 2223003122003222 5200828282828210 5105105105105100 "
    "378282246310005 371449635398431 6011111111111117 6011000990139424 6011981111111113 3056930009020004 "
    "36227206271667 6555900000604105 3566002020360505 6200000000000005 6200000000000047 4111111111111111 "
    "4012888888881881 4222222222222 4000000000000002 4000000000009995 4000000000000077 4000002500003155 "
    "4000000000003220 5431111111111111 5424000000000015 4007000000027 4000000000000010 6759649826438453 "
    "4484070000000000 5019717010103742 30569309025904 38520000023237 6304000000000000 4917610000000000"
)
PUBLISHED = frozenset(_TEST_NUMBERS.split())
"""Numbers that payment providers publish for tests."""


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
    if digits in PUBLISHED or not 13 <= len(digits) <= 19 or len(set(digits)) < 3:
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
