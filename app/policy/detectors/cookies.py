"""Sessions in cookies: ``Cookie: JSESSIONID=...``, and the value of one that is told, in Chinese sentences as well."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder, is_random

_VALUE = r"[\"']?(?P<secret>[^\s\"'`;,<>，；。、）]{10,})"
_KNOWN = Pattern(
    r"(?i)(?:^|[^a-z0-9])(?:[a-z0-9._-]{0,40}sess(?:ion)?(?:[._-]?(?:id|key|token|data))?|connect\.sid|sid|phpsessid|jsessionid|"
    r"remember[_-]?(?:me|token)|wordpress_logged_in_[a-z0-9]{0,40}|xsrf-token|csrftoken|passport_token|bduss|sessdata|"
    r"li_at|auth[_-]?(?:cookie|token)?|token|jwt)(?:[\"'“”`]?[ \t]{0,2}(?:=|:|：|是|为)[ \t]{0,2})" + _VALUE
)
_SESSION = Pattern(
    r"(?i)(?:^|[^a-z0-9])(?:jsessionid|phpsessid|asp\.net_sessionid|connect\.sid|laravel_session|sessdata|bduss)"
    r"[\"'“”]?[ \t]{0,2}[=:：][ \t]{0,2}" + _VALUE
)
"""Names that frameworks and large sites give sessions: nothing else is called so."""
_COOKIE = Pattern(r"(?i)cookies?(?:[^\n]{0,120})")
_PAIR = Pattern(
    r"(?i)(?:cookies?|饼干)[^\n=:：]{0,24}?(?:=|:|：|是|为|為|填|用|贴|值)[ \t\"'“]{0,3}"
    r"(?:[A-Za-z0-9._-]{1,40}=)?(?P<secret>[^\s\"'`;,<>，；。、）”=]{16,})"
)
_LEAST_CHARS = 12
_REACH = 400
"""Characters behind the word in which sessions are looked for."""


def find(text: str) -> Iterator[Span]:
    """What a machine drew behind the name of a session, near the word for cookies, or behind that word."""
    yield from (span for span in _SESSION.spans(text, "secret") if _is_drawn(text[slice(*span)]))
    reached = 0
    for start, _ in _COOKIE.spans(text):
        begin = max(reached, start - _REACH // 4)
        end = reached = max(begin, start + _REACH)
        for pattern in (_KNOWN, _PAIR):
            for first, last in pattern.spans(text[begin:end], "secret"):
                if _is_drawn(text[begin + first : begin + last]):
                    yield begin + first, begin + last


def _is_drawn(value: str) -> bool:
    return is_random(value, _LEAST_CHARS) and not is_placeholder(value)


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_COOKIE, _SESSION)
