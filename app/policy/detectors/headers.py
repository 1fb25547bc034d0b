"""Credentials in HTTP headers and cookies."""

from collections.abc import Iterator

from app.policy.detector import Span
from app.policy.linear import Pattern
from app.policy.values import is_mixed, is_placeholder, is_random

_SCHEME = Pattern(
    r"(?i)(?:^|[^a-z0-9_-])(?:bearer|basic|apikey|digest)[ \t]+[\"']?(?P<secret>[A-Za-z0-9._~+/=:-]{8,})"
)
_AUTHORIZATION = Pattern(
    r"(?i)authorization[\"']?[ \t]*[:=][ \t]*[\"']?(?:[a-z0-9-]{2,30}[ \t]+)?(?P<secret>[A-Za-z0-9._~+/=:-]{8,})"
)
_KEY_HEADER = Pattern(
    r"(?i)(?:^|[^a-z0-9])x-[a-z0-9-]{0,40}(?:key|token|secret|auth|signature)[\"']?[ \t]*[:=][ \t]*[\"']?"
    r"(?P<secret>[^\s\"',;]{6,})"
)
_COOKIE = Pattern(
    r"(?i)(?:^|[^a-z0-9])[a-z0-9_.-]{0,30}(?:session|sessionid|sess|sid|auth|jwt|remember|csrf|xsrf)[a-z0-9_.-]{0,20}="
    r"[\"']?(?P<secret>[A-Za-z0-9._~+/%=-]{16,})"
)


def find(text: str) -> Iterator[Span]:
    """Bearer and basic credentials, key headers, session cookies."""
    for start, end in _SCHEME.spans(text, "secret"):
        if is_random(text[start:end], 12) and not is_placeholder(text[start:end]):
            yield start, end
    for pattern in (_AUTHORIZATION, _KEY_HEADER):
        for start, end in pattern.spans(text, "secret"):
            if is_mixed(text[start:end], 8) and not is_placeholder(text[start:end]):
                yield start, end
    for start, end in _COOKIE.spans(text, "secret"):
        if is_random(text[start:end]) and not is_placeholder(text[start:end]):
            yield start, end
