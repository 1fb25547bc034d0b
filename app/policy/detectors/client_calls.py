"""Keys and passwords in calls: ``new Mailer("...")``, ``driver(url, auth=("user", "..."))``, ``login("user", "...")``."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.features import form_of
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder, is_random

_CLIENT = Pattern(
    r"(?i)(?:\b(?:new[ \t]+)?[a-z][\w.:]{0,60}?(?:client|api|sdk|bot|auth|credentials?|signer|mailer|connect|login|sign_?in)"
    r"|\b(?:new[ \t]+)?(?:[a-z]\w{0,30}[.:]{1,2}){0,3}"
    r"(?:resend|dropbox|algoliasearch|algolia|meilisearch|typesense|pusher|ably|mixpanel|bugsnag|rollbar|twilio|mailgun|mailjet|sendgrid|postmark|"
    r"telebot|telegraf|octokit|github|gitlab|stripe|openai|anthropic|cohere|mistral|groq|replicate|pinecone|notion|airtable|"
    r"contentful|asana|trello|hubspot|linebotapi|vonage|plivo|nexmo|deepl|translator|geocoder|mapbox|"
    r"tushare|set_token|pro_api|jpush|aip\w{2,16}|qcloud\w{0,16}|cos\w{0,10}|oss\w{0,10}|qiniu|upyun|leancloud|"
    r"elevenlabs|deepgram|assemblyai|tavily\w{0,8}|serpapi|firecrawl\w{0,4}|zhipuai|dashscope|clerk|workos|"
    r"lob|easypost|shippo|plaid|braintree|coinbase|binance|ccxt|fernet))"
    r"\((?P<args>[^()\n]{0,400})"
)
_PAIR = Pattern(
    r"(?i)(?:\bauth[ \t]*[=:][ \t]*[(\[]|\b(?:http)?basic_?auth\w{0,12}\(|\bset_?basic_?auth\(|\.(?:auth|login|log_in|basic|basicauth|credentials|authenticate)\(|"
    r"\bplainauth\([\"'][^\"'\n]{0,60}[\"'],|\bcredentials?\(|\b(?:mysqli|pdo)\([\"'][^\"'\n]{0,120}[\"'],|\bpasswordauthentication\(|getconnection\([^,()\n]{0,200},)"
    r"[ \t]*(?:b|r|u|f)?[\"'](?P<user>[^\"'\n]{1,80})[\"'][ \t]*,[ \t]*(?:b|r|u|f)?(?:\"(?P<double>[^\"\n]{4,128})\"|'(?P<single>[^'\n]{4,128})')"
)
_LITERAL = re.compile(r"(?:\"([^\"\n]{12,300})\"|'([^'\n]{12,300})'|`([^`\n]{12,300})`)")
_DRAWN = frozenset(("mixed", "long", "hex", "random", "strong"))
"""Forms of values that a machine drew; UUIDs name applications and tenants in such calls."""
_WORDS = frozenset(
    (
        "lower",
        "word",
        "upper",
        "camel",
        "han",
        "mail",
        "url",
        "host",
        "path",
        "file",
        "date",
        "version",
        "unit",
        "code",
        "hotkey",
        "phrase",
        "pin",
        "digits",
    )
)
"""Forms of what else two arguments are."""
_NUMBERS = re.compile("[0-9]+")
_NAMED = re.compile(r"[\w.-]*[ \t]*[=:][ \t]*$")


def find(text: str) -> Iterator[Span]:
    """Literals that a machine drew in the call of a client, and the second of a pair that logs in."""
    for match in _CLIENT.finditer(text):
        start, end = match.span("args")
        for literal in _LITERAL.finditer(text, start, end):
            yield from _drawn(text, literal, start)
    for match in _PAIR.finditer(text):
        for name in ("double", "single"):
            value = match[name]
            if value and not is_placeholder(value) and form_of(value) not in _WORDS:
                yield match.span(name)


def _drawn(text: str, literal: re.Match[str], start: int) -> Iterator[Span]:
    first, last = next((literal.span(group) for group in (1, 2, 3) if literal[group]), (0, 0))
    value = text[first:last]
    is_named = _NAMED.search(text, max(start, first - 40), first - 1) is not None
    if (
        not is_named
        and is_random(value, 20)
        and len(_NUMBERS.findall(value)) > 1
        and form_of(value) in _DRAWN
        and not is_placeholder(value)
    ):
        yield first, last


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_CLIENT, _PAIR)
