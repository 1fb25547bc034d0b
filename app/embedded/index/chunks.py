"""Markdown and messages in pieces that a search can return (400 tokens, 80 of them shared, at Markdown boundaries)."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.text.markdown import lines as lines_with_code

MAX_CHARS = 1600
"""About 400 tokens at four characters each."""
OVERLAP_CHARS = 320


@dataclass(frozen=True, slots=True)
class _Block:
    text: str
    is_heading: bool


def chunk_markdown(text: str) -> list[str]:
    """Pieces of at most `MAX_CHARS` characters that together hold all of ``text``, in order.

    Pieces begin at a heading where one comes in the second half of a piece, else at a paragraph, else at a line; code
    fences
    stay whole where they fit. A piece that does not begin at a heading repeats the end of the one before it.
    """
    if len(text) <= MAX_CHARS:
        return [text.strip()] if text.strip() else []
    chunks: list[str] = []
    current: list[str] = []
    size = 0
    for block in _blocks(text):
        full = size + len(block.text) > MAX_CHARS
        if current and (full or (block.is_heading and size > MAX_CHARS // 2)):
            chunks.append("\n".join(current).strip())
            room = min(OVERLAP_CHARS, MAX_CHARS - len(block.text) - 1)
            current = [] if block.is_heading or room <= 0 else _tail(current, room)
            size = sum(len(part) + 1 for part in current)
        current.append(block.text)
        size += len(block.text) + 1
    chunks.append("\n".join(current).strip())
    return [chunk for chunk in chunks if chunk]


def _blocks(text: str) -> Iterator[_Block]:
    """Paragraphs, headings and fences, none longer than a chunk."""
    lines: list[str] = []
    for line, fenced in lines_with_code(text):
        heading = not fenced and line.startswith("#")
        if (heading or (not fenced and not line.strip())) and lines:
            yield from _pieces("\n".join(lines))
            lines = []
        if heading:
            yield from (_Block(piece.text, is_heading=True) for piece in _pieces(line))
            continue
        lines.append(line)
    if lines:
        yield from _pieces("\n".join(lines))


def _pieces(text: str) -> Iterator[_Block]:
    """``text`` cut at line ends, then at spaces, then anywhere, so that each piece leaves room for an overlap."""
    start, room = 0, MAX_CHARS - OVERLAP_CHARS
    while len(text) - start > room:
        cut = max(text.rfind("\n", start + room // 2, start + room), -1)
        if cut < 0:
            cut = text.rfind(" ", start + room // 2, start + room)
        end = cut + 1 if cut >= 0 else start + room
        yield _Block(text[start:end].rstrip("\n"), is_heading=False)
        start = end
    if text[start:].strip():
        yield _Block(text[start:], is_heading=False)


def _tail(parts: list[str], room: int) -> list[str]:
    """The last ``room`` characters, from a line or word boundary on where there is one."""
    tail = "\n".join(parts)[-room:]
    for mark in ("\n", " "):
        at = tail.find(mark)
        if 0 <= at < len(tail) // 2:
            tail = tail[at + 1 :]
            break
    return [tail] if tail.strip() else []
