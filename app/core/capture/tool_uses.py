"""The tool calls in captured messages, each with what is worth remembering of it: short lines of text, none of them
cut, for of half a statement nobody could tell that it is forgotten.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from app.core.capture.captured_message import CapturedMessage, ToolPart
from app.core.messages.pairs import same_call
from app.core.messages.skill_files import skill_read
from app.text.sentences import first_sentences

MAX_NAME_CHARS = 100
MAX_VALUE_CHARS = 60
"""A longer argument is no habit but content."""
MAX_ERROR_CHARS = 160
MAX_LONG_ERROR_CHARS = 400
"""Where the first sentence of an error is longer."""
TOO_LONG = "an error that is too long to be told"
MAX_ARGUMENTS = 24
"""Of a call; and so many different ones are kept of a tool."""
MAX_LATE = 1_000
"""Results of a turn that are looked up among the calls of earlier ones."""

_NUMBER = re.compile(r"\d+")
_TELLS = re.compile(
    r"error|exception|fail|denied|refused|not found|no such|invalid|timed? ?out|unknown|missing|错误|失败|異常|异常",
    re.I,
)
_STATUS = re.compile(r"\W*(?:command |process )?(?:exit(?:ed)?|return(?:ed)?)\b.{0,40}", re.I)
_HEAD, _TAIL = 2_000, 4_000


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call. ``arguments`` are the short ones, as ``name=value``; ``error`` is empty for a success."""

    tool: str
    arguments: tuple[str, ...] = ()
    error: str = ""
    ms: int | None = None
    failed: bool = False
    skill: str = ""
    """The skill whose SKILL.md it has read."""
    call: str = ""
    """What its call and its result have in common, hashed."""
    is_open: bool = False
    """Whether no result has come yet."""
    is_late: bool = False
    """Whether it is a result alone; see `ToolPart.is_late`."""


def uses_in(messages: Iterable[CapturedMessage]) -> Iterator[ToolUse]:
    """The calls in captured messages, in order. A call whose output was too long for one part is one call."""
    open_part: ToolPart | None = None
    pieces = 0
    for part in (part for message in messages for part in message.parts if isinstance(part, ToolPart)):
        if open_part is not None and part.id == f"{open_part.id}.{pieces + 1}" and part.name == open_part.name:
            pieces += 1
            open_part = replace(open_part, output=_ends(open_part.output or "", part.output or ""))
            continue
        if open_part is not None:
            yield _use(open_part)
        open_part, pieces = part, 0
    if open_part is not None:
        yield _use(open_part)


def _use(part: ToolPart) -> ToolUse:
    failed = part.failed
    error = _error_line(part.output or "") if failed else ""
    skill = skill_read(part.name, part.input) if part.output is not None and not failed else ""
    name = on_one_line(part.name, MAX_NAME_CHARS) or "tool"
    return ToolUse(
        name,
        tuple(_short(part.input)),
        error,
        part.ms,
        failed,
        on_one_line(skill, MAX_NAME_CHARS),
        _hashed(part.id or part.name),
        is_open=part.output is None,
        is_late=part.is_late,
    )


def _hashed(name: str) -> str:
    """Of bounded length whatever a host makes up, and no text. See `same_call` for what is no difference."""
    return hashlib.blake2b(same_call(name).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def parted(uses: Iterable[ToolUse]) -> tuple[tuple[ToolUse, ...], list[ToolUse]]:
    """Results whose calls stand in earlier turns, at most `MAX_LATE`; and the calls, results too many among them."""
    late: list[ToolUse] = []
    calls: list[ToolUse] = []
    for use in uses:
        (late if use.is_late and len(late) < MAX_LATE else calls).append(use)
    return tuple(late), calls


def _short(value: Any) -> Iterator[str]:
    """``name=value`` of the arguments that are short."""
    if isinstance(value, dict):
        for name, one in list(value.items())[:MAX_ARGUMENTS]:
            said = _whole(str(name), MAX_VALUE_CHARS), _whole(_shown(one), MAX_VALUE_CHARS)
            if all(said):
                yield "=".join(said)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""


def _whole(text: str, limit: int) -> str:
    """A text on one line; nothing where it is longer than ``limit``."""
    line = "" if len(text) > 4 * limit else " ".join(text.split())
    return line if len(line) <= limit else ""


def _error_line(output: str) -> str:
    """The line that tells what went wrong, with its numbers left out, so that the same error is the same text."""
    text = output if len(output) <= _HEAD + _TAIL else _ends(output, output)
    lines = [line for line in map(str.strip, text.splitlines()) if line and not _STATUS.fullmatch(line)]
    telling = [line for line in lines if _TELLS.search(line[: 4 * MAX_ERROR_CHARS])]
    line = _NUMBER.sub("#", telling[-1] if telling else lines[-1] if lines else "")
    if not line:
        return "it failed without a word" if text == output else TOO_LONG
    return first_sentences(line, MAX_ERROR_CHARS) or first_sentences(line, MAX_LONG_ERROR_CHARS) or TOO_LONG


def _ends(first: str, last: str) -> str:
    """The beginning of one piece of an output and the end of another, without the lines that are cut in two."""
    head, tail = first[:_HEAD].rpartition("\n")[0], last[-_TAIL:].partition("\n")[2]
    return f"{head}\n{tail}"


def on_one_line(text: str, limit: int) -> str:
    """The first ``limit`` characters of a text, its white space as single spaces."""
    return " ".join(text.split())[:limit].strip()
