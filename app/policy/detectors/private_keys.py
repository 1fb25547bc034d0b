"""Private keys in armour, ended or not: a log or a paste may hold the beginning only."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_KEY = Pattern(
    r"(?:-----BEGIN (?:[A-Z0-9]+ ){0,4}(?:PRIVATE KEY(?: BLOCK)?|SEED)-{5,6}|PuTTY-User-Key-File-\d:[^\n]*|Private-Lines: \d+)"
    r"(?P<secret>(?:[A-Za-z0-9+/=,:.()\s\"'\\]|-[A-Za-z0-9+/=,:.()\s\"'\\])*)"
)


def find(text: str) -> Iterator[Span]:
    """What follows the first line, up to the line that ends it; without one, all that may be part of the key."""
    for start, end in _KEY.spans(text, "secret"):
        body = text[start:end].strip()
        if sum(c.isalnum() for c in body[:200]) >= 16:
            offset = text.index(body, start)
            yield offset, offset + len(body)


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_KEY,)
