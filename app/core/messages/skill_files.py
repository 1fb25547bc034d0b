"""Which skill a tool call reads: its arguments name ``skills/<name>/SKILL.md``, whatever the tool is called."""

import re
from collections.abc import Iterator
from typing import Any

MAX_TEXT_CHARS = 1_000
"""A longer argument is content, and no path or command."""
MAX_VALUES = 12
"""Arguments of one call that are looked at."""
_FILE = re.compile(
    r"(?:^|[\\/\s\"'=])skills[\\/](?P<name>[^\\/\n\"']{1,100})[\\/]SKILL\.md(?=$|[\s\"'`;|&)>])", re.IGNORECASE
)
_CHANGES = re.compile(r"(?:^|_)(?:write|edit|multiedit|patch|apply|create|delete|remove|replace|move|rename)", re.I)


def skill_read(name: str, arguments: Any) -> str:
    """The name of the skill that a call of the tool ``name`` reads; empty for any other call."""
    called = arguments.get("id") if isinstance(arguments, dict) else ""  # a host that keeps tools behind one of its own
    if any(_CHANGES.search(one[:MAX_TEXT_CHARS]) for one in (name, called) if isinstance(one, str)):
        return ""
    found = (_FILE.search(text.strip()) for text in texts_in(arguments) if len(text) <= MAX_TEXT_CHARS)
    return next((one["name"] for one in found if one), "")


def texts_in(value: Any, depth: int = 4) -> Iterator[str]:
    """The first texts among a call's arguments, however they are nested; of a long one its beginning."""
    if isinstance(value, str):
        yield value[: 2 * MAX_TEXT_CHARS]
    elif depth and isinstance(value, dict):
        for one in list(value.values())[:MAX_VALUES]:
            yield from texts_in(one, depth - 1)
    elif depth and isinstance(value, list):
        for one in value[:MAX_VALUES]:
            yield from texts_in(one, depth - 1)
