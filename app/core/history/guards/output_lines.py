"""A tool output line by line, with what nobody reads taken out: progress bars, repetition, encoded and minified data.

What goes first is told by its form, which is the same in every language: a line that is drawn over, one that comes
again, one in which only a bar and a number move, characters without a space between them.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

LONG_LINE = 1_000
"""What is longer is looked at for data; it is cut at spaces if it is text."""
DENSE_SHOWN = 160
"""Characters that are kept at either end of a line of minified code."""
PIECE = 300
SAMPLE = 100_000
"""What a very long line or text is like is told by so much of it."""
_RUN = re.compile(r"(?:data:([\w.+/-]{1,60});base64,)?([A-Za-z0-9+/_-]{256,}+={0,2})")
_BINARY = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_MOVING = str.maketrans("", "", "0123456789.,:%=#>-*+|/\\[]() \tkKMGTBbis█▉▊▋▌▍▎▏▓▒░━╸╺─⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏●○◐◓◑◒")
_BAR = re.compile(r"\d{1,3}(?:\.\d+)? ?%|[█▓▒░━⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|(?<![=#])[=#]{4,}+[>\s]")
_TYPES = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("JVBERi0", "application/pdf"),
    ("UEsDB", "application/zip"),
    ("H4sI", "application/gzip"),
)
_SIGNATURES = (
    ("\x89PNG", "image/png"),
    ("%PDF-", "application/pdf"),
    ("PK\x03\x04", "application/zip"),
    ("\x7fELF", "application/x-elf"),
    ("GIF8", "image/gif"),
    ("\x1f\x8b", "application/gzip"),
)


class Entry(NamedTuple):
    """A line as it is shown, and the part of the text that it stands for: its end of line included."""

    start: int
    end: int
    shown: str

    @property
    def cost(self) -> int:
        """Characters that it takes, with its end of line."""
        return len(self.shown) + 1


def entries(text: str, start: int, end: int) -> Iterator[Entry]:
    """The lines of ``text`` from ``start`` to ``end``, in order. Linear."""
    last: Entry | None = None
    moving, again = "", 0
    has_bars = _BAR.search(text, start, min(end, start + SAMPLE)) is not None
    for entry in _lines(text, start, end):
        if last is not None:
            if entry.shown == last.shown and entry.shown:
                last = Entry(last.start, entry.end, last.shown)
                again += 1
                continue
            if moving and _moves(entry.shown) == moving:
                last = Entry(last.start, entry.end, entry.shown)  # of a bar that moves the newest state counts
                continue
            yield from _said(last, again)
        last, again = entry, 0
        moving = _moves(entry.shown) if has_bars else ""
    if last is not None:
        yield from _said(last, again)


def _said(entry: Entry, again: int) -> Iterator[Entry]:
    yield entry
    if again:
        yield Entry(entry.end, entry.end, f"[the line above {again:,} more times]")


def _moves(line: str) -> str:
    """What stands still in a line of progress; nothing for any other line."""
    return (line[:200].translate(_MOVING) or " ") if len(line) <= 400 and _BAR.search(line) else ""


def _lines(text: str, start: int, end: int) -> Iterator[Entry]:
    at = start
    while at < end:
        stop = text.find("\n", at, end)
        after = end if stop < 0 else stop + 1
        line = text[at : end if stop < 0 else stop]
        if len(line) > LONG_LINE:
            yield from _long(line, at, after)
        else:
            yield Entry(at, after, _drawn(line))
        at = after


def _drawn(line: str) -> str:
    """A line as a terminal leaves it: without colours, and with what was drawn last."""
    if "\x1b" in line:
        line = _ESCAPES.sub("", line)
    if "\r" in line:
        line = line.rstrip("\r\t ").rpartition("\r")[2]
    return _data_named(line) if len(line) >= 256 else line


def _long(line: str, start: int, end: int) -> Iterator[Entry]:
    """A long line: data as its type and size, minified code by its ends, text in pieces."""
    if _is_binary(line):
        yield Entry(start, end, f"[{_binary_type(line)}, {len(line):,} characters]")
        return
    if "\r" in line:
        line = line.rstrip("\r\t ").rpartition("\r")[2]
    named = _data_named(line)
    if len(named) <= LONG_LINE:
        yield Entry(start, end, named)
    elif named.count(" ") * 40 < len(named) and named.isascii():
        gone = len(named) - 2 * DENSE_SHOWN
        yield Entry(
            start, end, f"{named[:DENSE_SHOWN]} [... {gone:,} characters of this line ...] {named[-DENSE_SHOWN:]}"
        )
    elif named is line:
        yield from _pieces(line, max(start, end - len(line) - 1), end)
    else:
        yield Entry(start, end, f"{named[:LONG_LINE]} [... {len(named) - LONG_LINE:,} characters of this line ...]")


def _pieces(line: str, start: int, end: int) -> Iterator[Entry]:
    at = 0
    while at < len(line):
        stop = at + PIECE if len(line) - at > PIECE else len(line)
        if stop < len(line) and (space := line.rfind(" ", at + PIECE // 2, stop)) > 0:
            stop = space + 1
        yield Entry(start + at, end if stop == len(line) else start + stop, line[at:stop])
        at = stop


def _data_named(line: str) -> str:
    """Runs of base64 or hexadecimal digits as their type and size; the very same line where there is none."""
    return (
        _RUN.sub(_named, line)
        if _RUN.search(line, 0, SAMPLE) or _RUN.search(line, max(0, len(line) - SAMPLE))
        else line
    )


def _named(found: "re.Match[str]") -> str:
    run = found[2]
    if not (any(map(str.isdigit, run[:400])) or run[:1] == run[-2:-1] == "A"):
        return found[0]  # one very long word
    kind = found[1] or next((name for head, name in _TYPES if run.startswith(head)), "")
    is_hex = not kind and not run[:200].strip("0123456789abcdefABCDEF")
    size = len(run) // 2 if is_hex else len(run) * 3 // 4
    return f"[{kind + ', ' if kind else ''}{'hexadecimal' if is_hex else 'base64'} data of {size:,} bytes]"


def is_data(text: str, start: int, end: int) -> bool:
    """Whether a long line looks like data or minified code rather than text, by its beginning."""
    sample = text[start : min(end, start + 2_000)]
    return _is_binary(sample) or sample.count(" ") * 40 < len(sample)


def _is_binary(line: str) -> bool:
    sample = line[:2_000]
    return len(_BINARY.findall(sample)) * 10 > len(sample)


def _binary_type(line: str) -> str:
    return next((f"{kind} data" for head, kind in _SIGNATURES if line.startswith(head)), "binary data")
