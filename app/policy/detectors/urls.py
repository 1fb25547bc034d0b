"""Passwords and tokens in URLs: ``scheme://user:password@host``, ``?token=...``, and webhooks, secret as a whole."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder, is_random

_USERINFO = Pattern(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://(?P<user>[^\s:/@'\"<>]{0,}):(?P<secret>[^\s'\"<>]{1,}?)@[^\s@/]")
_LAST_AT = Pattern(r"://[^\s:/@'\"<>]{0,}:(?P<secret>[^\s/'\"<>]{1,})@[A-Za-z0-9\[]")
_DRIVER = Pattern(r"(?:^|[^\w/])[\w.-]{1,64}:(?P<secret>[^\s:@/'\"`<>]{3,128})@(?:tcp6?|udp|unix)\(")
"""Without a scheme, as drivers of Go have it: ``user:password@tcp(host:3306)/name``."""
_TOKEN_USER = Pattern(r"https?://(?P<secret>[A-Za-z0-9_-]{20,})@")
_QUERY = Pattern(
    r"(?i)[?&;#](?:[a-z0-9_.-]{0,30}(?:key|token|secret|sig|signature|password|passwd|pwd|pass|auth|code_verifier))="
    r"(?P<secret>[^\s&#'\"<>;]{6,})"
)
_APP = Pattern(
    r"(?i)[?&](?:app_?id|ak|sk|ticket|jwt|session_?id|sid|otp|apikey|x-token|sign|subscription-key|client_secret|api_hash)="
    r"(?P<secret>[^\s&#'\"<>;，。）]{20,})"
)
"""Names of parameters that hold other things as well: only what a machine drew is taken."""
_PUBLIC_HOST = Pattern(r"^@[a-z0-9.-]{0,60}(?:sentry|glitchtip)")
_WEBHOOK = Pattern(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<slack>[A-Za-z0-9/_-]{20,})|"
    r"discord(?:app)?\.com/api/webhooks/\d{5,25}/(?P<discord>[A-Za-z0-9_-]{20,})|"
    r"(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/(?P<feishu>[A-Za-z0-9-]{16,60})|"
    r"webhook\.office\.com/webhookb2/(?P<teams>[A-Za-z0-9@/-]{30,})"
)


def find(text: str) -> Iterator[Span]:
    """Passwords before the host, secret parameters, webhooks."""
    for pattern in (_USERINFO, _LAST_AT, _DRIVER):
        yield from (span for span in pattern.spans(text, "secret") if not is_placeholder(text[slice(*span)]))
    for start, end in _TOKEN_USER.spans(text, "secret"):
        if is_random(text[start:end], 20) and not _PUBLIC_HOST.is_in(text[end : end + 80]):
            yield start, end
    for start, end in _QUERY.spans(text, "secret"):
        if is_random(text[start:end], 12) and not is_placeholder(text[start:end]):
            yield start, end
    for start, end in _APP.spans(text, "secret"):
        if is_random(text[start:end], 20) and not is_placeholder(text[start:end]):
            yield start, end
    for match in _WEBHOOK.finditer(text):
        yield from (match.span(group) for group in ("slack", "discord", "feishu", "teams") if match[group])


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_USERINFO, _LAST_AT, _DRIVER, _TOKEN_USER, _QUERY, _APP, _WEBHOOK)
