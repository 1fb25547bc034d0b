"""Captured parts within what every store takes: texts of bounded length, and tool input as plain JSON."""

import json
import math
from dataclasses import replace
from itertools import chain
from typing import Any

from app.core.cleaning import storable
from app.core.turns import Part, TextPart

MAX_TEXT_CHARS = 4 * 1024 * 1024 - 1024
"""Longest text stored in one piece. OpenViking refuses texts over 4 Mi characters (rig, Sessions and messages)."""

MAX_INPUT_DEPTH = 64
"""Levels of a tool input that are stored as structure; what lies deeper becomes JSON text."""


def in_pieces(parts: list[Part]) -> list[tuple[Part, ...]]:
    """The parts as messages of at most `MAX_TEXT_CHARS` each; a text or output that is longer goes on in the next."""
    messages: list[tuple[Part, ...]] = []
    current: list[Part] = []
    room = MAX_TEXT_CHARS
    for part in chain.from_iterable(map(_split, parts)):
        size = len(part.text) if isinstance(part, TextPart) else len(part.output or "")
        if current and size > room:
            messages.append(tuple(current))
            current, room = [], MAX_TEXT_CHARS
        current.append(part)
        room -= size
    return [*messages, tuple(current)] if current else messages


def _split(part: Part) -> list[Part]:
    text = part.text if isinstance(part, TextPart) else part.output or ""
    if len(text) <= MAX_TEXT_CHARS:
        return [part]
    pieces = [text[at : at + MAX_TEXT_CHARS] for at in range(0, len(text), MAX_TEXT_CHARS)]
    if isinstance(part, TextPart):
        return [TextPart(piece) for piece in pieces]
    return [
        replace(part, id=f"{part.id}.{index}" if index else part.id, output=piece) for index, piece in enumerate(pieces)
    ]


def storable_value(value: Any) -> Any:
    """Tool input as plain JSON that every store takes: clean text, no NaN, JSON text where nested too deeply."""
    try:
        return _storable_tree(value, MAX_INPUT_DEPTH)
    except RecursionError:
        return "[nested too deeply]"


def _storable_tree(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if not isinstance(value, (dict, list)):
        return value
    if depth == 0:
        return storable(json_text(value))
    if isinstance(value, list):
        return [_storable_tree(item, depth - 1) for item in value]
    return {storable(key): _storable_tree(item, depth - 1) for key, item in value.items()}


def json_text(value: Any) -> str:
    """``value`` as JSON that people can read."""
    return json.dumps(value, ensure_ascii=False)
