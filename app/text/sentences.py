"""Where sentences and clauses end: at ``.!?`` before white space, at ``。！？`` anywhere, and at line breaks.

A closing quotation mark or bracket goes with its sentence, unless the sentence goes on behind it ("Why?" she asked).
Any language that uses these marks. Of abbreviations a few are known, in front of a name or an example ("Dr.",
"e.g.").
"""

import re
from collections.abc import Callable, Iterator
from itertools import chain

# A run of marks is looked at once, from its first one on, however long it is.
_ABBREVIATIONS = ("M[rsx]", "Mrs", "[DHF]r", "Prof", "Sr", "Sra", r"e\.g", r"i\.e", r"z\.B", "vs")
_ABBREVIATED = "".join(rf"(?<!\b{word})" for word in _ABBREVIATIONS)
_SENTENCE_END = re.compile(
    rf"[。！？]++[”’」』）]*+|\n++|(?<![.!?]){_ABBREVIATED}[.!?]++(?:(?=\s|$)|[\"”’)]++(?=$|\s(?![a-z])))"
)
_CLAUSE_END = re.compile(rf"(?<![.!?;]){_ABBREVIATED}[.!?;]++(?=\s|$|[^\x00-\x7f])|[。！？；\n]")


def sentences(text: str) -> Iterator[str]:
    """The sentences of ``text`` in order, each with the marks that end it, without white space around it."""
    return _parts(text, _SENTENCE_END)


def clauses(text: str) -> Iterator[str]:
    """The same, cut at semicolons as well."""
    return _parts(text, _CLAUSE_END)


def without(text: str, is_gone: Callable[[str], bool]) -> str:
    """``text`` without the sentences for which ``is_gone`` is true; all else stays as it stands. Linear.

    Each sentence is cut where it stands: its words may be part of an earlier sentence, too.
    """
    kept, at = [], 0
    for start, end in _places(text, _SENTENCE_END):
        if is_gone(text[start:end]):
            kept.append(text[at:start])
            at = end
    return "".join([*kept, text[at:]]) if kept else text


def first_sentences(text: str, limit: int) -> str:
    """The sentences that ``text`` begins with, on one line, as many as ``limit`` characters hold; none in part.

    Of half a sentence nobody knows later what it said, and whether that is to be forgotten.
    """
    seen = text[: 4 * limit]
    whole = list(sentences(seen))
    if len(text) > len(seen):
        whole = whole[:-1]  # it may go on
    told = ""
    for sentence in whole:
        longer = " ".join(f"{told} {sentence}".split())
        if len(longer) > limit:
            break
        told = longer
    return told


def ends_in_question(text: str) -> bool:
    """Whether ``text`` ends in a question mark."""
    return text.rstrip().endswith(("?", "？"))


def _parts(text: str, ends: re.Pattern[str]) -> Iterator[str]:
    return (text[start:end] for start, end in _places(text, ends))


def _places(text: str, ends: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Where each part begins and ends, without the white space around it."""
    at = 0
    for end in chain((match.end() for match in ends.finditer(text)), (len(text),)):
        part = text[at:end]
        if bare := part.strip():
            start = at + len(part) - len(part.lstrip())
            yield start, start + len(bare)
        at = end
