"""Memories and texts as lines of the addition: data, each on a line of its own."""

from collections.abc import Iterable, Iterator

from app.core.injection.fence import neutralise_line, neutralise_lines
from app.core.injection.session_start.section import Line
from app.core.memories.memory import Memory, said_the_same

MAX_LINE_CHARS = 400
"""Longest text of a line; the rest of a longer memory is found by recall."""


def memory_line(memory: Memory) -> Line:
    """``- text``."""
    return Line(f"- {shortened(memory.text)}", memory.id)


def text_lines(text: str) -> Iterator[Line]:
    """The lines of a Markdown text that say something, each as an item."""
    said = (line.strip().lstrip("#").strip().removeprefix("- ").removeprefix("* ") for line in text.split("\n"))
    for line in neutralise_lines([one[: 2 * MAX_LINE_CHARS] for one in said if one]):
        if line:
            yield Line(f"- {_cut(line)}")


def source_line(uri: str) -> Line:
    """``Source: <uri>``."""
    return Line(f"Source: {neutralise_line(uri)}", leads=True)


def shortened(text: str) -> str:
    """A text on one line, unable to be more than that."""
    return _cut(neutralise_line(text[: 2 * MAX_LINE_CHARS]))


def distinct(memories: Iterable[Memory]) -> Iterator[Memory]:
    """The memories without those that say what an earlier one says."""
    seen: set[str] = set()
    for memory in memories:
        said = said_the_same(memory.text)
        if said and said not in seen:
            seen.add(said)
            yield memory


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS].rstrip()} ..."
