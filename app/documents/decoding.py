"""Bytes as text. What is no text is refused, so that no binary file becomes passages."""

import codecs

from app.documents.parsed_document import Refusal, Refused

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""UTF-32's little-endian mark begins with UTF-16's."""


def decoded(data: bytes, name: str) -> str:
    """The text, by its byte order mark, else UTF-8, else Windows-1252; line ends as ``\\n``. Raises `Refused`."""
    encoding = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        if encoding:
            raise Refused(Refusal.UNREADABLE, f"{name} is no text in the encoding that it names") from None
        text = data.decode("cp1252", "replace")
    if "\0" in text:
        raise Refused(Refusal.UNKNOWN_TYPE, f"{name} is not text, although its name says so")
    return text.replace("\r\n", "\n").replace("\r", "\n")
