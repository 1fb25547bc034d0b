"""The key of a wireless network that is told without a word for it: ``the wifi is oak-river-lamp-7``."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.detectors.seed_phrases import JOINING
from app.policy.features import form_of
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder

_VALUE = r"[\"'`“«「]?(?P<secret>[^\s\"'`“”«»「」,;，。；、()<>]{8,63})"
_IS = r"['’]s[ \t]{1,2}|[ \t]{1,2}(?:is|are|ist|lautet|est|c['’]est|es|é|è|uses|это)[ \t]{1,2}(?:now |still |just |jetzt |noch |ahora |agora )?|[ \t]{0,2}(?:[:：=]|->|→|是|は|—|–)[ \t]{0,2}"
_WIRELESS = Pattern(
    r"(?i)(?:^|[^a-z])(?:wi-?fi|wlan|wireless|вай-?фай|无线(?:网)?|ワイファイ)"
    rf"(?P<between>[^\n.!?:：;,，。=]{{0,40}}?)(?:{_IS}){_VALUE}(?P<behind>[^\n]{{0,2}})"
)
_KEY = Pattern(
    r"(?i)(?:wi-?fi|wlan|wireless|ssid|guest[ -]?net(?:work)?|gäste(?:netz|wlan)|réseau|вай-?фай|无线|访客网络)[^\n.!?。]{0,48}?[\s,，(:–-]"
    rf"(?:key|code|pw|schlüssel|clé|clave|chave|chiave|ключ)(?:{_IS}|[ \t]{{1,2}}){_VALUE}(?P<behind>[^\n]{{0,2}})"
)
_BEFORE_NAME = Pattern(
    r"(?i)(?:wi-?fi|wlan|wireless|guest[ -]?net(?:work)?|无线)[^\n.!?。]{0,48}?[\s,，:：(]"
    rf"{_VALUE}[\"'`”»」]?(?P<behind> (?:is|as|ist|als|est|es|é) (?:the|its|our|das|le|la|el|a) (?:wi-?fi )?(?:password|passwort|pass|pw|key|code|mot de passe|contraseña|clave|senha))"
)
_CALLED = re.compile(
    r"(?i)\b(?:called|named|name|ssid|network|heißt|namens|s['’]appelle|nom|llama|nombre|chama|nome)\b|叫|名|называется"
)
_KEY_BEHIND = re.compile(
    r"(?i)[\"'`”»」]?[ \t]?[,;.:，；。(–—-]?[ \t]{0,2}(?:and |with |und |mit |et |avec |y |con )?(?:the |its |your |das |der |le |la |el )?"
    r"(?:wi-?fi )?(?:key|password|passcode|passwort|kennwort|schlüssel|clé|mot de passe|clave|contraseña|密码|口令)(?![\w-])"
)
"""Goes on about the key behind a value: that was the network's name."""
_SSID = re.compile(
    r"(?i)(?:^|[_-])(?:[256]g(?:hz)?|2\.4g?|guest|gast|gäste|invit\w*|net|lan|wi-?fi|wlan|ext|tp|link|fritz|netgear)(?:$|[_-])"
    r"|^(?:802\.11|wpa|wep|tp-link|fritz|netgear|linksys|dlink|asus|vodafone|telekom)"
)
"""What names of networks and standards have in them."""
_PLAIN = re.compile(r"[^\W\d_]{2,16}(?:-[^\W\d_]{2,16}){1,6}(?P<number>-?\d{1,6})?")
_CHOSEN = re.compile(r"[A-Z_!@#$%&*+=?~^]")
"""What the names of products, written small, have not: ``mesh-pro-6e``."""
_LEAST_DIGITS = 3
_FORMS = frozenset(("mixed", "strong", "random", "numbered"))
_SAID_TEXT = (
    "to so up of in on by at as it is no non off out one too very down back over end all ready away under low high good bad best per "
    "zu am im da ab bis weiteres auf zur le la de du en et un sur hors à el al y se lo o hasta sin fuera a em do e fora sob "
    "well dual tri band mesh capable enabled now free only based friendly plug play hit miss fast slow quick solid"
)
_SAID = JOINING.union(_SAID_TEXT.split())
"""Parts of what is said with hyphens: up-to-date, not-so-good, state-of-the-art."""


def find(text: str) -> Iterator[Span]:
    """Words joined by hyphens, and what has a digit and no form of a network's name."""
    for match in _WIRELESS.finditer(text):
        is_name = _CALLED.search(match["between"] or "") or _KEY_BEHIND.match(text, match.span("secret")[1])
        if not is_name:
            yield from _key(text, match.span("secret"), match["behind"] or "")
    for match in _KEY.finditer(text):
        yield from _key(text, match.span("secret"), match["behind"] or "", is_named=True)
    for span in _BEFORE_NAME.spans(text, "secret"):
        yield from _key(text, span, "", is_named=True)


def _key(text: str, span: Span, behind: str, *, is_named: bool = False) -> Iterator[Span]:
    start, end = span
    value = text[start:end].rstrip(".?:")
    if is_placeholder(value) or _SSID.search(value):
        return
    plain = _PLAIN.fullmatch(value)
    if plain:
        parts = value.lower().split("-")
        ends = len(value) < end - start or not behind.strip() or behind[0] in ",;.!)\"'`”»」，。；、"
        said = sum(part in _SAID for part in parts)
        is_set = text[max(0, start - 4) : start].rstrip(" \t\"'`“«「")[-1:] in tuple(":：=→>")
        is_odd = 2 * said < len(parts) if plain["number"] or (is_named and is_set) else not said
        if value == value.lower() and is_odd and (plain["number"] or (ends and len(parts) > 2)):
            yield start, start + len(value)
    elif _is_chosen(value):
        yield start, start + len(value)


def _is_chosen(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    return (
        (_CHOSEN.search(value) is not None or (digits >= _LEAST_DIGITS and "-" not in value))
        and digits > 0
        and any(c.isalpha() for c in value)
        and form_of(value) in _FORMS
    )


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_WIRELESS, _KEY, _BEFORE_NAME)
