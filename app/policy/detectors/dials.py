"""The numbers that a dial is turned to: ``safe: left to 48, right to 17, left to 92``, ``保险箱：左48右17左92``.

Also with the number first: ``opens with 32 left, 7 right, 19 left``.
"""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_WAYS = r"(?:(?P<left>\b(?:left|links|gauche|izquierda)|左)|\b(?:right|rechts|droite|derecha)|右)"
_TURN = Pattern(rf"(?i){_WAYS}[^\d\n.!?。]{{0,24}}(?P<secret>\d{{1,3}})")
_NUMBER_FIRST = Pattern(
    rf"(?i)(?:^|[^\d.,:/-])(?P<secret>\d{{1,2}})(?:[ \t]{{1,2}}(?:to the|nach|à|a la) | (?:次|圈)|[ \t]{{0,2}}){_WAYS}"
)
_DIAL = Pattern(
    r"(?i)\bsafe\b|\bdial\b|combination|padlock|\block\b|\bvault\b|tresor|zahlenschloss|coffre|cadenas|caja fuerte|candado"
    r"|保险箱|保险柜|保險箱|密码|密碼|转盘|金庫|ダイヤル"
)
_LEAST_TURNS, _DIGITS = 3, 2
_BETWEEN, _AROUND = 32, 80
"""Characters between one turn and the next, and how far around them what is turned is named."""


def find(text: str) -> Iterator[Span]:
    """Three turns at least, each the other way than the one before, near a word for what has a dial."""
    yield from dict.fromkeys((*_turned(text, _TURN), *_turned(text, _NUMBER_FIRST)))


def _turned(text: str, pattern: Pattern) -> Iterator[Span]:
    turns: list[tuple[bool, Span]] = []
    for match in pattern.finditer(text):
        is_left, number = match["left"] is not None, match.span("secret")
        if number[1] - number[0] > _DIGITS:
            continue
        if turns and (turns[-1][0] == is_left or number[0] - turns[-1][1][1] > _BETWEEN):
            yield from _numbers(text, turns)
            turns = []
        turns.append((is_left, number))
    yield from _numbers(text, turns)


def _numbers(text: str, turns: Sequence[tuple[bool, Span]]) -> Iterator[Span]:
    if len(turns) < _LEAST_TURNS:
        return
    first, last = turns[0][1][0], turns[-1][1][1]
    if _DIAL.is_in(text[max(0, first - _AROUND) : last + _AROUND]):
        yield from (number for _, number in turns)


def signs() -> Sequence[Pattern]:
    """See `Detector`. Where the numbers come first, each but the last way is one of these turns, too."""
    return (_TURN,)
