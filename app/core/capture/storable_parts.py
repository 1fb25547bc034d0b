"""Captured parts within what every store takes: texts of bounded length, and tool input as plain JSON."""

import json
import math
from dataclasses import replace
from itertools import chain
from typing import Any

from app.core.capture.captured_message import Part, TextPart
from app.core.cleaning.host_text import clean_tool_text

MAX_TEXT_CHARS = 4 * 1024 * 1024 - 1024
"""Longest text stored in one piece. OpenViking refuses texts over 4 Mi characters."""

MAX_INPUT_DEPTH = 64
"""Levels of a tool input that are stored as structure; what lies deeper becomes JSON text."""


def within_limits(parts: list[Part]) -> list[tuple[Part, ...]]:
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


def clean_input(value: Any) -> Any:
    """Tool input as it is stored: no injected block in any text of it, and plain JSON that every store takes.

    A host that hands its prompt on to a sub-agent copies what was recalled into the call. Nothing but texts that hold
    a block, characters that can not be stored, NaN and what is nested too deeply differs from ``value``.
    """
    try:
        return _clean_tree(value, MAX_INPUT_DEPTH)
    except RecursionError:
        return "[nested too deeply]"


def _clean_tree(value: Any, depth: int) -> Any:
    """``value`` cleaned; what lies exactly ``depth`` levels down becomes JSON text with all that is in it."""
    if isinstance(value, str):
        return clean_tool_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    tree: Any
    if isinstance(value, list):
        tree = [_clean_tree(item, depth - 1) for item in value]
    elif isinstance(value, dict):
        tree = {clean_tool_text(key): _clean_tree(item, depth - 1) for key, item in value.items()}
    else:
        return value
    return json_text(tree) if depth == 0 else tree


def json_text(value: Any) -> str:
    """``value`` as JSON that people can read."""
    return json.dumps(value, ensure_ascii=False)
