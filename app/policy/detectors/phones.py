"""Telephone numbers: international, Chinese, and national ones in the forms that tell them from other numbers."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_FORMS = (
    r"\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4}",
    r"1[3-9]\d(?:[ -]?\d{4}){2}",
    r"0\d{2,3}[- ]\d{3,4}[- ]?\d{4}",
    r"\(\d{3}\) ?\d{3}[ .-]\d{4}",
    r"\d{3}[.-]\d{3}[.-]\d{4}",
    r"0\d{1,4}[ /-]\d{2,4}(?:[ -]?\d{2,4}){1,3}",
    r"\(0\d{1,4}\) ?\d{3,8}",
)
_NUMBER = Pattern(r"(?:^|[^0-9A-Za-z.+_/-])(?P<phone>" + "|".join(_FORMS) + r")(?:$|[^0-9A-Za-z_-])")


def find(text: str) -> Iterator[Span]:
    """Numbers of seven to fifteen digits in these forms."""
    for start, end in _NUMBER.spans(text, "phone"):
        if 7 <= sum(c.isdigit() for c in text[start:end]) <= 15:
            yield start, end


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_NUMBER,)
