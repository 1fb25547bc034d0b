"""What an injected block looks like, and where one stands in a text.

What counts as a block when text is captured (contract, The injected block): a closed pair of our tags outside a fenced
code block, an opening tag without its end when one of our headings or marker lines follows, and a closing tag left
over from such a cut.

Tags stand at two levels. *Structural* tags have a line to themselves, as every writer of blocks puts them; they are
matched with each other first, so a tag inside a memory's sentence does not end the block, and a code fence inside the
block protects nothing. All other tags are matched as they come, and there a code fence does protect. A tag in backticks
of its own is somebody writing about it. Linear in the text.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from app.core.injection.markers import declared
from app.text.markdown import code_end, fences

CONTEXT_TAG = "openviking-context"
LEGACY_TAG = "relevant-memories"
"""The older form of the block: never written, always stripped."""
ASSIST_TAG = "ingest-reply-assist"
"""The note beside a pasted transcript; not stored, so it is stripped like the block."""
SESSION_TAG = "openviking-session"
"""What a session begins with, in the system prompt; stripped where it turns up elsewhere."""

TAG_NAMES = f"{CONTEXT_TAG}|{LEGACY_TAG}|{ASSIST_TAG}|{SESSION_TAG}"
# Possessive throughout: no input can make these patterns step back. Attributes hold no angle bracket, as in XML.
_TAG = re.compile(
    rf"<(?:(?<=\n<)(?P<first>))?\s*+(?P<close>/)?+\s*+(?P<name>{TAG_NAMES})(?=[\s/>])[^<>]*+>"
    r"(?:(?P<last>)(?=[ \t\r]*+(?:\n|\Z)))?",
    re.IGNORECASE,
)
_OPENING = re.compile(rf"<(?!\s*+/)\s*+(?:{TAG_NAMES})", re.IGNORECASE)
_CLOSING = re.compile(rf"<\s*+/\s*+(?:{TAG_NAMES})", re.IGNORECASE)
_CLOSING_ALONE = re.compile(rf"^[ \t]*+{_CLOSING.pattern}(?=[\s/>])[^<>]*+>[ \t\r]*+$", re.IGNORECASE | re.MULTILINE)
_ESCAPED_TAG = re.compile(
    rf"(?P<open>&lt;|&#60;|&#x3c;|\\u003c)(?P<tag>\s{{0,20}}/?+\s{{0,20}}(?:{TAG_NAMES})(?=[\s/>&\\])[^<>]{{0,200}}?)"
    r"(?P<close>>|&gt;|&#62;|&#x3e;|\\u003e)",
    re.IGNORECASE,
)


class _MarkerPatterns(NamedTuple):
    line: re.Pattern[str]
    here: re.Pattern[str]
    anywhere: re.Pattern[str]


def _markers() -> _MarkerPatterns:
    return _marker_patterns(declared())


@lru_cache(maxsize=4)
def _marker_patterns(lines: tuple[str, ...]) -> _MarkerPatterns:
    any_of = "|".join(map(re.escape, lines))
    return _MarkerPatterns(
        re.compile(rf"^[ \t]*+(?:{any_of})", re.MULTILINE), re.compile(rf"[ \t]*+(?:{any_of})"), re.compile(any_of)
    )


@dataclass(slots=True)
class _Tag:
    start: int
    end: int
    name: str
    closes: bool
    alone: bool
    """Nothing else on its line."""


@dataclass(slots=True)
class Cut:
    """A part of a text that is to go: a block, or (``stray``) a closing tag left over from one."""

    start: int
    end: int
    stray: bool = False


def first_tag(text: str) -> int:
    """Where the first tag stands, whatever it means; the length of the text when there is none."""
    tag = _TAG.search(text) or _TAG.search(unescaped(text))
    return tag.start() if tag else len(text)


def find_cuts(text: str) -> list[Cut]:
    """What is to be taken out of ``text``, in order and without overlap.

    Tags that came back with ``<`` and ``>`` as entities count where there are no others: inside a block that is whole
    they are what a memory says.
    """
    return _find_cuts(text) or (_find_cuts(plain) if (plain := unescaped(text)) != text else [])


def unescaped(text: str) -> str:
    """``text`` with our tags as they are where they were escaped; everything stands where it stood."""
    return _ESCAPED_TAG.sub(_as_tag, text)


def _as_tag(found: "re.Match[str]") -> str:
    return "<".ljust(len(found["open"])) + found["tag"] + ">".rjust(len(found["close"]))


def _find_cuts(text: str) -> list[Cut]:
    if not _may_hold_a_cut(text):
        return []
    scan = _Scan(text, _tags(text))
    scan.run()
    scan.cut_unclosed()
    return _merged(scan.cuts)


def _may_hold_a_cut(text: str) -> bool:
    """No without looking at each tag: an opening wants an end or a marker behind it, a closing an opening or a line."""
    if _OPENING.search(text):
        return bool(_CLOSING.search(text) or _markers().anywhere.search(text))
    return bool(_CLOSING_ALONE.search(text))


class _Scan:
    """One pass over tags and code fences, left to right; what it finds is in ``cuts``."""

    def __init__(self, text: str, tags: list[_Tag]) -> None:
        self.text = text
        self.tags = tags
        self.ends = _structural_ends(tags)
        self.cuts: list[Cut] = []
        self.code: list[tuple[int, int]] = []
        self.line_ended_after = 0
        """The end of a cut that a line break is known to follow: looked for once, however many tags come behind."""
        self.open: dict[str, list[int]] = {tag.name: [] for tag in tags}
        """Openings by name that wait for their end, as indexes into ``tags``."""

    def run(self) -> None:
        found = fences(self.text)
        tag, fence = 0, 0
        while tag < len(self.tags):
            if fence == len(found) or self.tags[tag].start < found[fence].start:
                tag = self._take(tag)
                continue
            if self.cuts and found[fence].start < self.cuts[-1].end:
                fence += 1
                continue
            start = found[fence].start
            end, fence = code_end(found, fence, len(self.text))
            self.code.append((start, end))
            while tag < len(self.tags) and self.tags[tag].start < end:
                tag += 1

    def cut_unclosed(self) -> None:
        """Cut opening tags that have no end but a marker of ours behind them: to the end of the text.

        Where a structural block of the same name follows, an inner opening took the end of this one; the cut stops
        there, so that what a person wrote behind it is not lost.
        """
        waiting = sorted(index for indexes in self.open.values() for index in indexes)
        markers = _markers()
        if not waiting or not markers.anywhere.search(self.text):
            return
        last, covered = self._last_marker(), 0
        for index in waiting:
            tag = self.tags[index]
            if tag.start >= covered and (tag.start < last or markers.here.match(self.text, tag.end)):
                covered = self._end_of_unclosed(index)
                self.cuts.append(Cut(tag.start, covered))

    def _end_of_unclosed(self, index: int) -> int:
        name = self.tags[index].name
        for inner in range(index + 1, len(self.tags)) if self.tags[index].alone else ():
            if inner in self.ends and self.tags[inner].name == name:
                return self.tags[self.ends[inner]].end
        return len(self.text)

    def _take(self, index: int) -> int:
        """Judge the tag at ``index`` and return the index of the next tag to judge."""
        tag = self.tags[index]
        waiting = self.open[tag.name]
        if not tag.closes:
            if index in self.ends:
                return self._cut_structural(index)
            waiting.append(index)
        elif waiting:
            self.cuts.append(Cut(self.tags[waiting.pop()].start, tag.end))
        elif tag.alone or self._cut_on_this_line(tag):
            self.cuts.append(Cut(tag.start, tag.end, True))
        return index + 1

    def _cut_structural(self, index: int) -> int:
        last = self.ends[index]
        inner = index
        while inner < last:  # a tag of the other name may open inside and end outside: both blocks are one
            inner += 1
            last = max(last, self.ends.get(inner, 0))
        self.cuts.append(Cut(self.tags[index].start, self.tags[last].end))
        return last + 1

    def _cut_on_this_line(self, tag: _Tag) -> bool:
        edge = self.cuts[-1].end if self.cuts else self.line_ended_after
        if edge != self.line_ended_after and self.text.find("\n", edge, tag.start) >= 0:
            self.line_ended_after = edge
        return edge != self.line_ended_after

    def _last_marker(self) -> int:
        """Where the last marker line outside code and outside what is cut begins; -1 without one."""
        hidden = iter(sorted([*self.code, *((cut.start, cut.end) for cut in self.cuts)]))
        span, last = next(hidden, None), -1
        for marker in _markers().line.finditer(self.text):
            while span and span[1] <= marker.start():
                span = next(hidden, None)
            if not span or marker.start() < span[0]:
                last = marker.start()
        return last


def _tags(text: str) -> list[_Tag]:
    """Every tag in order. One in backticks of its own is somebody writing about it, so it is none."""
    tags: list[_Tag] = []
    edge = 0
    for found in _TAG.finditer(text):
        start, end = found.span()
        first, close, name, last = found.groups()
        if last is None and text.startswith("`", end) and start and text[start - 1] == "`":
            continue
        alone = last is not None and (first is not None or _begins_line(text, edge, start))
        tags.append(_Tag(start, end, name.lower(), close is not None, alone))
        edge = end
    return tags


def _begins_line(text: str, edge: int, start: int) -> bool:
    """Whether blanks, and only they, stand before ``start`` on its line; what is before ``edge`` is no blank."""
    if start == 0:
        return True
    if text[start - 1] not in " \t":
        return False
    line = text.rfind("\n", edge, start) + 1
    return (line > 0 or edge == 0) and not text[line:start].strip()


def _structural_ends(tags: list[_Tag]) -> dict[int, int]:
    """For each opening tag alone on its line the index of its closing tag, nested pairs counted, by name.

    A structural opening that finds no structural end takes the plain closing tag that belongs to it, if any.
    """
    ends: dict[int, int] = {}
    matched: set[int] = set()
    for structural in (True, False):
        waiting: dict[str, list[int]] = {tag.name: [] for tag in tags}
        for index, tag in enumerate(tags):
            if (structural and not tag.alone) or index in matched:
                continue
            stack = waiting[tag.name]
            if not tag.closes:
                stack.append(index)
            elif stack:
                ends[stack[-1]] = index
                matched.update((stack.pop(), index))
    return {start: end for start, end in ends.items() if tags[start].alone}


def _merged(cuts: list[Cut]) -> list[Cut]:
    merged: list[Cut] = []
    for cut in sorted(cuts, key=attrgetter("start")):
        if merged and cut.start < merged[-1].end:
            merged[-1].end = max(merged[-1].end, cut.end)
            merged[-1].stray = merged[-1].stray and cut.stray
        else:
            merged.append(cut)
    return merged
