"""The statements in the body of a memory file: list items with the indented lines below them, and lines of their own.

::

    # Preferences

    - I prefer the dark theme.
    - Commit messages:

      imperative, at most 72 characters
"""

from collections.abc import Iterator
from typing import NamedTuple

_INDENT = "  "
_BULLETS = ("- ", "* ", "+ ")


class Block(NamedTuple):
    """Lines of a body that belong together; ``text`` is the statement in them, empty for headings and blank lines."""

    lines: tuple[str, ...]
    text: str = ""


def blocks(body: str) -> Iterator[Block]:
    """All lines of ``body`` in order, cut into statements and what stands between them."""
    lines: list[str] = []
    blank: list[str] = []
    for line in body.split("\n"):
        if lines and not line.strip():
            blank.append(line)
        elif lines and line.startswith(_INDENT):
            lines += [*blank, line]
            blank = []
        else:
            if lines:
                yield _statement(lines)
            yield from (Block((one,)) for one in blank)
            lines, blank = [], []
            if line.strip() and not line.startswith("#"):
                lines = [line]
            else:
                yield Block((line,))
    if lines:
        yield _statement(lines)
    yield from (Block((one,)) for one in blank)


def statements(body: str) -> Iterator[str]:
    """The statements in ``body``, in order."""
    return (block.text for block in blocks(body) if block.text)


def item(text: str) -> str:
    """A statement as a list item; `blocks` reads it back as `tidy` leaves it."""
    first, *rest = text.split("\n")
    return "\n".join([f"- {first}", *(f"{_INDENT}{line}" if line else "" for line in rest)])


def tidy(text: str) -> str:
    """``text`` as a file can hold it: line breaks of one kind, no white space at the ends of lines or of the text."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _statement(lines: list[str]) -> Block:
    first, *rest = lines
    said = [_without_bullet(first.strip()), *(line[len(_INDENT) :].rstrip() for line in rest)]
    return Block(tuple(lines), "\n".join(said).strip())


def _without_bullet(line: str) -> str:
    return line[2:].strip() if line.startswith(_BULLETS) else line
