"""Private keys in armour, ended or not: a log or a paste may hold the beginning only."""

from collections.abc import Iterator

from app.policy.detector import Span
from app.policy.linear import Pattern

_BEGIN = Pattern(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:|Private-Lines: \d+")
_END = "-----END "
_BODY = Pattern(r"(?:\\r|\\n|[A-Za-z0-9+/=,:\s\"'-])*")


def find(text: str) -> Iterator[Span]:
    """The lines between the armour; without an end, all that may be part of the key."""
    for match in _BEGIN.finditer(text):
        start = match.span()[1]
        end = text.find(_END, start)
        if end < 0:
            body = next(iter(_BODY.finditer(text[start:])), None)
            end = start + (body.span()[1] if body else 0)
        if end > start:
            yield start, end
