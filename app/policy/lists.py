"""The values of a list: when one is a secret, so are those behind it that are written in the same way."""

import re
from collections.abc import Iterator

from app.policy.detector import Span

MOST = 40
"""Values of one list."""
_LEAST_CHARS, _MOST_CHARS = 6, 64
_LONGEST_JOINT = 16
_AND = "and|und|et|y|e|en|i|a|och|og|ja|és|și|ve|и|і|và|dan"
_JOINT = re.compile(
    rf"(?:[ \t]{{0,8}}(?:[,;|/、，·和と및]|{_AND})[ \t]{{0,8}}|[ \t,;|\\]{{0,8}}\n[ \t|>]{{0,8}}|[ \t]{{1,8}})"
    r"(?:[-*•]|\(?\d{1,2}[.):、])?[ \t\"'`]{0,4}"
)
"""What stands between two of them: a sign or a line's end, then the mark or number of an item."""


def listed_with(text: str, start: int, end: int) -> Iterator[Span]:
    """The values beside ``text[start:end]`` with nothing but the signs of a list between, and of the same form."""
    form = _form(text[start:end])
    if _LEAST_CHARS <= end - start <= _MOST_CHARS and "0" in form:
        yield from _behind(text, end, form)
        yield from _before(text, start, form)


def _behind(text: str, end: int, form: str) -> Iterator[Span]:
    for _ in range(MOST):
        joint = _JOINT.match(text, end)
        if joint is None:
            return
        start, end = joint.end(), joint.end() + len(form)
        if _form(text[start:end]) != form or text[end : end + 1].isalnum():
            return
        yield start, end


def _before(text: str, start: int, form: str) -> Iterator[Span]:
    for _ in range(MOST):
        ends = (end for end in range(start - 1, max(len(form), start - _LONGEST_JOINT) - 1, -1))
        end = next((end for end in ends if _form(text[end - len(form) : end]) == form), 0)
        if not end or not _JOINT.fullmatch(text, end, start) or text[end - len(form) - 1 : end - len(form)].isalnum():
            return
        start = end - len(form)
        yield start, end


def _form(value: str) -> str:
    """``value`` with signs as they are; every digit is 0, and letters too where both are mixed."""
    has_digits = any(c.isdigit() for c in value)
    return "".join("0" if c.isdigit() or (has_digits and c.isascii() and c.isalpha()) else c for c in value)
