"""Where sentences and clauses end: at ``.!?`` before white space, at ``。！？`` anywhere, and at line breaks.

A closing quotation mark or bracket goes with its sentence, unless the sentence goes on behind it ("Why?" she asked).
Any language that uses these marks. Abbreviations are not known: "e.g. this" is two sentences.
"""

import re
from collections.abc import Iterator

# A run of marks is looked at once, from its first one on, however long it is.
_SENTENCE_END = re.compile(r"[。！？]++[”’」』）]*+|\n++|(?<![.!?])[.!?]++(?:(?=\s|$)|[\"”’)]++(?=$|\s(?![a-z])))")
_CLAUSE_END = re.compile(r"(?<![.!?;])[.!?;]++(?=\s|$|[^\x00-\x7f])|[。！？；\n]")


def sentences(text: str) -> Iterator[str]:
    """The sentences of ``text`` in order, each with the marks that end it, without white space around it."""
    return _parts(text, _SENTENCE_END)


def clauses(text: str) -> Iterator[str]:
    """The same, cut at semicolons as well."""
    return _parts(text, _CLAUSE_END)


def ends_in_question(text: str) -> bool:
    """Whether ``text`` ends in a question mark."""
    return text.rstrip().endswith(("?", "？"))


def _parts(text: str, ends: re.Pattern[str]) -> Iterator[str]:
    start = 0
    for end in ends.finditer(text):
        if part := text[start : end.end()].strip():
            yield part
        start = end.end()
    if part := text[start:].strip():
        yield part
