"""What a message says, line by line: what asks, what tells, and what only acknowledges. English and Chinese.

A summary without a model stands on this. Whether a sentence asks is the judgement that finds tasks, by words alone, and
whether it says anything at all is that of the recall query.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby

from app.classify.classifier import TASK_FROM, ByWords
from app.classify.fillers import is_no_query
from app.text.sentences import ends_in_question, sentences

MAX_LINE_CHARS = 240
"""Longest line; what tells is continued on another one, anything else is cut with an ellipsis."""
HEAD_CHARS, TAIL_CHARS = 6_000, 2_000
"""How much of a message is read: a long paste is told by its head and its end."""
_LEAST_CHARS = 4
_PAUSE = re.compile(r"[,;:，；：、] ?| ")
_STATED = re.compile(
    r"(?!\s*(?:if|when|whenever|since|because|as|once|while|after|before|unless|until|so)\b|\s*(?:如果|要是|当|因为|等))"
    r"[^,;:，；：]{0,200}?(?:\b(?:is|are|was|were|has|have)\b|'s\b|是|叫)[^,;:，；：]{1,200}[,;，；]",
    re.IGNORECASE,
)
"""A first clause that states something by itself: "my number is 5, call me there" is told, whatever follows."""
_SPECIFIC = re.compile(
    r"(?:(?<![^\W\d_])[^\W\d_]++)?+\d[\w.,:/%+-]*+|(?<=[^.!?\n] )[A-Z][\w'’-]++|(?<!\w)\w++[@/_][\w./@-]++"
    r"|[\"“「『《`][^\"”」』》`\n]{1,80}+"
)
"""What is hard to guess: numbers and dates, names (a capital inside a sentence), addresses, paths, quoted words.

A run of letters is tried once, from its beginning: a line of Chinese is one run.
"""


@dataclass(frozen=True, slots=True)
class Line:
    """One or more sentences of one kind on a line of at most `MAX_LINE_CHARS`, white space folded."""

    text: str
    asks: bool
    specifics: int
    """How many names, numbers, dates and the like stand in it."""


def lines_of(text: str) -> list[Line]:
    """The lines of a message in order, without acknowledgements and greetings. Linear in what is read of it."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    lines: list[Line] = []
    for asking, group in groupby(sentences(text), _kind):
        if asking is not None:
            lines += [Line(line, asking, specifics_in(line)) for line in _joined(list(group), whole=asking)]
    return lines


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, each without the mark that ends it, as far as they are long enough to say anything."""
    return [piece for sentence in sentences(text) if _LEAST_CHARS <= len(piece := sentence.rstrip(".!?。！？")) <= 2000]


def one_line(text: str, limit: int = MAX_LINE_CHARS) -> str:
    """``text`` on one line, cut to ``limit`` characters with an ellipsis."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit and len(text) <= limit * 4 else line[: limit - 1].rstrip() + "…"


def is_acknowledgement(text: str) -> bool:
    """Whether a text only acknowledges, greets or thanks, all of its sentences together."""
    return len(text) <= HEAD_CHARS and all(_kind(sentence) is None for sentence in sentences(text))


@lru_cache(maxsize=4096)
def _kind_of(sentence: str) -> bool | None:
    if is_no_query(sentence):
        return None
    stated = _STATED.match(sentence)
    return _asks(stated.group()[:-1] + sentence[-1] if stated and "please" not in sentence.lower() else sentence)


def _asks(sentence: str) -> bool:
    return ends_in_question(sentence) or _words().task(sentence).probability >= TASK_FROM


@cache
def _words() -> ByWords:
    return ByWords()


def _kind(sentence: str) -> bool | None:
    """True for one that asks, False for one that tells, None for one that says nothing."""
    return _kind_of(sentence[:MAX_LINE_CHARS] + sentence[-1:] if len(sentence) > MAX_LINE_CHARS else sentence)


def _joined(told: list[str], *, whole: bool) -> Iterator[str]:
    """The sentences on as few lines as they fit on; one that is too long is cut where ``whole``, else continued."""
    line = ""
    for sentence in told:
        sentence = " ".join(sentence.split())
        pieces = [one_line(sentence)] if whole else _pieces(sentence)
        for piece in pieces:
            if line and len(line) + 1 + len(piece) > MAX_LINE_CHARS:
                yield line
                line = piece
            else:
                line = f"{line} {piece}" if line else piece
    if line:
        yield line


def _pieces(sentence: str) -> list[str]:
    """The sentence cut at pauses into pieces that fit on a line."""
    pieces: list[str] = []
    while len(sentence) > MAX_LINE_CHARS:
        cut = max((pause.end() for pause in _PAUSE.finditer(sentence, MAX_LINE_CHARS // 2, MAX_LINE_CHARS)), default=0)
        pieces.append(sentence[: cut or MAX_LINE_CHARS].rstrip())
        sentence = sentence[cut or MAX_LINE_CHARS :]
    return [*pieces, sentence]


def specifics_in(line: str) -> int:
    """How many different names, numbers, dates and the like stand in ``line``."""
    return len({found.group() for found in _SPECIFIC.finditer(line)})
