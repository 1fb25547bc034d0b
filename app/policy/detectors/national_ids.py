"""Numbers that a state gives a person, where a check or a fixed form tells them from other numbers."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_CHINESE = Pattern(
    r"(?:^|[^0-9A-Za-z])(?P<id>[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[0-9Xx])(?:$|[^0-9A-Za-z])"
)
_AMERICAN = Pattern(r"(?:^|[^0-9A-Za-z-])(?P<id>\d{3}-\d{2}-\d{4})(?:$|[^0-9A-Za-z-])")
_BRITISH = Pattern(
    r"(?:^|[^A-Za-z0-9])(?P<id>[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D])(?:$|[^A-Za-z0-9])"
)
_SPANISH = Pattern(r"(?:^|[^A-Za-z0-9])(?P<id>[XYZ0-9]\d{7}-?[A-HJ-NP-TV-Z])(?:$|[^A-Za-z0-9])")
_ITALIAN = Pattern(r"(?:^|[^A-Za-z0-9])(?P<id>[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z])(?:$|[^A-Za-z0-9])")
_BRAZILIAN = Pattern(r"(?:^|[^0-9])(?P<id>\d{3}\.\d{3}\.\d{3}-\d{2})(?:$|[^0-9])")
_FRENCH = Pattern(
    r"(?:^|[^0-9])(?P<id>[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2})(?:$|[^0-9])"
)

_PASSPORT = Pattern(
    r"(?i:passports?|pasaporte|passaporte?|passeport|reisepass|paspoort|паспорт\w*|护照|護照|通行证|通行證|台胞证|パスポート|旅券|여권)"
    r"[^\n0-9A-Z]{0,24}(?:(?i:no|nr|nº|n°|number)[^\n0-9A-Z]{0,4})?(?P<id>[A-Z]{1,3}\d{6,9}|[0-9A-Z]{2}\d{6,7}|[0-9A-Z]{7,10})"
    r"(?:$|[^0-9A-Za-z])"
)

_CHINESE_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_SPANISH_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def find(text: str) -> Iterator[Span]:
    """Numbers of China, the USA, Britain, Spain, Italy, Brazil and France, and of passports that are called so."""
    for pattern, is_valid in _CHECKED:
        for start, end in pattern.spans(text, "id"):
            if is_valid(text[start:end]):
                yield start, end


def _chinese(number: str) -> bool:
    """GB 11643: the last place is a check digit modulo 11."""
    total = sum(int(digit) * weight for digit, weight in zip(number, _CHINESE_WEIGHTS, strict=False))
    return "10X98765432"[total % 11] == number[-1].upper()


def _american(number: str) -> bool:
    area, group, serial = number.split("-")
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _spanish(number: str) -> bool:
    digits = number[:-1].rstrip("-").translate(str.maketrans("XYZ", "012"))
    return _SPANISH_LETTERS[int(digits) % 23] == number[-1]


def _brazilian(number: str) -> bool:
    digits = [int(c) for c in number if c.isdigit()]
    if len(set(digits)) == 1:
        return False
    for places in (9, 10):
        total = sum(digit * (places + 1 - place) for place, digit in enumerate(digits[:places]))
        if digits[places] != total * 10 % 11 % 10:
            return False
    return True


def _french(number: str) -> bool:
    digits = number.replace(" ", "").replace("2A", "19").replace("2B", "18")
    return int(digits[-2:]) == 97 - int(digits[:-2]) % 97


def _passport(number: str) -> bool:
    return 7 <= len(number) <= 10 and sum(c.isdigit() for c in number) >= 5


def _any(_number: str) -> bool:
    return True


_CHECKED = (
    (_CHINESE, _chinese),
    (_AMERICAN, _american),
    (_BRITISH, _any),
    (_SPANISH, _spanish),
    (_ITALIAN, _any),
    (_BRAZILIAN, _brazilian),
    (_FRENCH, _french),
    (_PASSPORT, _passport),
)


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return tuple(pattern for pattern, _ in _CHECKED)
