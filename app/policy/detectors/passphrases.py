"""Passphrases of several plain words without quotes around them: ``Passphrase: copper lantern walks north``."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from app.policy.detector import Span
from app.policy.detectors.seed_phrases import JOINING
from app.policy.linear_patterns import Pattern
from app.policy.signs import names

_NAME = Pattern(
    r"(?i)(?:pass ?phrase|phrase de passe|phrase secrète|frase de (?:contraseña|paso|acceso)|frase[- ]senha|frase segreta"
    r"|парольная фраза|кодовая фраза)[^\n.!?:=]{0,40}?"
    r"(?P<sign>[:：=→]|->| (?:is|was|lautet|ist|est|es|è|é|это) | ?(?:是|为|為))\s{0,3}"
)
_WORDS = re.compile(
    r"([a-zà-öø-ÿа-яё]{2,14}(?:[ -][a-zà-öø-ÿа-яё]{2,14}){2,9})(?=[ \t]*(?:$|[.,;!)\n，。；！）]))", re.MULTILINE
)
_REACH = 160
_LEAST_BEHIND_WORD = 4
"""Words at least behind a verb: a sentence goes on there, too."""
_OTHER = (
    "a an to too very still now only also just kept stored saved written known shared same changed in on at of by so if up out optional asked needed hidden empty "
    "words word letters spaces"
)


def find(text: str) -> Iterator[Span]:
    """Three words at least to the end of the clause, none of which joins a sentence or speaks about passphrases."""
    for match in _NAME.finditer(text):
        _, end = match.span()
        words = _WORDS.match(text, end, min(len(text), end + _REACH))
        if words is None:
            continue
        said = re.split("[ -]", words[1])
        least = 3 if match["sign"] in {":", "：", "=", "→", "->"} else _LEAST_BEHIND_WORD
        if len(said) >= least and _saying().isdisjoint(said):
            yield words.span(1)


@cache
def _saying() -> frozenset[str]:
    """Words of sentences, and of what is said about passphrases in them."""
    return JOINING.union(_OTHER.split(), names("talk", "not", "env", "fake", "secret", "is"))


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_NAME,)
