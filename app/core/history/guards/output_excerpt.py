"""Of an output that is too long: its head, its tail, and what tells of failures between them. Pure and linear.

How much of the text each piece stands for is known to the character, so that a model can read on where it ends.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from app.core.history.guards.json_excerpt import json_excerpt, json_of
from app.core.history.guards.notices import missing
from app.core.history.guards.output_lines import LONG_LINE, Entry, entries, is_data
from app.core.messages.tokens import estimate_tokens

HEAD, TAIL = 0.35, 0.4
"""Shares of the room; what is left is for lines between them."""
WINDOW = 300_000
"""Characters at either end that are looked at line by line, at most, or twice as many as there is room for."""
AT_ONCE = 100_000
"""What is not longer, or not much longer than the room, is looked at as a whole: it may be noise alone."""
NOTICE_CHARS = 200
"""Kept for the line that says what is missing."""
_CUES = (
    "traceback", "panic", "fatal", "exception", "error", "assert", "failed", "failure", "exit code", "exit status",
    "exited with", "summary", "错误", "錯誤", "失败", "失敗", "异常", "異常", "ошибка", "エラー", "오류",
)  # fmt: skip
"""Programs say so in English, whatever their users speak; a few that do not. Where none is met, head and tail stay."""
_MOST_HITS = 60
_BEHIND = 6
"""Lines shown behind one that tells of a failure: a stack trace, a reason."""
_LINE_CHARS = 300
_LARGEST_GAP_MARK = "[...]"


class Excerpt(NamedTuple):
    """What is shown of a text, and how many of its characters are not."""

    text: str
    missing: int


def within_tokens(text: str, tokens: int, ref: str, whole: int | None = None) -> Excerpt:
    """An excerpt of ``text`` of at most ``tokens`` tokens (some hundred at least). ``whole``: the tokens of all of it,
    where they are known."""
    make = excerpt_of(text, ref)
    chars = max(1, len(text) * tokens // max(1, estimate_tokens(text) if whole is None else whole))
    while True:
        shown = make(chars)
        cost = estimate_tokens(shown.text)
        if cost <= tokens or chars < NOTICE_CHARS:
            return shown
        chars = min(chars * tokens // cost, chars - chars // 16 - 1)


def within_chars(text: str, chars: int, ref: str) -> Excerpt:
    """An excerpt of ``text`` of about ``chars`` characters and the line that says what is missing."""
    return excerpt_of(text, ref)(chars + NOTICE_CHARS)


def excerpt_of(text: str, ref: str) -> Callable[[int], Excerpt]:
    """What makes excerpts of ``text`` of so many characters. What was JSON stays JSON."""
    value = json_of(text)
    if value is not None:
        return lambda chars: Excerpt(*json_excerpt(value, len(text), chars, ref))
    failures = _Failures(text)
    return lambda chars: _text_excerpt(text, chars, ref, failures)


def _text_excerpt(text: str, chars: int, ref: str, failures: "_Failures") -> Excerpt:
    room = max(0, chars - NOTICE_CHARS)
    if len(text) <= 4 * room + AT_ONCE:
        lines = list(entries(text, 0, len(text)))
        if sum(entry.cost for entry in lines) <= room:
            return _with_notice(text, lines, (), (), ref)
    for_head, for_tail = int(room * HEAD), int(room * TAIL)
    head, tail = _head(text, for_head), _tail(text, for_tail)
    between = _between(failures, head, tail, room - _cost(head) - _cost(tail))
    left = room - _cost(head) - _cost(between) - _cost(tail)
    if left > room // 8:  # little tells of failures, so there is more room for both ends
        if _cost(head) > for_head // 2:  # else it ends because of noise
            head = _head(text, _cost(head) + left // 2)
        if _cost(tail) > for_tail // 2:
            tail = _tail(text, _cost(tail) + left // 2)
        start, end = _gap(text, head, tail)
        between = [entry for entry in between if start <= entry.start < end]
    start, _ = _gap(text, head, tail)
    return _with_notice(text, head, between, [entry for entry in tail if entry.start >= start], ref)


def _head(text: str, room: int) -> list[Entry]:
    end = _line_end(text, max(WINDOW, 2 * room))
    return _first(entries(text, 0, end), room) or [Entry(0, room, text[:room])]


def _tail(text: str, room: int) -> list[Entry]:
    """The last lines within ``room``; more of the text is read only where much of it is noise."""
    window = room + room // 4 + 1_000
    while True:
        start = _line_start(text, len(text) - window) if window < len(text) else 0
        lines = list(entries(text, start, len(text)))
        tail = _first(reversed(lines), room)[::-1]
        if not tail:
            return [Entry(len(text) - room, len(text), text[len(text) - room :])]
        if (
            start == 0
            or window >= max(WINDOW, 2 * room)
            or (lines and len(tail) < len(lines) and _cost(tail) > room // 2)
        ):
            return tail
        window *= 4


def _between(failures: "_Failures", head: Sequence[Entry], tail: Sequence[Entry], room: int) -> list[Entry]:
    start, end = _gap(failures.text, head, tail)
    return _telling(failures, start, end, room) if start < end else []


def _gap(text: str, head: Sequence[Entry], tail: Sequence[Entry]) -> tuple[int, int]:
    """Where what is missing begins and ends."""
    return head[-1].end if head else 0, tail[0].start if tail else len(text)


def _cost(lines: Iterable[Entry]) -> int:
    return sum([entry.cost for entry in lines])


def _with_notice(
    text: str, head: Sequence[Entry], between: Sequence[Entry], tail: Sequence[Entry], ref: str
) -> Excerpt:
    """The pieces with the line that says what is missing between head and tail."""
    kept = sum(min(entry.cost, entry.end - entry.start) for entry in (*head, *between, *tail))
    gone = max(1, len(text) - kept)
    notice = missing(gone, len(text), ref, head[-1].end if between or tail else 0)
    pieces = [entry.shown for entry in head]
    pieces.append(notice)
    at = head[-1].end if head else 0
    for entry in between:
        if entry.start > at:
            pieces.append(_LARGEST_GAP_MARK)
        pieces.append(entry.shown)
        at = entry.end
    if between and tail and tail[0].start > at:
        pieces.append(_LARGEST_GAP_MARK)
    pieces += [entry.shown for entry in tail]
    return Excerpt("\n".join(pieces), gone)


def _first(lines: Iterable[Entry], room: int) -> list[Entry]:
    taken: list[Entry] = []
    for entry in lines:
        room -= entry.cost
        if room < 0:
            break
        taken.append(entry)
    return taken


def _line_end(text: str, near: int) -> int:
    """The end of the line there; of a line of data however long it is, so that it is named as a whole."""
    if near >= len(text):
        return len(text)
    stop = text.find("\n", near)
    stop = len(text) if stop < 0 else stop + 1
    return stop if stop - near <= LONG_LINE or is_data(text, near, stop) else near


def _line_start(text: str, near: int) -> int:
    """The beginning of the line there; see `_line_end`."""
    begin = text.rfind("\n", 0, near) + 1
    return begin if near - begin <= LONG_LINE or is_data(text, begin, near) else near


def _telling(failures: "_Failures", start: int, end: int, room: int) -> list[Entry]:
    """The lines between ``start`` and ``end`` that tell of failures, with what follows them; the last ones first."""
    taken: dict[int, Entry] = {}
    seen: set[str] = set()
    for hit in sorted(failures.hits(start, end), reverse=True):
        for number, entry in enumerate(_from_line(failures.text, start, hit, end)):
            shape = "".join(character for character in entry.shown if character.isalpha())
            if entry.start in taken or (number == 0 and shape in seen):
                break
            room -= entry.cost + len(_LARGEST_GAP_MARK) + 1
            if room < 0:
                return sorted(taken.values(), key=lambda one: one.start)
            seen.add(shape)
            taken[entry.start] = entry
    return sorted(taken.values(), key=lambda one: one.start)


class _Failures:
    """Where a text tells of failures. What is not in it at all is looked for once, however often it is cut."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._cues: tuple[str, ...] | None = None
        self._searched = text

    def hits(self, start: int, end: int) -> set[int]:
        """Where the last cues of each kind stand between these places, one a line."""
        if self._cues is None:
            self._cues = self._present()
        text, hits = self._searched, set()
        for cue in self._cues:
            at, stop = text.rfind(cue, start, end), 0
            while at >= 0 and stop < _MOST_HITS:
                hits.add(at)
                stop += 1
                at = text.rfind(cue, start, max(start, text.rfind("\n", start, at)))
        return hits

    def _present(self) -> tuple[str, ...]:
        cues: Iterable[str] = _CUES
        if self.text.isascii():
            self._searched = self.text.lower()
        else:  # that could move the places, and takes long; so does looking for what is in no ASCII of it
            ascii_only = self.text.encode("ascii", "ignore").lower().decode("ascii")
            likely = (cue for cue in _CUES if not cue.isascii() or cue in ascii_only)
            cues = dict.fromkeys(form for cue in likely for form in (cue, cue.capitalize(), cue.upper()))
        return tuple(cue for cue in cues if cue in self._searched)


def _from_line(text: str, start: int, hit: int, end: int) -> Iterator[Entry]:
    """The line of a hit and the next ones, each within `_LINE_CHARS`."""
    begin = max(start, text.rfind("\n", max(start, hit - _LINE_CHARS), hit) + 1, hit - _LINE_CHARS)
    indent = len(text) if begin >= end else 0
    for number in range(_BEHIND):
        if begin >= end:
            return
        stop = text.find("\n", begin, min(end, begin + 10_000))
        stop = min(end, begin + _LINE_CHARS) if stop < 0 else stop
        line = text[begin:stop].rstrip("\r")
        if number == 0:
            indent = len(line) - len(line.lstrip())
        elif not line.strip() or (len(line) - len(line.lstrip()) <= indent and number > 1):
            return  # what belongs to it is indented, or stands right behind it
        yield Entry(begin, min(stop + 1, end), line[:_LINE_CHARS])
        begin = stop + 1
