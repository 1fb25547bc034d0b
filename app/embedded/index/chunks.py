"""Texts in the pieces that a search finds and a prompt has room for: a few sentences, never half of one."""

from collections.abc import Iterator
from typing import NamedTuple

from app.text.markdown import code_spans
from app.text.sentences import sentences

MAX_CHARS = 400
"""Longest piece. An answer is a sentence or two, and a prompt has room for ten such pieces of ten turns, or for two
long turns."""
WHOLE_CHARS = 600
"""A text up to this stays in one piece: cutting it in two would tell less in either."""


class _Part(NamedTuple):
    """A line, a sentence of a long line, or what had to be cut; ``text[start:end]``."""

    start: int
    end: int
    opens: bool
    """Begins something new: a heading, or a paragraph."""
    is_heading: bool


def pieces(text: str) -> list[str]:
    """Stretches of at most `WHOLE_CHARS` characters that together hold all of ``text``, in order, none twice.

    They end where a paragraph, a line or a sentence does, and no heading is parted from what stands under it; only a
    sentence that is longer than `MAX_CHARS` is cut, between words.
    """
    if len(text) <= WHOLE_CHARS:
        return [text.strip()] if text.strip() else []
    cuts: list[int] = []
    begin = end = 0
    heading = -1  # where a heading begins that nothing stands under yet
    for part in _parts(text):
        full = part.end - begin > MAX_CHARS
        if end > begin and (full or (part.opens and end - begin > MAX_CHARS // 2)):
            begin = heading if heading > begin and part.end - heading <= MAX_CHARS else part.start
            cuts.append(begin)
        heading = (heading if heading >= begin else part.start) if part.is_heading else -1
        end = part.end
    found = [text[start:stop].strip() for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return [piece for piece in found if piece]


def _parts(text: str) -> Iterator[_Part]:
    code = code_spans(text)
    at = start = 0
    blank = True
    for line in text.split("\n"):
        end = start + len(line)
        while at < len(code) and code[at][1] < start:
            at += 1
        in_code = at < len(code) and code[at][0] <= start
        if line.strip():
            is_heading = not in_code and line.startswith("#")
            opens = not in_code and (blank or is_heading)
            if len(line) <= MAX_CHARS:
                yield _Part(start, end, opens, is_heading)
            else:
                yield from _cut(text, start, end)
            blank = False
        else:
            blank = True
        start = end + 1


def _cut(text: str, start: int, end: int) -> Iterator[_Part]:
    """A long line at the ends of its sentences, and a long sentence between words."""
    at = start
    for sentence in sentences(text[start:end]):
        at = text.index(sentence, at)
        stop = at + len(sentence)
        while stop - at > MAX_CHARS:
            space = text.rfind(" ", at + MAX_CHARS // 2, at + MAX_CHARS)
            cut = space + 1 if space >= 0 else at + MAX_CHARS
            yield _Part(at, cut, opens=False, is_heading=False)
            at = cut
        yield _Part(at, stop, opens=False, is_heading=False)
        at = stop
