"""Passwords among the arguments of commands."""

from collections.abc import Iterator

from app.policy.detector import Span
from app.policy.linear import Pattern
from app.policy.values import is_placeholder, kinds

_VALUE = r"(?:\"(?P<double>[^\"\n]{3,})\"|'(?P<single>[^'\n]{3,})'|(?P<bare>[^\s\"'|&;<>]{3,}))"
_LONG = Pattern(
    r"(?i)(?:^|\s)--?(?:[a-z0-9-]{0,30}-)?(?:password|passwd|pass|passphrase|pwd|token|secret|api-?key|access-?key|"
    r"auth-?token|secret-?key)(?:=|[ \t]+)" + _VALUE
)
_USER = Pattern(
    r"(?:^|\s)(?:-u|--user|--proxy-user|-U)[ \t]*[=]?[ \t]*[\"']?[^\s:\"'/]{1,}:(?P<secret>[^\s\"']{3,})"
)
_SHORT = Pattern(
    r"(?:^|[\s\x60$(])(?:mysql|mysqldump|mysqladmin|mariadb|sshpass|redis-cli|mongo|mongosh|mongodump|docker|podman|helm|"
    r"az|ldapsearch|htpasswd|smbclient|rabbitmqadmin|psql|openssl|zip|unzip|7z|curl|wget|sqlcmd|oc|ansible)"
    r"[ \t][^\n|]{0,}?[ \t]-(?:p|P|a|w|pw)[ \t]*" + _VALUE
)
_HTPASSWD = Pattern(r"htpasswd[ \t]+-[a-zA-Z]{0,5}b[a-zA-Z]{0,5}[ \t]+\S{1,}[ \t]+\S{1,}[ \t]+(?P<secret>\S{3,})")
_PIPED = Pattern(
    r"echo[ \t]+(?:-n[ \t]+)?[\"']?(?P<secret>[^\s\"'|]{4,})[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+-S|docker[ \t]+login|"
    r"passwd|chpasswd|base64|helm[ \t]+registry)"
)
_CHPASSWD = Pattern(r"[\"']?[a-z_][a-z0-9_-]{0,31}:(?P<secret>[^\s\"'|:]{4,})[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd")


def find(text: str) -> Iterator[Span]:
    """Arguments that are passwords: by a long option, by the short ones of known commands, by ``user:password``."""
    for pattern in (_LONG, _SHORT):
        for match in pattern.finditer(text):
            for group in ("double", "single", "bare"):
                if (value := match[group]) and not is_placeholder(value) and _looks_like(value):
                    yield match.span(group)
    for pattern in (_USER, _HTPASSWD, _PIPED, _CHPASSWD):
        for start, end in pattern.spans(text, "secret"):
            value = text[start:end]
            if not is_placeholder(value) and not value.isdigit():
                yield start, end


def _looks_like(value: str) -> bool:
    """No number of a port, no path, no option."""
    return not value.startswith(("-", "/", "~", ".")) and not (value.isdigit() and len(value) < 6) and (
        kinds(value) > 1 or len(value) >= 6
    )
