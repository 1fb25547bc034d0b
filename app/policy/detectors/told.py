"""Passwords told in a sentence: "the Wi-Fi password is ...", ``密码是``, a value in front of its name, seed phrases.

A name of a password and a value that looks made up stand close together, with a verb, a colon or a quote between them.
Talk about passwords ("must have 12 characters") has no such value.
"""

from collections.abc import Iterator

from app.policy.detector import Span
from app.policy.linear import Match, Pattern
from app.policy.values import is_mixed, is_placeholder, kinds
from app.policy.words import IS, PASSWORDS

_NAME = "(?P<name>" + "|".join(sorted(PASSWORDS, key=len, reverse=True)) + ")"
_EDGE = r"(?:^|[^a-zà-öø-ÿа-я0-9_])"
_IS = "(?:" + "|".join(sorted(IS, key=len, reverse=True)) + ")"
_QUOTE = "[\"'“”‘’「『`«*_]{0,3}"
_VALUE = r"(?P<secret>[!-~]{4,})"
_GAP = r"[^\n。！？!?:：=\"“「]{0,60}?"
_AFTER = Pattern(
    r"(?i)" + _EDGE + _NAME + r"(?:s|es|n|en)?(?P<gap>" + _GAP + r")(?P<link>[:：=]|->|→|[\s,，]" + _IS + r"[\s:：]|(?:是|为|為|は|叫|用|改成|改为|换成|设成|设为|은|는)|"
    r"[\"“「'`])[ \t]{0,5}" + _IS + r"?[ \t:：]{0,5}" + _QUOTE + _VALUE
)
_BESIDE = Pattern(r"(?i)" + _EDGE + _NAME + r"[ \t(（]{1,3}" + _QUOTE + _VALUE)
_BEFORE = Pattern(
    r"(?i)(?:^|[\s\"'“「：:（(，。、]|用|是)" + _VALUE + r"[\"'”」)）]?(?:[ \t]{1,3}(?:is|was|as|ist|est|es|é|è|это)[ \t][^\n.!?]{0,40}?|"
    r"[ \t]{0,3}(?:是|作为|当|做|这个是|就是)[^\n。！？]{0,20}?|[ \t]{1,3})" + _NAME
)
_PHRASE = Pattern(
    r"(?i)(?:seed phrase|recovery phrase|mnemonic|secret phrase|助记词|恢复短语|seed words)[^\n:：]{0,40}[:：][ \t\n\"'“]{0,4}"
    r"(?P<secret>[a-z]{3,8}(?:[ ,]{1,3}[a-z]{3,8}){11,23})"
)
_CODES = Pattern(
    r"(?i)(?:recovery|backup|rescue) codes?[^\n:：]{0,60}[:：]?\s{1,4}(?P<secret>[a-z0-9]{3,12}-?[a-z0-9]{2,12}"
    r"(?:[\s,;]{1,3}[a-z0-9]{3,12}-[a-z0-9]{2,12}){0,24})"
)
_TRAILING = ".,;:!?)]}>\"'`*_"
_PIN_NAMES = ("pin", "geheimzahl", "暗証番号", "пин", "code", "clave", "passcode")
_PASSWORD_NAMES = ("pass", "pw", "mdp", "密", "口令", "contraseña", "senha", "kennwort", "пароль", "パス", "비밀", "şifre")


def find(text: str) -> Iterator[Span]:
    """Values that a sentence calls a password, a PIN, a key or a token."""
    for match in _AFTER.finditer(text):
        yield from _told(match, linked=True)
    for pattern in (_BESIDE, _BEFORE):
        for match in pattern.finditer(text):
            yield from _told(match, linked=False)
    for pattern in (_PHRASE, _CODES):
        for match in pattern.finditer(text):
            if pattern is _PHRASE or any(c.isdigit() for c in match["secret"] or ""):
                yield match.span("secret")


def _told(match: Match, *, linked: bool) -> Iterator[Span]:
    value = match["secret"] or ""
    start, _ = match.span("secret")
    bare = value.rstrip(_TRAILING)
    value = value[: len(bare) + 1] if value[len(bare) :][:1] in ("!",) and kinds(bare) > 1 else bare
    if _is_value((match["name"] or "").lower(), value, linked=linked):
        yield start, start + len(value)


def _is_value(name: str, value: str, *, linked: bool) -> bool:
    if len(value) < 4 or is_placeholder(value) or value.startswith(("http://", "https://", "/", "--", "~/", "./")):
        return False
    if value.isdigit():
        return linked and 4 <= len(value) <= 12 and any(n in name for n in (*_PIN_NAMES, *_PASSWORD_NAMES))
    if _is_term(value):
        return False
    return is_mixed(value, 6 if linked else 8) and (linked or kinds(value) >= 3)


_TERM = Pattern(
    r"(?i)\d{1,4}[-+x/.:%]?\d{0,4}[-+x/.:%]?\d{0,4}(?:-?[a-z]{1,12})?|[a-z]{1,12}[-_ ]?\d{1,4}(?:\.\d{1,3}){0,3}|v?\d+(?:\.\d+){1,4}[a-z0-9.-]*|"
    r"[a-z]+(?:[-_'/.][a-z]+)+|[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+|[a-z]+\(\)?|[a-z0-9_.-]+\.(?:md|txt|json|ya?ml|py|js|ts|"
    r"env|toml|ini|conf|pdf|html?|com|org|net|io|example|cn|de)(?:/\S*)?|\d+[a-z]{1,10}"
)


def _is_term(value: str) -> bool:
    """Numbers with a unit, versions, dates, compounds, addresses, file names: ``16-character``, ``SHA-256``."""
    return _TERM.is_all_of(value)
