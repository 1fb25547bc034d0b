"""What is remembered of tool calls: how often, how well, how long, with which arguments, and what mended a failure.

A `ToolRecord` counts the calls of one tool; calls are added one by one as they are captured, and records add up. Counts
are exact. Of arguments, errors and what mended them the most frequent are kept, each a short line of text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from app.core.capture.captured_message import CapturedMessage, ToolPart

MAX_NAME_CHARS = 100
MAX_VALUE_CHARS = 60
"""A longer argument is no habit but content."""
MAX_ERROR_CHARS = 160
MAX_ARGUMENTS, MAX_ERRORS, MAX_FIXES = 24, 12, 4
"""So many different ones are kept of a tool; the least frequent go."""

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


@dataclass(frozen=True, slots=True)
class ToolError:
    """An error that came up ``count`` times, and what was different when the tool worked afterwards."""

    count: int = 0
    fixes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolRecord:
    """The calls of one tool. ``timed`` of them took ``total_ms`` together. ``open_error`` is the last call's, with its
    arguments: what works next mends it."""

    tool: str
    calls: int = 0
    failures: int = 0
    timed: int = 0
    total_ms: int = 0
    arguments: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, ToolError] = field(default_factory=dict)
    open_error: str = ""
    open_arguments: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "ToolRecord":
        """The inverse of `to_json`."""
        errors = {text: ToolError(**one) for text, one in fields["errors"].items()}
        return cls(**{**fields, "errors": errors, "open_arguments": tuple(fields["open_arguments"])})


def uses_in(messages: Iterable[CapturedMessage]) -> Iterator[ToolUse]:
    """The calls in captured messages, in order. A call whose output was too long for one part is one call."""
    open_part: ToolPart | None = None
    pieces = 0
    for part in (part for message in messages for part in message.parts if isinstance(part, ToolPart)):
        if open_part is not None and part.id == f"{open_part.id}.{pieces + 1}" and part.name == open_part.name:
            pieces += 1
            open_part = replace(open_part, output=(open_part.output or "")[:_HEAD] + (part.output or "")[-_TAIL:])
            continue
        if open_part is not None:
            yield _use(open_part)
        open_part, pieces = part, 0
    if open_part is not None:
        yield _use(open_part)


def _use(part: ToolPart) -> ToolUse:
    failed = part.failed
    error = _error_line(part.output or "") if failed else ""
    return ToolUse(_line(part.name, MAX_NAME_CHARS) or "tool", tuple(_short(part.input)), error, part.ms, failed)


def counted(record: ToolRecord, use: ToolUse) -> ToolRecord:
    """The record with one more call."""
    timed = use.ms is not None
    arguments, errors = dict(record.arguments), dict(record.errors)
    for one in use.arguments:
        arguments[one] = arguments.get(one, 0) + 1
    if use.failed:
        known = errors.get(use.error, ToolError())
        errors[use.error] = replace(known, count=known.count + 1)
    elif record.open_error in errors and (fix := _difference(record.open_arguments, use.arguments)):
        known = errors[record.open_error]
        fixes = {**known.fixes, fix: known.fixes.get(fix, 0) + 1}
        errors[record.open_error] = replace(known, fixes=_most(fixes, MAX_FIXES))
    return replace(
        record,
        calls=record.calls + 1,
        failures=record.failures + use.failed,
        timed=record.timed + timed,
        total_ms=record.total_ms + (use.ms or 0),
        arguments=_most(arguments, MAX_ARGUMENTS),
        errors=_most_errors(errors),
        open_error=use.error if use.failed else "",
        open_arguments=use.arguments if use.failed else (),
    )


def together(records: Iterable[ToolRecord]) -> list[ToolRecord]:
    """One record for each tool, those that are called most first."""
    sums: dict[str, ToolRecord] = {}
    for one in records:
        known = sums.get(one.tool, ToolRecord(one.tool))
        errors = dict(known.errors)
        for text, error in one.errors.items():
            before = errors.get(text, ToolError())
            errors[text] = ToolError(before.count + error.count, _most(_sum(before.fixes, error.fixes), MAX_FIXES))
        sums[one.tool] = ToolRecord(
            one.tool,
            known.calls + one.calls,
            known.failures + one.failures,
            known.timed + one.timed,
            known.total_ms + one.total_ms,
            _most(_sum(known.arguments, one.arguments), MAX_ARGUMENTS),
            _most_errors(errors),
        )
    return sorted(sums.values(), key=lambda record: (-record.calls, record.tool))


def texts_of(record: ToolRecord) -> Sequence[str]:
    """Everything in a record that was said."""
    fixes = (fix for error in record.errors.values() for fix in error.fixes)
    return [*record.arguments, *record.errors, *fixes, *record.open_arguments, record.open_error]


def without(record: ToolRecord, gone: frozenset[str]) -> ToolRecord:
    """The record without these of its texts; its counts stay."""
    errors = {
        text: replace(error, fixes={fix: n for fix, n in error.fixes.items() if fix not in gone})
        for text, error in record.errors.items()
        if text not in gone
    }
    arguments = {text: n for text, n in record.arguments.items() if text not in gone}
    is_open = record.open_error not in gone and gone.isdisjoint(record.open_arguments)
    kept = replace(record, arguments=arguments, errors=errors)
    return kept if is_open else replace(kept, open_error="", open_arguments=())


def _short(value: Any) -> Iterator[str]:
    """``name=value`` of the arguments that are short."""
    if isinstance(value, dict):
        for name, one in list(value.items())[:MAX_ARGUMENTS]:
            text = _line(_shown(one), MAX_VALUE_CHARS + 1) if isinstance(one, str | int | float) else ""
            if 0 < len(text) <= MAX_VALUE_CHARS:
                yield f"{_line(str(name), MAX_VALUE_CHARS)}={text}"


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)[: 4 * MAX_VALUE_CHARS]


def _error_line(output: str) -> str:
    """The line that tells what went wrong, with its numbers left out, so that the same error is the same text."""
    text = output if len(output) <= _HEAD + _TAIL else f"{output[:_HEAD]}\n{output[-_TAIL:]}"
    lines = [line for line in map(str.strip, text.splitlines()) if line and not _STATUS.fullmatch(line)]
    telling = [line for line in lines if _TELLS.search(line[: 4 * MAX_ERROR_CHARS])]
    line = telling[-1] if telling else lines[-1] if lines else "it failed without a word"
    return _line(_NUMBER.sub("#", line[: 4 * MAX_ERROR_CHARS]), MAX_ERROR_CHARS)


def _difference(before: Sequence[str], after: Sequence[str]) -> str:
    """What a call had that the one before had not, by name."""
    new = [one for one in after if one not in before]
    return _line(", ".join(new[:2]), 2 * MAX_VALUE_CHARS)


def _line(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit].strip()


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in (*one, *other)}


def _most(counts: Mapping[str, int], limit: int) -> dict[str, int]:
    """The most frequent; of equally frequent ones the latest, which are at the end."""
    if len(counts) <= limit:
        return dict(counts)
    ranked = sorted(enumerate(counts), key=lambda at: (-counts[at[1]], -at[0]))[:limit]
    return {key: counts[key] for _, key in sorted(ranked)}


def _most_errors(errors: Mapping[str, ToolError]) -> dict[str, ToolError]:
    kept = _most({text: error.count for text, error in errors.items()}, MAX_ERRORS)
    return {text: errors[text] for text in kept}
