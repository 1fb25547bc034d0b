"""Text without a structure of its own: cut at blank lines."""

from app.documents.decoding import decoded
from app.documents.parsed_document import Content, DocumentType, Section


def parse(data: bytes, name: str) -> Content:
    """See `DocumentType.parse`."""
    text = decoded(data, name)
    return Content("", text, [Section((), text)])


TYPE = DocumentType(
    name="text",
    suffixes=frozenset(
        {".txt", ".text", ".rst", ".adoc", ".org", ".tex", ".log", ".csv", ".tsv", ".srt", ".vtt", ".po", "license"}
        | {"readme", "changelog", "authors", "notice", "contributing"}
    ),
    media_types=frozenset({"text/plain", "text/csv", "text/tab-separated-values", "text/x-rst"}),
    parse=parse,
)
