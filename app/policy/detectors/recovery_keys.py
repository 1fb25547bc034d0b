"""Recovery keys of encrypted disks: eight groups of six digits, each a number of sixteen bits times eleven."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_KEY = Pattern(r"(?:^|[^\d-])(?P<secret>\d{6}(?:[ -]{1,3}\d{6}){7})(?:$|[^\d-]|-[^\d])")
_HIGHEST = 11 * 65_535


def find(text: str) -> Iterator[Span]:
    """Keys of BitLocker, whatever is said about them."""
    for start, end in _KEY.spans(text, "secret"):
        groups = text[start:end].replace("-", " ").split()
        if all(int(group) % 11 == 0 and int(group) <= _HIGHEST for group in groups):
            yield start, end


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_KEY,)
