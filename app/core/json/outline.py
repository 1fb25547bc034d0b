"""Where the members of a large JSON object stand, found without parsing it.

A host's messages can be tens of megabytes of tiny values. What is needed to answer in time (who asks, until when, and
the host's own messages as they are) must not wait for a parser. Bytes are looked at in slices by C code, so that other
threads get their turn. What stands between brackets is not checked: a parser has the last word. Linear.
"""

import json
import re
from itertools import accumulate, count
from operator import sub
from typing import NamedTuple

MAX_DEPTH = 500
"""Levels of nesting, give or take a few; Python's own parser and writer stop a little below a thousand."""
MAX_MEMBERS, MAX_NAME_BYTES, MAX_NUMBER_BYTES = 1_000, 1_000, 1_000
"""What the outermost object may have: many times what any host sends, and read in no time."""

_SLICE = 128 * 1024
_BLANK = rb"[ \t\n\r]*+"
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_QUOTE = re.compile(rb'"')
_COLON = re.compile(_BLANK + rb":" + _BLANK)
_START = re.compile(rb"(?:\xef\xbb\xbf)?" + _BLANK + rb"\{" + _BLANK)
_PLAIN = re.compile(rb'[^\s,\]}\[{":]++')
_NEXT = re.compile(_BLANK + rb"(?:,(?=" + _BLANK + rb'")|(?=\}))' + _BLANK)
_END = re.compile(rb"\}" + _BLANK + rb"\Z")
_TOKENS = re.compile(rb"[\[\]{}]|" + _STRING, re.DOTALL)
_OTHERS = bytes(set(range(256)) - set(b'[]{}"'))
_UP, _DOWN = b"\2", b"\0"
_STEPS = bytes.maketrans(b"[{]}", _UP * 2 + _DOWN * 2)
"""A bracket as one more than what it adds to the depth: bytes are not negative."""
_RUNS = re.compile(rb"\x02+|\x00+")
_ROUNDS = 4
_WORTH = 16
"""Another round is worth its time where the last one took out a pair for so many brackets."""


class NoOutline(ValueError):
    """The bytes are no JSON object; the text says what is wrong."""


class Member(NamedTuple):
    """A member of the outermost object; its value is ``body[start:end]``."""

    key: str
    start: int
    end: int


def outline(body: bytes) -> list[Member]:
    """The members of the object that ``body`` is, in order. Raises `NoOutline`."""
    place = _match(_START, body, 0, "not a JSON object").end()
    members: list[Member] = []
    while body[place : place + 1] != b"}":
        name_end = _string_end(body, place, "a name is expected")
        start = _match(_COLON, body, name_end, "a colon is expected").end()
        end = _value_end(body, start)
        if len(members) == MAX_MEMBERS or name_end - place > MAX_NAME_BYTES:
            raise NoOutline(f"an object may have {MAX_MEMBERS} members, with names of {MAX_NAME_BYTES} bytes")
        members.append(Member(_text(body[place:name_end]), start, end))
        place = _match(_NEXT, body, end, "a comma or the end is expected").end()
    _match(_END, body, place, "more than one value")
    return members


def _value_end(body: bytes, start: int) -> int:
    first = body[start : start + 1]
    if first in (b"[", b"{"):
        return _container_end(body, start)
    if first == b'"':
        return _string_end(body, start, "a value is expected")
    end = _match(_PLAIN, body, start, "a value is expected").end()
    if end - start > MAX_NUMBER_BYTES:
        raise NoOutline(f"a number may have {MAX_NUMBER_BYTES} digits")
    return end


def _string_end(body: bytes, start: int, otherwise: str) -> int:
    """Where the string that begins at ``start`` ends: looked for in slices, for a regular expression lets nobody in."""
    place = _match(_QUOTE, body, start, otherwise).end()
    while place < len(body):
        piece = _whole(body, place)
        if (end := _bare(piece).find(b'"')) >= 0:
            return place + end + 1
        place += len(piece)
    raise NoOutline("a string without an end")


def _whole(body: bytes, place: int) -> bytes:
    """A slice that does not end within an escape."""
    piece = body[place : place + _SLICE]
    if (len(piece) - len(piece.rstrip(b"\\"))) % 2:
        piece = body[place : place + _SLICE + 1]
    return piece


def _bare(piece: bytes) -> bytes:
    """The slice with other bytes for its escaped quotes."""
    return piece.replace(rb"\\", b"..").replace(rb"\"", b"..")


def _container_end(body: bytes, start: int) -> int:
    """Where the array or object that begins at ``start`` ends."""
    place, depth = start + 1, 1
    while place < len(body):
        whole = _bare(body[place : place + _SLICE])
        # A string that goes on behind the slice is left to the next one.
        tail = len(whole) - whole.rfind(b'"') if whole.count(b'"') % 2 else 0
        steps = _steps(whole[: len(whole) - tail])
        runs = [len(run) if run[:1] == _UP else -len(run) for run in _RUNS.findall(_unpaired(steps))]
        depths = list(accumulate(runs, initial=depth))
        if max(depths) > MAX_DEPTH:
            raise NoOutline("nested too deeply")
        if min(depths) <= 0:
            return _bracket(body, place, _first_zero(steps, depth))
        depth = depths[-1]
        if tail < len(whole):
            place += len(whole) - tail
        else:
            place = _string_end(body, place, "a string is expected")
    raise NoOutline("a bracket without its end")


def _steps(text: bytes) -> bytes:
    """The brackets outside strings, as steps. ``text`` has whole strings and no escapes."""
    marks = text.translate(_STEPS, _OTHERS)
    # Two quotes side by side are an empty string, or the border of two: either way nothing changes sides without them.
    marks = marks.replace(b'""', b"")
    return b"".join(marks.split(b'"')[::2])


def _first_zero(steps: bytes, depth: int) -> int:
    """How many steps it takes from ``depth`` to 0."""
    return list(map(sub, accumulate(steps, initial=depth), count())).index(0, 1)


def _unpaired(steps: bytes) -> bytes:
    """``steps`` without most of the brackets that open and close again: they lead nowhere."""
    for _ in range(_ROUNDS):
        before = len(steps)
        steps = steps.replace(_UP + _DOWN, b"")
        if before - len(steps) < before // _WORTH:
            break
    return steps


def _bracket(body: bytes, place: int, number: int) -> int:
    """The end of the ``number``-th bracket behind ``place``, counted from 1, strings left aside."""
    for token in _TOKENS.finditer(body, place):
        number -= token[0][:1] != b'"'
        if not number:
            return token.end()
    raise NoOutline("a bracket without its end")


def _match(pattern: re.Pattern[bytes], body: bytes, place: int, otherwise: str) -> re.Match[bytes]:
    found = pattern.match(body, place)
    if not found:
        raise NoOutline(f"{otherwise} (byte {place})")
    return found


def _text(quoted: bytes) -> str:
    try:
        text: str = json.loads(quoted)
    except ValueError as error:
        raise NoOutline(str(error)) from None
    return text
