"""Recovery phrases of wallets: twelve to twenty-four plain words behind a name for such a phrase.

The words are told by their form, in any language: small words of one run, none of them a word that sentences are
joined with. The lists of BIP-39 are not asked, since people tell phrases of other lists as well, and some from memory.
"""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.signs import names

_NAME = Pattern(
    r"(?i)" + "|".join(sorted(map(re.escape, names("phrase")), key=len, reverse=True)).replace(r"\ ", "[ -]?")
)
_JOINT = r"[ ,、，;/|\u3000\n\t-]{1,4}"
_NUMBER = r"(?:\(?\d{1,2}[.):]{0,2} {0,2})?"
_LETTER = r"[^\W\d_\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
_WORDS = re.compile(
    rf"{_NUMBER}(?:{_LETTER}{{3,9}}(?:{_JOINT}{_NUMBER}{_LETTER}{{3,9}}){{11,23}}"
    rf"|[\u3040-\u30ff]{{2,9}}(?:{_JOINT}{_NUMBER}[\u3040-\u30ff]{{2,9}}){{11,23}}"
    rf"|[\uac00-\ud7af]{{2,6}}(?:{_JOINT}{_NUMBER}[\uac00-\ud7af]{{2,6}}){{11,23}}"
    rf"|[\u4e00-\u9fff](?:{_JOINT}{_NUMBER}[\u4e00-\u9fff]){{11,23}})"
)
_WORD = re.compile(r"[^\W\d_]+")
_REACH = 500
"""Characters behind the name in which the whole phrase must stand."""
_SIZES = (12, 15, 18, 21, 24)
_OPENING = ":：\n\"'`“„«「『(（=-—"
_JOINING_WORDS = (
    "the and for you your with that this from have are not was will can should must never them they but when then "
    "die der das und ist nicht ein eine mit auf für sie ich wir aber oder wenn dass wie von dem den des auch nur "
    "que los las con por una para como pero este esta sus más muy del cuando donde porque debe "
    "les est pas pour dans avec sur vous qui mais sont cette votre doit ils nous une "
    "che non per sono della nel come più questo questa deve gli dei alla anche "
    "não com uma mas seu sua são deve quando nos das dos "
    "není jsou nebo ale když jako pro tak jen být které který vaše "
    "nie jest lub oraz tego jak dla tylko które "
    "это как что для или если она они все при так его"
)
JOINING = frozenset(_JOINING_WORDS.split())
"""Words of three letters and more that sentences are joined with, in the languages that have lists of their own."""


def find(text: str) -> Iterator[Span]:
    """The words. A sentence about seed phrases has words in it that no list for wallets has."""
    reached = 0
    for _, end in _NAME.spans(text):
        if end < reached:
            continue
        for run in _WORDS.finditer(text, end, min(len(text), end + _REACH)):
            if phrase := _phrase(text, run.start(), run.end()):
                yield phrase
                reached = run.end()
                break


def _phrase(text: str, start: int, end: int) -> Span | None:
    """The words of a run from the first on behind which no word joins a sentence."""
    words = [word.span() for word in _WORD.finditer(text, start, end)]
    said = [text[a:b] for a, b in words]
    first = next((at for at in range(len(said) - 11) if JOINING.isdisjoint(map(str.lower, said[at : at + 12]))), None)
    if first is None or not _is_list(said[first:]):
        return None
    before = text[:start].rstrip(" 1.)(")[-1:] if first == 0 else ""
    if len(said) - first not in _SIZES and before not in tuple(_OPENING):
        return None
    return words[first][0], end


def _is_list(words: list[str]) -> bool:
    """Whether the words are written alike, as those of a sentence with a capital or a name are not, and differ."""
    alike = any(all(map(written, words[1:])) for written in (_is_small, str.istitle, str.isupper))
    return alike and 3 * len({*words}) >= len(words)


def _is_small(word: str) -> bool:
    return word == word.lower()


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_NAME,)
