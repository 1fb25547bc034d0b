"""Addresses of electronic mail."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_ADDRESS = Pattern(
    r"(?:^|[^A-Za-z0-9._%+@/:-])(?P<mail>[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,5}\.[A-Za-z]{2,24})"
)


def find(text: str) -> Iterator[Span]:
    """Addresses as people write them."""
    return _ADDRESS.spans(text, "mail")


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_ADDRESS,)
