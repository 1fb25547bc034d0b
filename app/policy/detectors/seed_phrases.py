"""Seed phrases of wallets: twelve to twenty-four plain words behind a word for such a phrase."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern

_NAME = Pattern(
    r"(?i)seed ?phrase|(?:seed|recovery|backup|wallet) words|recovery phrase|secret phrase|backup phrase|mnemonic|wallet seed|"
    r"助记词|助憶詞|恢复短语|恢復短語|记忆词|シードフレーズ|リカバリーフレーズ|시드 구문|니모닉|frase semilla|frase de recuperação|"
    r"phrase de récupération|seed-phrase|сид-фраз|мнемоник|wiederherstellungsphrase"
)
_WORDS = re.compile(r"(?:\d{1,2}[.)]? {0,2})?[a-z]{3,8}(?:[ ,、\n]{1,3}(?:\d{1,2}[.)]? {0,2})?[a-z]{3,8}){11,23}")
_REACH = 400
"""Characters behind the name in which the whole phrase must stand."""
_COMMON_WORDS = (
    "the and for you your with that this from have are not was will can should must never them they it is of to in on"
)
_COMMON = frozenset(_COMMON_WORDS.split())


def find(text: str) -> Iterator[Span]:
    """The words. A sentence about seed phrases has words in it that no list for wallets has."""
    reached = 0
    for _, end in _NAME.spans(text):
        if end < reached:
            continue
        for run in _WORDS.finditer(text, end, min(len(text), end + _REACH)):
            words = re.findall("[a-z]+", run[0])
            first = next((at for at in range(len(words) - 11) if _COMMON.isdisjoint(words[at : at + 12])), None)
            if first is None:
                continue
            start = run.start() + [m.start() for m in re.finditer("[a-z]+", run[0])][first]
            yield start, run.end()
            reached = run.end()
            break


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_NAME,)
