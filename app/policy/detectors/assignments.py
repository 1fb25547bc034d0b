"""Values given to names: ``.env``, YAML, TOML, JSON, INI, XML, properties, code, connection strings of ADO and JDBC."""

from collections.abc import Iterator

from app.policy.detector import Span
from app.policy.linear import Match, Pattern
from app.policy.values import is_code, is_mixed, is_placeholder, is_random
from app.policy.words import NAMES

_CHINESE = "密码|密碼|口令|密钥|密鑰|秘钥|令牌"
_ASSIGNED = Pattern(
    r"(?i)(?P<before>^|[^a-z0-9_])(?P<name>" + NAMES + "|" + _CHINESE + r")"
    r"(?P<sign>[\"'\x60]?[ \t]{0,20}(?::=|=>|==|=|：|:|>)[ \t]{0,40}|[\"']?[ \t]{0,20}(?:=|:)[ \t]{0,20}\n?[ \t]{0,40})"
    r"(?:[bru]?\"(?P<double>[^\"\n]{1,})\"|[bru]?'(?P<single>[^'\n]{1,})'|"
    r"\\\"(?P<escaped>[^\"\\\n]{1,})\\\"|(?P<bare>[^\s\"'<>,;，。；、（）()\x60]{1,}))"
)
_XML = Pattern(r"(?i)<(?:[a-z0-9_.:-]{0,40})(?:password|passwd|pwd|secret|token|apikey|api-key)>(?P<secret>[^<\s]{4,})<")
_KEY_VALUE = Pattern(
    r"(?i)(?:name|key)[\"']?\s{0,5}[:=]\s{0,5}[\"']?(?:" + NAMES + r")[\"']?\s{0,10},?\s{0,10}[\"']?value[\"']?"
    r"\s{0,5}[:=]\s{0,5}[\"'](?P<secret>[^\"'\n]{4,})[\"']"
)
_CAMEL = Pattern(
    r"[a-z][A-Za-z0-9]{0,40}(?:Password|Passwd|Secret|Token|ApiKey|AccessKey|SecretKey|PrivateKey|Passphrase|KeySecret|"
    r"KeyId|AccountKey)[\"']?[ \t]{0,10}(?:=>|=|：|:)[ \t]{0,10}[\"']?(?P<secret>[^\s\"'<>,;，。；)]{4,})"
)


def find(text: str) -> Iterator[Span]:
    """Values that are plausible secrets, of names that call them so."""
    for match in _ASSIGNED.finditer(text):
        for group in ("double", "single", "escaped", "bare"):
            if (value := match[group]) is not None and _is_secret(match, value, quoted=group != "bare"):
                yield match.span(group)
    for pattern in (_XML, _KEY_VALUE, _CAMEL):
        for match in pattern.finditer(text):
            value = match["secret"] or ""
            if not is_placeholder(value) and not is_code(value) and is_mixed(value):
                yield match.span("secret")


def _is_secret(match: Match, value: str, *, quoted: bool) -> bool:
    if is_placeholder(value) or (not quoted and is_code(value)):
        return False
    name = (match["name"] or "").lower()
    if name.endswith(("pin", "cvv", "cvc")):
        return value.isdigit() and 3 <= len(value) <= 12
    if any(c.isspace() for c in value):  # a sentence, unless it is a passphrase
        return quoted and "phrase" in name
    if is_mixed(value) or is_random(value):
        return True
    if value.isdigit():
        return "pass" in name or name in {"pwd", "密码", "密碼", "口令"} and len(value) >= 4
    if not value.isascii() or len(value) < 4 or "pass" not in name and "pwd" not in name and "secret" not in name:
        return False
    return quoted or _is_configuration(match, value)


def _is_configuration(match: Match, value: str) -> bool:
    """Whether a bare word of letters alone stands where a setting has its value: ``PGPASSWORD=letmein``."""
    sign = (match["sign"] or "").strip("\"' \t")
    return sign == "=" and value.rstrip(".!?") == value
