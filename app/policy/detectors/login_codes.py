"""Codes to sign in with that no name stands before, ``use 481 902 to sign in``, and links that sign in."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_random

_CODE = r"(?P<secret>\d{3}[ -]\d{3,4}|\d{2}[ -]\d{2}[ -]\d{2}|\d{5,8})"
_IN = r"(?:sign(?:ing)?|log(?:ging)?)[ -]?(?:in|on)\b"
_USE = Pattern(
    rf"(?i)\b(?:use|enter|type|put in|punch in|paste)[ \t]+(?:(?:the |this |that |my )?(?:code|number|pin)[: ]+)?[\"'*]{{0,2}}{_CODE}[\"'*]{{0,2}}"
    rf"[ \t]+(?:to|for|when)[ \t]+(?:you |finish |complete |completing |finishing )?{_IN}"
)
_WITH = Pattern(
    rf"(?i)\b{_IN}[^\n.!?]{{0,30}}?\b(?:with|using|by)[ \t]+(?:the |this |that )?(?:code|number|pin)[: ]+[\"'*]{{0,2}}{_CODE}(?:[^\d-]|$)"
)
_CALLED = Pattern(
    rf"(?i)\b(?:access|security|confirmation|entry|magic)?[ ]?code (?:for|to) (?:your |the |my )?{_IN}[ \t]*(?:is|was|[:=：])[ \t]*[\"'*]{{0,2}}{_CODE}(?:[^\d-]|$)"
)
_LINK = Pattern(
    r"(?i)https?://[^\s\"'<>]{3,200}?/(?:magic[-_]?(?:link|login|signin)?s?|login[-_]?link|sign[-_]?in[-_]?link|passwordless|one[-_]?time[-_]?login|email[-_]?login)"
    r"/(?:[a-z]{2,12}/)?(?P<secret>[A-Za-z0-9_.~-]{12,512})"
)
_QUERY = Pattern(
    r"(?i)https?://[^\s\"'<>?]{3,200}(?:log[-_]?in|sign[-_]?in|magic|verify|auth)[^\s\"'<>?]{0,60}\?(?:[^\s\"'<>]{0,200}&)?(?:code|t|k|otp)="
    r"(?P<secret>[A-Za-z0-9_.~-]{12,512})"
)
_SLUG = re.compile(r"[a-z]+(?:[-_.][a-z]+)*[-_.]?\d{0,6}")


def find(text: str) -> Iterator[Span]:
    """The codes, and the part of a link that a machine drew."""
    for pattern in (_USE, _WITH, _CALLED):
        yield from pattern.spans(text, "secret")
    for pattern in (_LINK, _QUERY):
        yield from (span for span in pattern.spans(text, "secret") if _is_drawn(text[slice(*span)]))


def _is_drawn(value: str) -> bool:
    return is_random(value, 12) and not _SLUG.fullmatch(value)


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_USE, _WITH, _CALLED, _LINK, _QUERY)
