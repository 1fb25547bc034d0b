"""Passwords in commands of Windows: ``ConvertTo-SecureString '...'``, ``PSCredential``, ``net use``, ``net user``."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder

_QUOTED = r"(?:'(?P<single>[^'\n]{3,128})'|\"(?P<double>[^\"\n]{3,128})\")"
_SECURE = Pattern(rf"(?i)\bConvertTo-SecureString\b(?:[ \t]+-(?:String|AsPlainText|Force))*[ \t]+{_QUOTED}")
_BARE = Pattern(
    r"(?i)\bConvertTo-SecureString[ \t]+(?:-String[ \t]+)?(?P<bare>[^\s'\"$(<{|;-][^\s'\"|;)]{5,127})[ \t]+-"
)
_PIPED = Pattern(rf"(?i){_QUOTED}[ \t]{{0,4}}\|[ \t]{{0,4}}ConvertTo-SecureString\b")
_NETWORK = Pattern(
    r"(?i)\b(?:PSCredential|NetworkCredential)\b[^\n'\"(]{0,40}\(?[ \t]{0,4}['\"][^'\"\n]{1,80}['\"][ \t]{0,4},[ \t]{0,4}"
    + _QUOTED
)
_SHARE = Pattern(
    r"(?i)\bnet[ \t]+use\b[^\n]{0,200}?[ \t]/u(?:ser)?:[^\s]{1,80}[ \t]+(?:\"(?P<double>[^\"\n$%]{4,128})\"|(?P<bare>[^\s/*<$%\"'][^\s\"']{3,127}))"
)
_ACCOUNT = Pattern(
    r"(?i)\bnet1?[ \t]+user[ \t]+[\"']?[\w.$-]{1,40}[\"']?[ \t]+[\"']?"
    r"(?:(?P<bare>[^\s/*<$%\"'][^\s\"']{3,127})[\"']?[ \t]+/[a-z]|(?P<chosen>[^\s/*<$%\"'\d][^\s\"'\d]{2,60}\d[^\s\"']{0,60}))"
)
"""Without an option behind it, what has no digit is the word of a sentence."""
_OPTION = Pattern(
    r"(?i)\b(?:cmdkey|schtasks|psexec(?:64)?|wmic|sc(?:\.exe)?[ \t]+(?:config|create)|winrs|winexe|xfreerdp|wlfreerdp|rdesktop|runas|msiexec|osql|bcp|netsh)\b[^\n]{0,300}?[ \t]"
    r"(?:/p(?:ass(?:word)?)?[:=]|/rp[ \t]+|-p[ \t]+|password=[ \t]{0,2}|/password:)[\"']?(?P<bare>[^\s/*<$%\"'][^\s\"']{3,127})"
)
_PATTERNS = (_SECURE, _BARE, _PIPED, _NETWORK, _SHARE, _ACCOUNT, _OPTION)


def find(text: str) -> Iterator[Span]:
    """What stands at the place of the password, unless it is a variable or stands for one."""
    for pattern, groups in _PLACES:
        for match in pattern.finditer(text):
            for group in groups:
                start, end = match.span(group)
                if start >= 0 and text[start] != "$" and not is_placeholder(text[start:end]):
                    yield start, end


_BOTH, _ONE = ("single", "double"), ("bare",)
_PLACES = (
    (_SECURE, _BOTH),
    (_BARE, _ONE),
    (_PIPED, _BOTH),
    (_NETWORK, _BOTH),
    (_SHARE, ("double", "bare")),
    (_ACCOUNT, ("bare", "chosen")),
    (_OPTION, _ONE),
)


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return _PATTERNS
