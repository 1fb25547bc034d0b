"""Passwords for one program, as Google and Apple draw them: sixteen small letters in four groups."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.features import form_of
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder

_GROUPS = Pattern(r"(?:^|[^\w-])(?P<secret>[a-z]{4}(?:-[a-z]{4}){3}|[a-z]{4}(?: [a-z]{4}){3})(?:$|[^\w-]|-[^\w])")
_NAMED = Pattern(
    r"(?i)app(?:lication)?(?:[- ]specific)?[- ]?passw|app[- ]pw|appspecific|passw(?:or[dt])|\bpass\b|kennwort|mot de passe|contraseña|senha|парол|密码|密碼|口令|"
    r"授权码|授權碼|パスワード|비밀번호|smtp|imap|pop3|msmtp|mutt|thunderbird|fetchmail"
)
_SPECIFIC = Pattern(
    r"(?i)\bapp(?:lication)?[- ]specific(?: passwor[dt]| pw| one)?(?: (?:for|of) [\w.-]{1,30})?(?:[ \t]is[ \t]|[ \t]{0,2}[:：=][ \t]{0,2})[\"'`]?(?P<secret>[a-z0-9-]{10,40})"
    r"(?:$|[\s\"'`,;.)，。])"
)
_BEFORE, _BEHIND = 160, 80
_VOWELS = frozenset("aeiou")
_MOST_VOWELS = 5
"""Of sixteen letters that are drawn; those of words have six and more."""
_FORMS = frozenset(("mixed", "long", "strong", "random"))
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def find(text: str) -> Iterator[Span]:
    """Four groups that are no words and no row of the alphabet, near a word for passwords or mail."""
    for start, end in _GROUPS.spans(text, "secret"):
        value = text[start:end]
        around = text[max(0, start - _BEFORE) : start] + "\n" + text[end : end + _BEHIND]
        if _is_drawn(re.split("[ -]", value)) and _NAMED.is_in(around):
            yield start, end
    for start, end in _SPECIFIC.spans(text, "secret"):
        if form_of(text[start:end]) in _FORMS and not is_placeholder(text[start:end]):
            yield start, end


def _is_drawn(groups: Sequence[str]) -> bool:
    letters = "".join(groups)
    vowels = sum(c in _VOWELS for c in letters)
    has_no_word = any(_VOWELS.isdisjoint(group) and "y" not in group for group in groups)
    rows = sum(group in _ALPHABET or len({*group}) == 1 for group in groups)
    return rows <= 1 and vowels <= _MOST_VOWELS and has_no_word


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_GROUPS, _SPECIFIC)
