"""Users and passwords in base64, as the header of basic authentication and the files of registries have them."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import decoded_login, is_placeholder

_ENCODED = Pattern(
    r"(?i)(?:(?:^|[^a-z])basic(?:\s|%20|\\u0020){1,3}|_?auth[\"'\\]{0,3}\s{0,3}[:=]\s{0,3}[\"'\\]{0,3})"
    r"(?P<secret>[A-Za-z0-9+/_-]{6,}={0,2})"
)


def find(text: str) -> Iterator[Span]:
    """What decodes to ``user:password``."""
    for start, end in _ENCODED.spans(text, "secret"):
        encoded = text[start:end]
        if decoded_login(encoded)[1] and not is_placeholder(encoded):
            yield start, end


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_ENCODED,)
