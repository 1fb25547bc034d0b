"""Fingerprints: short hashes by which a host's message is known again, whether it comes alone or in a resent history.

A fingerprint covers who spoke, when (if the host says so), the cleaned text, the tool calls and the tool results. It
does not cover what hosts change between the end of a turn and the next prompt (as OpenClaw does): tool-call ids,
``details``, images, thinking, white space, and the marker lines around a host's internal context.
"""

import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence

from app.core.capture.storable_parts import clean_input
from app.core.cleaning.host_text import clean_tool_text
from app.core.injection.blocks import first_tag
from app.core.messages.content_blocks import ToolCall, ToolResult

_TIMED = "@"
_MARKER = re.compile(r"<<<[A-Z_]{1,64}>>>")


def content_fingerprint(role: str, said: str, calls: Iterable[ToolCall], results: Iterable[ToolResult]) -> str:
    """A fingerprint of what a message says alone, whenever it was said; ``said`` is its cleaned text."""
    parts = [role, _squeezed(said)]
    parts += [f"{call.name}({_canonical(call.arguments)})" for call in calls]
    parts += [_squeezed(clean_tool_text(result.text)) for result in results]
    return _hashed("\x1f".join(parts))


def timed_fingerprint(content: str, time: int | None) -> str:
    """A message's fingerprint from its content's (see `content_fingerprint`) and its time in epoch milliseconds."""
    return content if time is None else _TIMED + _hashed(f"{time} {content}")


def is_timed(fingerprint: str) -> bool:
    """True when the fingerprint's message carried a time, so that equal fingerprints mean the same message."""
    return fingerprint.startswith(_TIMED)


def known(fingerprints: Sequence[str | None], recorded: Sequence[str]) -> list[bool]:
    """For each of a host's messages: is it among the ``recorded`` ones (oldest first)?

    Messages with a time are compared as a multiset. Those without one only prove themselves in order: all of them where
    they stand in a row in the record, else the longest beginning of the host's list that is an end of the record (a
    host that resends its history), and nothing else, because equal words in two turns are two messages. Linear in both
    lengths.
    """
    timed = Counter(fingerprint for fingerprint in recorded if is_timed(fingerprint))
    untimed = [fingerprint for fingerprint in fingerprints if fingerprint and not is_timed(fingerprint)]
    aligned = _resent([fingerprint for fingerprint in recorded if not is_timed(fingerprint)], untimed)
    found = []
    for fingerprint in fingerprints:
        if fingerprint is None:
            found.append(False)
        elif is_timed(fingerprint):
            found.append(timed[fingerprint] > 0)
            timed[fingerprint] -= 1
        else:
            found.append(aligned > 0)
            aligned -= 1
    return found


def archived(
    fingerprints: Sequence[str | None], gone: Sequence[str], seen: Sequence[str] = (), *, cut_before: bool = False
) -> list[bool]:
    """For each of a host's messages: is it among the archived ones, ``gone`` (oldest first)?

    A message with a time is archived if one of the same time and content is. For the others ``seen`` is needed, the
    record of the whole session, which starts with ``gone``: the host's list is laid over all of it, so that equal words
    in a turn that is still live are not mistaken for archived ones. A host also has turns that failed and were never
    captured; so where it holds the whole record in order, the rest of it stands in between. Where it does not fit at
    all, it is laid over ``gone`` alone. Neither is tried when archived messages were taken out of it before
    (``cut_before``): then a fit would be chance. Linear.
    """
    timed = {fingerprint for fingerprint in gone if is_timed(fingerprint)}
    found = [fingerprint in timed for fingerprint in fingerprints]
    untimed = [index for index, fingerprint in enumerate(fingerprints) if fingerprint and not is_timed(fingerprint)]
    before = [fingerprint for fingerprint in gone if not is_timed(fingerprint)]
    if untimed and before:
        record = [fingerprint for fingerprint in seen if not is_timed(fingerprint)]
        if record[: len(before)] != before:
            record = before
        laid = _laid([fingerprints[index] or "" for index in untimed], len(before), record, cut_before=cut_before)
        for place in laid:
            found[untimed[place]] = True
    return found


def _laid(host: Sequence[str], archived_count: int, record: Sequence[str], *, cut_before: bool) -> Sequence[int]:
    """The places in ``host`` of the archived messages, which are the first ``archived_count`` of ``record``."""
    live = len(record) - archived_count
    if not cut_before and (places := _in_order(record, host)):
        return places[:archived_count]
    if laid := _overlap(record, host) if live else 0:
        return range(max(0, laid - live))
    return range(0 if cut_before else _overlap(record[:archived_count], host))


def _in_order(wanted: Sequence[str], items: Sequence[str]) -> list[int]:
    """The first places at which ``items`` holds all of ``wanted`` in order, others in between; none if it does not."""
    places: list[int] = []
    for place, item in enumerate(items):
        if len(places) < len(wanted) and item == wanted[len(places)]:
            places.append(place)
    return places if len(places) == len(wanted) else []


def _overlap(before: Sequence[str], after: Sequence[str]) -> int:
    """The length of the longest end of ``before`` that is a beginning of ``after``."""
    pattern = after[: len(before)]
    lengths = _matched(pattern, before[len(before) - len(pattern) :])
    return max(deque(lengths, maxlen=1), default=0)


def _resent(record: Sequence[str], host: Sequence[str]) -> int:
    """How many of the ``host``'s first messages stand in the record: all if it holds them in a row, else `_overlap`."""
    return len(host) if len(host) in _matched(host, record) else _overlap(record, host)


def _matched(pattern: Sequence[str], items: Sequence[str]) -> Iterator[int]:
    """For each of ``items`` how much of the beginning of ``pattern`` ends there, by the prefix function."""
    if not pattern:
        return
    borders = [0] * len(pattern)
    length = 0
    for index in range(1, len(pattern)):
        while length and pattern[index] != pattern[length]:
            length = borders[length - 1]
        length += pattern[index] == pattern[length]
        borders[index] = length
    matched = 0
    for item in items:
        while matched and (matched == len(pattern) or item != pattern[matched]):
            matched = borders[matched - 1]
        matched += item == pattern[matched]
        yield matched


def _hashed(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _squeezed(text: str) -> str:
    return "".join(_MARKER.sub("", text).split())


def _canonical(value: object) -> str:
    """Tool input as text that does not depend on the order of keys, nor on an injected block within."""
    try:
        text = _compact(value)
        return text if first_tag(text) == len(text) else _compact(clean_input(value))
    except (TypeError, ValueError, RecursionError):
        return "?"


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
