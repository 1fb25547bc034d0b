"""The numbers that a dial is turned to: ``safe: left to 48, right to 17, left to 92``, ``保险箱：左48右17左92``."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_TURN = Pattern(
    r"(?i)(?:(?P<left>\b(?:left|links|gauche|izquierda)|左)|\b(?:right|rechts|droite|derecha)|右)"
    r"[^\d\n.!?。]{0,24}(?P<secret>\d{1,3})"
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
    turns: list[tuple[bool, Span]] = []
    for match in _TURN.finditer(text):
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
    """See `Detector`."""
    return (_TURN,)
