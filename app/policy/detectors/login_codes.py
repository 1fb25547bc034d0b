"""Codes that no name stands before, ``use 481 902 to sign in``, ``enter 48190 then pound``, and links that sign in."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_random

_CODE = r"(?P<secret>\d{3}[ -]\d{3,4}|\d{2}[ -]\d{2}[ -]\d{2}|\d{5,8})"
_IN = r"(?:sign(?:ing)?|log(?:ging)?)[ -]?(?:in|on)\b"
_USE = Pattern(
    rf"(?i)\b(?:use|enter|type|put in|punch in|paste)[ \t]+(?:(?:the |this |that |my )?(?:code|number|pin)[: ]+)?[\"'*]{{0,2}}{_CODE}[\"'*]{{0,2}}"
    rf"[ \t]+(?:to|for|when)[ \t]+(?:you |finish |complete |completing |finishing )?{_IN}"
)
_WITH = Pattern(
    rf"(?i)\b{_IN}[^\n.!?]{{0,30}}?\b(?:with|using|by)[ \t]+(?:the |this |that )?(?:code|number|pin)[: ]+[\"'*]{{0,2}}{_CODE}(?:[^\d-]|$)"
)
_CALLED = Pattern(
    rf"(?i)\b(?:access|security|confirmation|entry|magic)?[ ]?code (?:for|to) (?:your |the |my )?{_IN}[ \t]*(?:is|was|[:=：])[ \t]*[\"'*]{{0,2}}{_CODE}(?:[^\d-]|$)"
)
_KEYPAD = Pattern(
    r"(?i)\b(?:enter|type|punch in|key in|put in|tap in|tap)[ \t]+(?:(?:the |this |my )?(?:code|number) )?(?P<en>\d{4,8})"
    r"[ \t]?,?[ \t]+(?:then|and|followed by|plus)[ \t]+(?:then )?(?:press |hit |tap )?(?:the )?(?:pound|hash|star|off\b|#|\*)"
    r"|(?:^|\D)(?P<de>\d{4,8})[ \t]+(?:eingeben|eintippen|tippen|drücken)[^\n.!?\d]{0,30}(?:raute|sterntaste|#)"
    r"|(?:输入|輸入|按)[ \t]?(?P<zh>\d{4,8})[ \t]?(?:[,，]?(?:再按|然后按|然後按|加))?[ \t]?(?:#|井号|井號|井字键|星号|星號|\*)"
)
_KEY_FIRST = Pattern(
    r"(?i)\b(?:press|hit|push|tap|touch|dial)[ \t]+(?:the )?(?:(?:little|small|round|top|red|green|big) )?"
    r"(?:star|hash|pound|bell|#|\*)(?: (?:key|button|sign|symbol))?(?: once| twice)?,?[ \t]+(?:and )?then[ \t]+"
    r"(?:press |type |enter |dial |hit |key in )?(?P<en>\d{4,8})(?:$|[^\d:-])"
    r"|(?:^|\W)(?:raute|sterntaste|klingel)(?: drücken)?,? (?:und )?dann (?P<de>\d{4,8})(?:$|[^\d:-])"
    r"|按(?:一下|下|[两兩]下|住)?(?:[井星][号號]|[井米]字|门铃|門鈴|钥匙|[#*])(?:键|鍵|图标)?[ \t]?[,，、]?"
    r"(?:再|然后|然後|接着|接著|后|後)(?:按|输入?|輸入?|拨)?[ \t]?(?P<zh>\d{4,8})(?:$|[^\d:-])",
)
"""A key of the panel by the door, and then the code: ``press star and then 4471``."""
_PANEL = Pattern(
    r"(?i)(?:star|hash|pound|bell|#|\*)(?: (?:key|button|sign|symbol))?(?: once| twice)?,?[ \t]+(?:and )?then[ \t]"
    r"|(?:raute|sterntaste|klingel)(?: drücken)?,? (?:und )?dann |[号號字铃鈴匙键鍵标#*][ \t]?[,，、]?(?:再|然[后後]|接[着著]|[后後])"
)
"""Begins as the above does: a sign that is cheap to look for."""
_LINK = Pattern(
    r"(?i)https?://[^\s\"'<>]{3,200}?/(?:magic[-_]?(?:link|login|signin)?s?|login[-_]?link|sign[-_]?in[-_]?link|passwordless|one[-_]?time[-_]?login|email[-_]?login)"
    r"/(?:[a-z]{2,12}/)?(?P<secret>[A-Za-z0-9_.~-]{12,512})"
)
_QUERY = Pattern(
    r"(?i)https?://[^\s\"'<>?]{3,200}(?:log[-_]?in|sign[-_]?in|magic|verify|auth)[^\s\"'<>?]{0,60}\?(?:[^\s\"'<>]{0,200}&)?(?:code|t|k|otp)="
    r"(?P<secret>[A-Za-z0-9_.~-]{12,512})"
)
_SLUG = re.compile(r"[a-z]+(?:[-_.][a-z]+)*[-_.]?\d{0,6}")


def find(text: str) -> Iterator[Span]:
    """The codes, and the part of a link that a machine drew."""
    for pattern in (_USE, _WITH, _CALLED):
        yield from pattern.spans(text, "secret")
    for language in ("en", "de", "zh"):
        yield from _KEYPAD.spans(text, language)
        yield from _KEY_FIRST.spans(text, language)
    for pattern in (_LINK, _QUERY):
        yield from (span for span in pattern.spans(text, "secret") if _is_drawn(text[slice(*span)]))


def _is_drawn(value: str) -> bool:
    return is_random(value, 12) and not _SLUG.fullmatch(value)


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_USE, _WITH, _CALLED, _KEYPAD, _PANEL, _LINK, _QUERY)
