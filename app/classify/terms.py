"""What a linear model sees of a text: its words, pairs of words, first and last words, signs and a few marks.

A sign stands for a class of words, such as acts with side effects, failures or engineering objects
(``weights/signs.json``, English and Chinese), so that what was learnt of one word holds for all of its class. Words of
Chinese, Japanese and Korean are single characters and pairs of them. Quoted text and code count as a mark and not by
their words: "translate 'delete the file'" asks for no deletion.
"""

import json
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice, pairwise

from app.text.markdown import with_code_marked
from app.text.scripts import CJK, weight
from app.text.sentences import clauses

HEAD_CHARS, TAIL_CHARS = 2400, 1600
"""How much of a long text is read: a request stands before or after what was pasted with it, not in the middle."""
EMBEDDED_HEAD_CHARS, EMBEDDED_TAIL_CHARS = 300, 150
"""How much of it is embedded: the time that takes grows with the length, about 0.2 s for 450 characters."""
MAX_SENTENCES = 40
_LONGEST_SIGN = 4
"""Characters of the longest Chinese sign."""

_QUOTED = re.compile(
    r'"[^"\n]{2,400}"|“[^”\n]{1,400}”|「[^」\n]{1,400}」|『[^』\n]{1,400}』|«[^»\n]{1,400}»|„[^“”"\n]{1,400}[“”"]|‘[^’\n]{2,400}’'
)
_OPENING = frozenset('"“「『«„‘')
_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]{{1,40}}(?:['’][^\W\d_{CJK}]{{1,3}})?")
_MARKED = re.compile(r"#(\w+)")
_CODE = re.compile(r"`|\w/\w|\w_\w|\w\.\w{1,4}\b|\w\(\)")

CODE, QUESTION, QUOTE = "#code", "#question", "#quote"
"""Marks: something like a path, a file or an identifier; a question mark; quoted text."""
WORDS = "words"
"""What a term without a sign or mark is called."""
LENGTHS = ((12, "#brief"), (24, "#short"), (48, "#medium"))
"""Marks of texts with less than that weight: few words leave more to what was said before."""


def sample(text: str, head: int = HEAD_CHARS, tail: int = TAIL_CHARS) -> str:
    """The first ``head`` and the last ``tail`` characters of a longer text; a shorter one as it is."""
    return text if len(text) <= head + tail else f"{text[:head]}\n{text[-tail:]}"


def own_words(text: str) -> str:
    """``text`` with quotations and fenced code replaced by a mark each."""
    text = with_code_marked(text, " `` ")
    return text if _OPENING.isdisjoint(text) else _QUOTED.sub(" “” ", text)


def embeddable(text: str) -> str:
    """What of ``text`` is embedded: at most 451 characters."""
    return sample(own_words(sample(text)).strip(), EMBEDDED_HEAD_CHARS, EMBEDDED_TAIL_CHARS)


@lru_cache(maxsize=256)
def terms_of(text: str) -> frozenset[str]:
    """The terms of ``text``. Reads at most 4000 characters, in linear time."""
    own = own_words(sample(text).lower())
    found = {mark for mark, there in _marks(own) if there}
    for sentence in islice(clauses(own), MAX_SENTENCES):
        words = _WORD.findall(sentence)
        found.update(_in_order(_with_signs(words)))
    return frozenset(found)


@lru_cache(maxsize=2048)
def kind_of(term: str) -> str:
    """The name of the sign or mark in ``term``; `WORDS` where it is made of words alone."""
    mark = _MARKED.search(term)
    return mark[1] if mark else WORDS


def _in_order(words: list[str]) -> Iterator[str]:
    """Words, pairs, and what begins and ends the sentence."""
    if words:
        yield from words
        yield from (f"{first} {second}" for first, second in pairwise(words))
        yield from (f"^{words[0]}", f"^{' '.join(words[:2])}", f"{words[-1]}$")


def _with_signs(words: list[str]) -> list[str]:
    """``words`` with those that are a sign (an act, a failure, an engineering object) replaced by the sign's name."""
    signs, begin_signs = _signs()
    replaced, place = [], 0
    while place < len(words):
        word, length = words[place], 1
        sign = signs.get(word)
        for longer in range(min(_LONGEST_SIGN, len(words) - place), 1, -1) if word in begin_signs else ():
            if found := signs.get("".join(words[place : place + longer])):
                sign, length = found, longer
                break
        replaced.append(f"#{sign}" if sign else word)
        place += length
    return replaced


@cache
def _signs() -> tuple[dict[str, str], frozenset[str]]:
    """Which sign a word is, by ``weights/signs.json``; the first that lists it counts. And the characters that longer
    ones begin with."""
    listed = json.loads((files("app.classify") / "weights" / "signs.json").read_text(encoding="utf-8"))
    words = [(word, sign) for sign, languages in listed.items() for each in languages.values() for word in each]
    return dict(reversed(words)), frozenset(word[0] for word, _ in words if len(word) > 1)


def _marks(own: str) -> list[tuple[str, bool]]:
    size = weight(own[: LENGTHS[-1][0]].strip())
    return [
        (CODE, _CODE.search(own) is not None),
        (QUESTION, "?" in own or "？" in own),
        (QUOTE, "“”" in own),
        *((mark, size < below) for below, mark in LENGTHS),
    ]
