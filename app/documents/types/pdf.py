"""PDF, a section for each page; needs the extra ``pdf``."""

import io

from app.documents.parsed_document import Content, DocumentType, Refusal, Refused, Section

MAX_PAGES = 2_000
MAX_PAGE_CHARS = 200_000
"""Text of one page; the rest of it is left out."""


def parse(data: bytes, name: str) -> Content:
    """See `DocumentType.parse`."""
    try:
        import pypdf
        from pypdf.errors import PyPdfError
    except ImportError:
        how = "reading PDF needs the extra `pdf`: pip install 'openviking-sidecar[pdf]'"
        raise Refused(Refusal.UNKNOWN_TYPE, how) from None
    if not data[:1024].lstrip().startswith(b"%PDF-"):
        raise Refused(Refusal.UNREADABLE, f"{name} is no PDF")
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            raise Refused(Refusal.UNREADABLE, f"{name} is protected by a password")
        if len(reader.pages) > MAX_PAGES:
            raise Refused(Refusal.TOO_LARGE, f"{name} has {len(reader.pages)} pages; {MAX_PAGES} are the most")
        pages = [page.extract_text()[:MAX_PAGE_CHARS] for page in reader.pages]
        title = str((reader.metadata and reader.metadata.title) or "")
    except (PyPdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OSError) as error:
        raise Refused(Refusal.UNREADABLE, f"{name} is damaged: {type(error).__name__}") from error
    sections = [Section((f"page {number}",), text) for number, text in enumerate(pages, 1) if text.strip()]
    if not sections:
        raise Refused(Refusal.UNREADABLE, f"{name} holds no text; pages that are pictures can not be read")
    return Content(title.strip(), "\n\n".join(section.text for section in sections), sections)


TYPE = DocumentType(name="PDF", suffixes=frozenset({".pdf"}), media_types=frozenset({"application/pdf"}), parse=parse)
