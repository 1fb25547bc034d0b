"""Recovery keys of encrypted disks: eight groups of six digits, each a number of sixteen bits times eleven."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_KEY = Pattern(r"(?:^|[^\d-])(?P<secret>\d{6}(?:[ -]{1,3}\d{6}){7})(?:$|[^\d-]|-[^\d])")
_NAMED = re.compile(r"(?i)bitlocker|recovery|恢[复復]|wiederherstellung|récupération|recuperación|recuperação|recupero")
_BEFORE = 80
_HIGHEST = 11 * 65_535


def find(text: str) -> Iterator[Span]:
    """Keys of BitLocker, whatever is said about them; where they are called so, also those with a digit mistyped."""
    for start, end in _KEY.spans(text, "secret"):
        groups = text[start:end].replace("-", " ").split()
        is_named = _NAMED.search(text, max(0, start - _BEFORE), start) is not None
        if is_named or all(int(group) % 11 == 0 and int(group) <= _HIGHEST for group in groups):
            yield start, end


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_KEY,)
