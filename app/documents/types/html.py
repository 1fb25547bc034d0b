"""HTML: what a reader sees, as Markdown. A streaming parser without a tree, so that depth costs nothing."""

import re
from html.parser import HTMLParser

from app.documents.decoding import decoded
from app.documents.parsed_document import Content, DocumentType, Refusal, Refused
from app.documents.types import markdown_text

MAX_DEPTH = 1_000
"""Elements within elements. No page that a person reads has more."""
_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "nav", "head"})
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())  # noqa: SIM905
_BLOCKS = frozenset(
    """
    address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
    header html legend li main ol p pre section summary table tbody td tfoot th thead tr ul
    """.split()  # noqa: SIM905 (quoted words would hide the words)
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_CHARSET = re.compile(rb"<meta[^<>]{0,200}?charset\s{0,5}=\s{0,5}[\"']?([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)


def parse(data: bytes, name: str) -> Content:
    """See `DocumentType.parse`. The title is the page's own, else its first heading."""
    reader = _Reader(name)
    reader.feed(_text(data, name))
    reader.close()
    found = markdown_text.of_text(reader.text())
    return Content(reader.title() or found.title, found.text, found.sections)


def _text(data: bytes, name: str) -> str:
    named = _CHARSET.search(data[:4096])
    if named:
        try:
            return data.decode(named.group(1).decode("ascii"), "replace").replace("\0", " ")
        except (LookupError, ValueError):
            pass
    return decoded(data, name)


class _Reader(HTMLParser):
    """Collects what is seen, block by block."""

    def __init__(self, name: str) -> None:
        super().__init__(convert_charrefs=True)
        self._name = name
        self._open: list[str] = []
        self._unseen = 0
        self._in_title = False
        self._title: list[str] = []
        self._pre = 0
        self._lists = 0
        self._line: list[str] = []
        self._prefix = ""
        self._blocks: list[str] = []

    def title(self) -> str:
        return " ".join("".join(self._title).split())

    def text(self) -> str:
        self._end_block()
        return "\n\n".join(self._blocks) + "\n"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser's
        if tag == "title" and not self._title:
            self._in_title = True
        if tag in _VOID:
            if tag == "br" and not self._unseen:
                self._line.append("\n")
            return
        if len(self._open) >= MAX_DEPTH:
            raise Refused(Refusal.UNSAFE, f"{self._name} has elements within elements more than {MAX_DEPTH} deep")
        self._open.append(tag)
        self._unseen += tag in _UNSEEN
        if self._unseen:
            return
        if tag in {"td", "th"}:
            self._line.append(" | ")
        elif tag in _BLOCKS:
            self._end_block()
            if tag in _HEADINGS:
                self._prefix = "#" * _HEADINGS[tag] + " "
            elif tag == "li":
                self._prefix = "  " * min(max(0, self._lists - 1), 6) + "- "
            elif tag in {"ul", "ol"}:
                self._lists += 1
            elif tag == "pre":
                self._pre += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag not in self._open:
            return
        while self._open:
            ended = self._open.pop()
            if ended in _UNSEEN:
                self._unseen -= 1
            elif not self._unseen and ended in _BLOCKS and ended not in {"td", "th"}:
                self._end_block()
                self._pre -= ended == "pre"
                self._lists -= ended in {"ul", "ol"}
            if ended == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        elif not self._unseen:
            self._line.append(data)

    def _end_block(self) -> None:
        said = "".join(self._line)
        self._line = []
        if self._pre:
            said = said.strip("\n")
            shown = f"```\n{said}\n```" if said.strip() else ""
        else:
            lines = (" ".join(line.split()) for line in said.split("\n"))
            shown = "\n".join(line for line in lines if line).strip(" |")
            if self._prefix.startswith("#"):
                shown = " ".join(shown.split())
        if shown:
            self._blocks.append(self._prefix + shown)
            self._prefix = ""


TYPE = DocumentType(
    name="HTML",
    suffixes=frozenset({".html", ".htm", ".xhtml"}),
    media_types=frozenset({"text/html", "application/xhtml+xml"}),
    parse=parse,
)
