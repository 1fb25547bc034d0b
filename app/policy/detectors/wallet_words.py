"""Recovery phrases of wallets that nothing names: twelve words and more of the English list of BIP-39.

Sentences have words that the list has not ("the", "and", "is"), so that a run of its words alone is a phrase when its
length is one of a phrase. Beside a word for wallets the length does not count: "... keep it safe" goes on with a word
of the list. Lists in the order of the alphabet are vocabulary.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from app.policy.detector import Span
from app.policy.detectors.seed_phrases import JOINING
from app.policy.linear_patterns import Pattern

_LEAST = 12
_SIZES = (12, 15, 18, 21, 24)
_JOINT = r"(?:[\s,，、;；|/\\\"'`“”\[\]•·–—-]{1,6}(?:\(?\d{1,2}[.):]{1,2}\s?|\d{1,2}\s)?)"
_RUN = Pattern(rf"(?:[A-Za-z]{{3,8}}{_JOINT}){{{_LEAST - 1},}}[A-Za-z]{{3,8}}")
_WORD = re.compile("[A-Za-z]+")
_WALLET = Pattern(
    r"(?i)wallet|ledger|trezor|metamask|mnemonic|seed|recovery|restore|backup|bip-?39|(?:twelve|1[258]|2[14]|twenty-four)[ -]words|"
    r"钱包|錢包|助记|助記|恢复|私钥|単語|ウォレット|지갑|кошел|кошельк|сид-?фраз|billetera|monedero|carteira|portefeuille|portafoglio"
)
_AROUND = 160


def find(text: str) -> Iterator[Span]:
    """Runs of such words that are as long as a phrase, or that stand near a word for wallets."""
    for start, end in _RUN.spans(text):
        run: list[Span] = []
        for word in _WORD.finditer(text, start, end):
            if word[0].lower() in _listed() and (word.start() > start or not text[start - 1 : start].isalnum()):
                run.append(word.span())
                continue
            yield from _phrase(text, run)
            run = []
        yield from _phrase(text, run)


def _phrase(text: str, run: list[Span]) -> Iterator[Span]:
    if len(run) < _LEAST:
        return
    start, end = run[0][0], run[-1][1]
    said = [text[a:b].lower() for a, b in run]
    around = text[max(0, start - _AROUND) : start] + "\n" + text[end : end + _AROUND]
    is_named = _WALLET.is_in(around) and len({*said}) > _LEAST // 2
    is_alone = len(run) in _SIZES and len({*said}) >= len(said) - 2 and JOINING.isdisjoint(said)
    if (is_named or is_alone) and said != sorted(said):
        yield start, end


@cache
def _listed() -> frozenset[str]:
    """The English list of BIP-39 (MIT)."""
    return frozenset((files("app.policy") / "weights" / "bip39.txt").read_text(encoding="utf-8").split())


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_RUN,)
