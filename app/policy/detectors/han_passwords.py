"""Passwords of Chinese characters with digits behind them, ``WiFi密码是春风十里2024``: no space tells where they begin."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_NAMED = Pattern(
    r"(?:密码|密碼|口令|暗号|パスワード)(?:就|还|還|现在|現在)?(?:[ \t]{0,2}(?:是|为|為|叫|[:：=]|改成了?|换成了?|換成了?|设成了?|設成了?|设为|設為|は)[ \t]{0,2})"
    r"(?:[\"“「『'](?P<quoted>\p{Han}{2,12}\d{1,8})[\"”」』']|(?P<bare>\p{Han}{2,12}\d{2,8})(?:[\s，。；！、,;!)）]|$))"
)
_SAYING = frozenset("的了在于於有位月年个個第约約超到过過至共和或与與错錯含前后後")
"""Characters that join a sentence, where one is more likely than a password."""


def find(text: str) -> Iterator[Span]:
    """What stands in quotes, or to the end of the clause."""
    for match in _NAMED.finditer(text):
        for name in ("quoted", "bare"):
            start, end = match.span(name)
            if start >= 0 and (name == "quoted" or _SAYING.isdisjoint(text[start:end])):
                yield start, end


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_NAMED,)
