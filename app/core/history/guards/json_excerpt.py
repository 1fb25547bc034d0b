"""An excerpt of JSON that is JSON: long texts by their ends, long lists by their first and last items."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json

from app.core.history.guards.notices import missing

LEAST_TEXT = 80
"""A text is cut no shorter than this."""
_LEFT_OUT = "[left out]"
_MAX_DEPTH = 40
_LEAST_MEMBER = 8
"""Characters that the shortest member of an object takes."""


def json_of(text: str) -> Any:
    """The object or array that ``text`` is; None for anything else."""
    ends = text[:64].lstrip()[:1] + text[-64:].rstrip()[-1:]
    if ends not in ("{}", "[]"):
        return None
    try:
        return from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError):  # the latter for half a surrogate pair, which hosts in JavaScript send
        return None


def json_excerpt(value: Any, chars: int, room: int, ref: str) -> tuple[str, int]:
    """``value``, written of ``chars`` characters, within about ``room``, with a member that says what is missing; and
    how many characters that is, about."""
    shown: Any = None
    share = room - 240
    for _ in range(5):
        shown = _shrunk(value, max(share, 0), 0)
        gone = max(1, chars - _size(shown, chars))
        written = _written(_noted(shown, missing(gone, chars, ref, 0)))
        if len(written) <= room or share <= 0:
            return written, gone
        share = min(share * room // len(written), share - 40)
    return _written(_noted([] if isinstance(value, list) else {}, missing(chars, chars, ref, 0))), chars


def _noted(value: Any, notice: str) -> Any:
    """With the notice where head and tail of a list meet, or as a member of an object."""
    if isinstance(value, list):
        place = next((i for i, item in enumerate(value) if isinstance(item, str) and item.startswith("[... ")), None)
        return (
            [notice if i == place else item for i, item in enumerate(value)] if place is not None else [*value, notice]
        )
    return {**value, _LEFT_OUT: notice}


def _shrunk(value: Any, room: int, depth: int) -> Any:
    if isinstance(value, str):
        return _text(value, room)
    if not isinstance(value, (list, dict)) or _size(value, room) <= room:
        return value
    if depth >= _MAX_DEPTH:
        return "[...]"
    return _list(value, room, depth) if isinstance(value, list) else _object(value, room, depth)


def _text(text: str, room: int) -> str:
    room = max(room, LEAST_TEXT)
    if len(text) + 2 <= room:
        return text
    mark = f" [... {len(text) - room:,} characters ...] "
    return f"{text[: room // 2]}{mark}{text[len(text) - room // 2 :]}"


def _list(items: list[Any], room: int, depth: int) -> list[Any]:
    """The first and last items that fit; where not even one does, the first and the last, made shorter."""
    head, tail = list(_fitting(iter(items), room // 2)), list(_fitting(reversed(items), room - room // 2))
    if not head and not tail:
        head = [_shrunk(items[0], room // 2, depth + 1)]
        tail = [_shrunk(items[-1], room // 2, depth + 1)] if len(items) > 1 else []
    gone = len(items) - len(head) - len(tail)
    mark = [f"[... {gone:,} of {len(items):,} items ...]"] if gone > 0 else []
    return [*head, *mark, *tail[::-1]]


def _fitting(items: Iterator[Any], room: int) -> Iterator[Any]:
    for item in items:
        room -= _size(item, room) + 2
        if room < 0:
            return
        yield item


def _object(members: dict[str, Any], room: int, depth: int) -> dict[str, Any]:
    """The members that are small as they are, and the others with equal shares of what is left."""
    most = room // _LEAST_MEMBER + 2
    names = list(members)
    if len(names) > most:
        names = [*names[: most // 2], *names[-(most // 2) :]]
    sizes = {key: _size(members[key], room) + len(key) + 6 for key in names}
    order = sorted(sizes, key=lambda key: sizes[key])
    kept: dict[str, Any] = {}
    left = room
    for number, key in enumerate(order):
        share = left // (len(order) - number)
        if share < min(sizes[key], len(key) + 20):
            continue
        kept[key] = members[key] if sizes[key] <= share else _shrunk(members[key], share - len(key) - 6, depth + 1)
        left -= min(sizes[key], share)
    shown = {key: kept[key] for key in names if key in kept}
    if len(shown) < len(members):
        shown["[...]"] = f"{len(members) - len(shown):,} of {len(members):,} members"
    return shown


def _size(value: Any, most: int) -> int:
    """Characters that ``value`` takes as JSON, about; counting ends where it is more than ``most``."""
    size = 0
    waiting = [value]
    while waiting and size <= most:
        one = waiting.pop()
        if isinstance(one, str):
            size += len(one) + 4
        elif isinstance(one, list):
            size += 2
            waiting += one[: most - size + 1]
        elif isinstance(one, dict):
            for key, item in one.items():
                size += len(key) + 6
                waiting.append(item)
                if size > most:
                    break
        else:
            size += len(str(one)) + 2
    return size


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
