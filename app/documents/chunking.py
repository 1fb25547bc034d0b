"""Sections cut into passages at their own borders: between paragraphs, else lines, else sentences. Linear.

A vector tells of one thing, so passages are short; of a long table each passage has the head, and an item of a list
stays whole, so that a passage says by itself what its lines are about.
"""

import re
from collections.abc import Iterator, Sequence

from app.documents.parsed_document import Passage, Section
from app.text.sentences import sentences

PASSAGE_CHARS = 600
"""A passage ends before the paragraph that would make it longer."""
SECTION_CHARS = 900
"""A section up to this stays in one piece."""
WHOLE_CHARS = 1_400
"""A paragraph, item or listing up to this stays in one piece: it is what answers, and what is cited."""
BEGUN_SHARE = 0.4
"""A passage of less than this share of `PASSAGE_CHARS` takes in the beginning of a table or list that is cut."""
MAX_HEAD_CHARS = 240
"""A longer head of a table stands in the first passage alone: repeated, it would be what all of them say."""
MAX_TITLE_CHARS = 120
"""Of one heading in a place."""
MAX_DEPTH = 6
"""Headings in a place; of more the innermost."""
SUMMARY_CHARS = 200
MAX_LEAD = 4
"""Lines of a paragraph before which a table begins in it: a comment, a title."""

_ITEM = re.compile(r"[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)])[ ]")
"""How an item of a list begins, that stands in no other."""


def passages(name: str, sections: Sequence[Section]) -> Iterator[Passage]:
    """The passages of a document called ``name``, in order."""
    for section in sections:
        place = " > ".join([one_line(name), *(_cut(one_line(title)) for title in section.path[-MAX_DEPTH:])])
        for text in _pieces(section.text):
            yield Passage(place, text)


def summary(title: str, sections: Sequence[Section]) -> str:
    """A line about a document: its first sentences of prose, else the headings that it has."""
    for section in sections:
        for paragraph in _paragraphs(section.text):
            said = one_line(paragraph)
            if len(said) >= 20 and not said.startswith(("#", "|", "```", "~~~", "- ", "* ", "<", "[![")):
                return _shortened(said)
    headings = dict.fromkeys(one_line(title) for section in sections for title in section.path[:1])
    return _shortened("; ".join(list(headings)[:20]) or title)


def one_line(text: str) -> str:
    """``text`` without line breaks and runs of white space."""
    return " ".join(text.split())


def _cut(title: str) -> str:
    return title if len(title) <= MAX_TITLE_CHARS else f"{title[: MAX_TITLE_CHARS - 1]}…"


def _shortened(text: str) -> str:
    if len(text) <= SUMMARY_CHARS:
        return text
    head = text[:SUMMARY_CHARS]
    end = max(head.rfind(". "), head.rfind("。"))
    return head[: end + 1] if end > SUMMARY_CHARS // 3 else f"{head.rsplit(' ', 1)[0]}…"


def _pieces(text: str) -> Iterator[str]:
    whole = text.strip("\n").rstrip()
    if len(whole) <= SECTION_CHARS:
        if whole.strip():
            yield whole
        return
    held: list[str] = []
    chars = 0
    for paragraph in _paragraphs(whole):
        is_cut = len(paragraph) > PASSAGE_CHARS
        parts = [paragraph]
        if is_cut:
            room = PASSAGE_CHARS - chars if chars < BEGUN_SHARE * PASSAGE_CHARS else PASSAGE_CHARS
            parts = list(_parts(paragraph, room))
        for number, part in enumerate(parts):
            if held and (number or chars + len(part) > PASSAGE_CHARS):
                yield "\n\n".join(held)
                held, chars = [], 0
            held.append(part)
            chars += len(part)
    if held:
        yield "\n\n".join(held)


def _parts(paragraph: str, first: int) -> Iterator[str]:
    """A paragraph that is too long for a passage: the ``first`` part in so many characters."""
    lines = paragraph.split("\n")
    head = next((at for at in range(min(MAX_LEAD, len(lines) - 2)) if _is_head(lines[at], lines[at + 1])), None)
    if head is not None:
        yield from _rows(lines[:head], "\n".join(lines[head : head + 2]), _lines("\n".join(lines[head + 2 :])), first)
    elif any(map(_ITEM.match, lines)):
        yield from _joined((part for item in _items(lines) for part in _whole(item)), "\n", first)
    else:
        yield from _whole(paragraph)


def _whole(text: str) -> Iterator[str]:
    """In one piece up to `WHOLE_CHARS`, else by its lines."""
    if len(text) <= WHOLE_CHARS:
        yield text
    else:
        yield from _joined(_lines(text), "\n")


def _is_head(titles: str, rule: str) -> bool:
    """Whether two lines are the head of a Markdown table: the titles, and what separates them from the rows."""
    return "|" in titles and "|" in rule and "-" in rule and not rule.strip("|:- \t")


def _rows(lead: Sequence[str], head: str, rows: Iterator[str], first: int) -> Iterator[str]:
    """The rows of a table, each part under its head; the first behind the lines that stand above it, too."""
    begin = "\n".join([*lead, head, ""])
    again = f"{head}\n" if len(head) <= MAX_HEAD_CHARS else ""
    for part in _joined(rows, "\n", first - len(begin), PASSAGE_CHARS - len(again)):
        yield begin + part
        begin = again


def _items(lines: Sequence[str]) -> Iterator[str]:
    """The items of a list, each with the lines that go on with it."""
    held: list[str] = []
    for line in lines:
        if held and _ITEM.match(line):
            yield "\n".join(held)
            held = []
        held.append(line)
    yield "\n".join(held)


def _paragraphs(text: str) -> Iterator[str]:
    """Stretches between blank lines; a fenced listing is one, whatever blank lines it has."""
    held: list[str] = []
    fence = ""
    for line in text.split("\n"):
        bare = line.lstrip()
        mark = bare[:3]
        if fence:
            held.append(line)
            fence = "" if bare.startswith(fence) else fence
        elif mark in {"```", "~~~"}:
            held.append(line)
            fence = mark
        elif bare:
            held.append(line)
        elif held:
            yield "\n".join(held)
            held = []
    if held:
        yield "\n".join(held)


def _lines(paragraph: str) -> Iterator[str]:
    """The lines of a long paragraph; a long line by its sentences, and a long sentence by its words."""
    for line in paragraph.split("\n"):
        if len(line) <= PASSAGE_CHARS:
            yield line
        else:
            for sentence in _joined(sentences(line), " "):
                yield from _worded(sentence)


def _worded(text: str) -> Iterator[str]:
    at = 0
    while len(text) - at > PASSAGE_CHARS:
        space = text.rfind(" ", at + PASSAGE_CHARS // 2, at + PASSAGE_CHARS)
        end = space + 1 if space >= 0 else at + PASSAGE_CHARS
        yield text[at:end].strip()
        at = end
    yield text[at:].strip()


def _joined(parts: Iterator[str], between: str, first: int = PASSAGE_CHARS, most: int = PASSAGE_CHARS) -> Iterator[str]:
    """Neighbours together, up to ``most`` characters; the ``first`` of what comes up to so many."""
    held: list[str] = []
    chars = 0
    for part in parts:
        if held and chars + len(part) > first:
            yield between.join(held)
            held, chars, first = [], 0, most
        held.append(part)
        chars += len(part) + len(between)
    if held:
        yield between.join(held)
