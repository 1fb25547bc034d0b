"""Markdown: a section for each heading. Block structure only; what stands within a line stays as it is written."""

from functools import cache
from typing import TYPE_CHECKING

from app.documents.decoding import decoded
from app.documents.parsed_document import Content, DocumentType, Section

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_LINE_CHARS = 100_000
"""A longer line is no heading."""


def parse(data: bytes, name: str) -> Content:
    """See `DocumentType.parse`. The title is the front matter's, else the first heading of the first level."""
    return of_text(decoded(data, name))


def of_text(text: str) -> Content:
    """The same of text."""
    front, body = _front_matter(text)
    sections = _sections(body)
    first = next((section.path[0] for section in sections if section.path), "")
    return Content(_field(front, "title") or first, text, [Section((), front), *sections] if front else sections)


def _sections(text: str) -> list[Section]:
    lines = text.split("\n")
    sections: list[Section] = []
    path: list[tuple[int, str]] = []
    begun = 0

    def end(at: int) -> None:
        body = "\n".join(lines[begun:at])
        if body.strip():
            sections.append(Section(tuple(title for _, title in path), body))

    tokens = _blocks().parse(text)
    for at, token in enumerate(tokens):
        if token.type != "heading_open" or token.map is None or token.level > 0:
            continue
        end(token.map[0])
        level = int(token.tag[1])
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, tokens[at + 1].content.strip().strip("#").strip()[:MAX_LINE_CHARS]))
        begun = token.map[1]
    end(len(lines))
    return sections


@cache
def _blocks() -> "MarkdownIt":
    """Blocks alone: what stands within lines is not looked at, which is where the time would go."""
    from markdown_it import MarkdownIt  # takes longer than to see that a folder is stored already

    return MarkdownIt("commonmark").disable(["inline", "reference"]).enable("table")


def _front_matter(text: str) -> tuple[str, str]:
    """YAML between two lines of dashes at the very beginning, and the rest."""
    if not text.startswith("---\n"):
        return "", text
    end = text.find("\n---\n", 3)
    return (text[4:end], text[end + 5 :]) if 0 <= end <= MAX_LINE_CHARS else ("", text)


def _field(front: str, name: str) -> str:
    for line in front.split("\n"):
        key, colon, value = line.partition(":")
        if colon and key.strip().lower() == name:
            return value.strip().strip("\"'")
    return ""


TYPE = DocumentType(
    name="Markdown",
    suffixes=frozenset({".md", ".markdown", ".mdx", ".mkd"}),
    media_types=frozenset({"text/markdown", "text/x-markdown"}),
    parse=parse,
)
