"""Sections cut into passages at their own borders: between paragraphs, else lines, else sentences. Linear."""

from collections.abc import Iterator, Sequence

from app.documents.parsed_document import Passage, Section
from app.text.sentences import sentences

PASSAGE_CHARS = 900
"""A passage ends before the paragraph that would make it longer."""
WHOLE_CHARS = 1_400
"""A paragraph, table or listing up to this stays in one piece; so does a section."""
MAX_TITLE_CHARS = 120
"""Of one heading in a place."""
MAX_DEPTH = 6
"""Headings in a place; of more the innermost."""
SUMMARY_CHARS = 200


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
    if len(whole) <= WHOLE_CHARS:
        if whole.strip():
            yield whole
        return
    held: list[str] = []
    chars = 0
    for part in _parts(whole):
        if held and chars + len(part) > PASSAGE_CHARS:
            yield "\n\n".join(held)
            held, chars = [], 0
        held.append(part)
        chars += len(part)
    if held:
        yield "\n\n".join(held)


def _parts(text: str) -> Iterator[str]:
    """Paragraphs, none of them longer than `WHOLE_CHARS`."""
    for paragraph in _paragraphs(text):
        if len(paragraph) <= WHOLE_CHARS:
            yield paragraph
        else:
            yield from _joined(_lines(paragraph), "\n")


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


def _joined(parts: Iterator[str], between: str) -> Iterator[str]:
    """Neighbours together, up to `PASSAGE_CHARS`."""
    held: list[str] = []
    chars = 0
    for part in parts:
        if held and chars + len(part) > PASSAGE_CHARS:
            yield between.join(held)
            held, chars = [], 0
        held.append(part)
        chars += len(part) + len(between)
    if held:
        yield between.join(held)
