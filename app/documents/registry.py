"""The registry of document types. A new one is a file in ``types`` and a line here."""

from collections.abc import Mapping

from app.documents.parsed_document import DocumentType
from app.documents.types import html, markdown_text, pdf, plain_text, source_code

TYPES: tuple[DocumentType, ...] = (
    markdown_text.TYPE,
    plain_text.TYPE,
    html.TYPE,
    pdf.TYPE,
    source_code.TYPE,
)

BY_SUFFIX: Mapping[str, DocumentType] = {suffix: one for one in TYPES for suffix in one.suffixes}
BY_MEDIA_TYPE: Mapping[str, DocumentType] = {media: one for one in TYPES for media in one.media_types}

ARCHIVE_SUFFIX = ".zip"
ARCHIVE_TYPES = frozenset({"application/zip", "application/x-zip-compressed"})


def type_of(name: str, media_type: str = "") -> DocumentType | None:
    """The type of a file by its name, else by what the sender says that it is; None for one that is not known."""
    base = name.rsplit("/", 1)[-1].lower()
    stem, dot, suffix = base.rpartition(".")
    found = BY_SUFFIX.get(f".{suffix}") if dot else None
    return found or BY_SUFFIX.get(base) or (BY_SUFFIX.get(stem) if dot else None) or BY_MEDIA_TYPE.get(media_type)


def is_archive(name: str, begin: bytes, media_type: str = "") -> bool:
    """Whether it is a zip archive: by its first four bytes and its name or media type."""
    named = name.lower().endswith(ARCHIVE_SUFFIX) or media_type in ARCHIVE_TYPES
    return begin in {b"PK\x03\x04", b"PK\x05\x06"} and (named or type_of(name, media_type) is None)
