"""What of a text is code or quotation, by the marks of Markdown: fences as in CommonMark, ``>`` and backticks."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FENCE_LINE = re.compile(r"^[ \t]*+(?P<mark>`{3,}+|~{3,}+)(?P<info>[^\n]*+)$", re.MULTILINE)
_INLINE = re.compile(r"`[^`\n]{1,500}`")
_BLOCK_INLINE = re.compile(r"```[^`]{0,4000}(?:```|\Z)")


class Fence(NamedTuple):
    """A line that can open or close a fenced code block (``` or ~~~), from its start to its end."""

    start: int
    end: int
    mark: str
    bare: bool
    """No info string, so it can close a code block."""


def fences(text: str) -> list[Fence]:
    """Every line of ``text`` that can open or close a fenced code block, however far it is indented."""
    found = []
    for line in _FENCE_LINE.finditer(text):
        mark, info = line.groups()
        if mark[0] == "~" or "`" not in info:
            found.append(Fence(line.start(), line.end(), mark, not info or info.isspace()))
    return found


def code_end(fences: Sequence[Fence], opening: int, length: int) -> tuple[int, int]:
    """Where the code block that opens at ``fences[opening]`` ends, and the index of the fence line after it.

    A block that nothing closes runs to the end of the text, at ``length``.
    """
    mark = fences[opening].mark
    for index in range(opening + 1, len(fences)):
        fence = fences[index]
        if fence.bare and fence.mark[0] == mark[0] and len(fence.mark) >= len(mark):
            return fence.end, index + 1
    return length, len(fences)


def code_spans(text: str) -> list[tuple[int, int]]:
    """Where the fenced code blocks of ``text`` stand, from the start of a line to the end of one."""
    spans: list[tuple[int, int]] = []
    found = fences(text)
    index = 0
    while index < len(found):
        start = found[index].start
        end, index = code_end(found, index, len(text))
        spans.append((start, end))
    return spans


def lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of ``text``, each with whether it belongs to a fenced code block."""
    code = iter(code_spans(text))
    span = next(code, None)
    start = 0
    for line in text.split("\n"):
        while span and span[1] < start:
            span = next(code, None)
        yield line, span is not None and span[0] <= start
        start += len(line) + 1


def own_lines(text: str) -> Iterator[str]:
    """The lines that somebody wrote as their own words: no fenced code, no quotations."""
    return (line for line, code in lines(text) if not code and not line.lstrip().startswith(">"))


def without_inline_code(line: str) -> str:
    """``line`` with a space for everything in backticks."""
    return _INLINE.sub(" ", line)


def with_code_marked(text: str, mark: str) -> str:
    """``text`` with ``mark`` for each code block, be it fenced or only in three backticks within a line."""
    pieces, position = [], 0
    for start, end in code_spans(text):
        pieces.append(text[position:start])
        position = end
    return _BLOCK_INLINE.sub(mark, mark.join([*pieces, text[position:]]))
