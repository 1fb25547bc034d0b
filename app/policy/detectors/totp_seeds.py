"""Seeds of one-time codes that are given to a program: ``oathtool --totp -b K5QX...``, ``otpauth://totp/...``."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder

_SEED = (
    r"(?P<secret>(?:[A-Z2-7]{16,128}|[a-z2-7]{16,128}|[0-9A-Fa-f]{20,128})"
    r"|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15}|[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15})={0,6}"
)
_ENDS = r"(?:$|[^A-Za-z0-9=_./-])"
_PROGRAM = (
    r"(?:oathtool|mintotp|otp-?cli|totp-?cli|otptool|totp|cotp|gauth|2fa|authenticator(?:-cli)?|pass otp|gopass otp"
    r"|ykman oath accounts? add)"
)
_ARGUMENT = r"(?:--?[\w-]{1,20}(?:=[^\s\"']{0,24})?|\"[^\"\n]{1,40}\"|'[^'\n]{1,40}'|[\w:.@+/-]{1,15})"
_GAP = r"[ \t]{1,3}(?:\\\r?\n[ \t]{0,8})?"
_COMMAND = Pattern(rf"(?:^|[^\w.-]){_PROGRAM}(?P<arguments>(?:{_GAP}{_ARGUMENT}){{0,10}}?){_GAP}[\"'`]?{_SEED}{_ENDS}")
_HERE = Pattern(rf"(?:^|[^\w.-]){_PROGRAM}(?P<arguments>[^\n|;<]{{0,80}})<<<[ \t]?[\"']?{_SEED}{_ENDS}")
_PIPED = Pattern(
    r"\b(?:echo|printf)(?:[ \t]{1,3}(?:-n|'%s(?:\\n)?'|\"%s(?:\\n)?\"|%s)){0,2}[ \t]{1,3}[\"']?"
    rf"{_SEED}[\"']?[ \t]{{0,3}}(?P<arguments>\|)[ \t]{{0,3}}{_PROGRAM}"
)
_CALL = Pattern(
    rf"(?i:totp|hotp|\botp|authenticator|speakeasy)[\w.:]{{0,30}}(?P<arguments>\([^()\n\"'`]{{0,60}})[\"'`]{_SEED}[\"'`]"
)
_COMMANDS = (_COMMAND, _HERE, _PIPED, _CALL)
_URI = Pattern(
    r"(?i)otpauth://[^\s\"'<>]{1,300}?[?&]secret=(?P<secret>(?:[A-Za-z2-7]{4}(?:%20|\+)?){4,32}[A-Za-z2-7]{0,3})"
)
_APP_FIRST = Pattern(rf"(?i:authenticator|totp)(?P<between>[^\nA-Z]{{1,40}}){_SEED}{_ENDS}")
_APP_LAST = Pattern(rf"(?:^|[\s\"'`:：]){_SEED}(?P<between>[^\nA-Z]{{1,30}}?)(?i:authenticator|totp)")
_NAMES = Pattern(
    r"(?i)oathtool|mintotp|totp|hotp|otp-?cli|\botp\b|otptool|gauth\b|2fa|authenticator|otpauth|speakeasy|ykman oath"
)
"""One of these is in whatever is found."""
_OTHER_THING = re.compile(
    r"(?i)(?:^|[\s(])(?:sha-?\d{1,3}|md5|commit|rev|digest|checksum|version|order|ticket|ref|invoice|build|trace|request|id|serial)\b"
)
_BASE32_ASKED = re.compile(r"(?:^|\s)(?:-[a-z]*b|--base32)(?=\s|$)")
_HEX_TAKEN = re.compile("oathtool|otp-?cli|mintotp|otptool|ykman|(?i:totp|otp|speakeasy)[^ ]*[(]")
"""What is given a seed in hex; a digest may stand behind other words."""
_HEX = re.compile(r"[0-9A-Fa-f]+")
_ALPHABET = "ABCDEFGHIJ"
_SIGNS = re.compile("[ =-]")
_LEAST_DIGITS = 2
"""In a run that stands beside the name of an application, where no command asks for a seed."""
_NOT_HEX = frozenset("GHIJKLMNOPQRSTUVWXYZ")


def find(text: str) -> Iterator[Span]:
    """The seeds, in base32 or hex."""
    yield from dict.fromkeys(_all(text))


def _all(text: str) -> Iterator[Span]:
    if not _NAMES.is_in(text):
        return
    for pattern in _COMMANDS:
        for match in pattern.finditer(text):
            start, end = match.span("secret")
            arguments = match["arguments"] or ""
            value = _SIGNS.sub("", text[start:end])
            is_asked = _BASE32_ASKED.search(arguments) is not None and value.isupper()
            is_other = _OTHER_THING.search(arguments) or (
                _HEX.fullmatch(value) and not _HEX_TAKEN.search(text, *match.span())
            )
            if not is_other and _is_seed(value, 0 if is_asked else 1):
                yield start, end
    yield from (span for span in _URI.spans(text, "secret") if not is_placeholder(text[slice(*span)]))
    for pattern in (_APP_FIRST, _APP_LAST):
        for match in pattern.finditer(text):
            start, end = match.span("secret")
            value = _SIGNS.sub("", text[start:end])
            is_told = value.isupper() and not _OTHER_THING.search(match["between"] or "")
            if is_told and not _NOT_HEX.isdisjoint(value) and _is_seed(value, _LEAST_DIGITS):
                yield start, end


def _is_seed(value: str, digits: int) -> bool:
    return (
        sum(map(str.isdigit, value)) >= digits
        and len(set(value)) > 3
        and not value.startswith(_ALPHABET)
        and not is_placeholder(value)
        and not is_placeholder(value.upper())
    )


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_NAMES,)
