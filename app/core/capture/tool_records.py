"""What is remembered of tool calls: how often, how well, how long, with which arguments, and what mended a failure.

A `ToolRecord` counts the calls of one tool. Those of a turn are counted before the store is locked for it (`tallied`),
and added to the session's record then (`joined`); records add up. A result that comes in a later turn than its call is
added to what the call was counted as (`settled`). Counts are exact. Of arguments, errors and what mended them the most
frequent are kept.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from app.core.capture.tool_uses import MAX_ARGUMENTS, MAX_VALUE_CHARS, ToolUse

MAX_ERRORS, MAX_FIXES = 12, 4
"""So many different ones are kept of a tool; the least frequent go."""
MAX_TOOLS = 200
"""Tools that are told apart in one session; a host that makes up names without end fills no more."""
OTHERS = "other tools"
MAX_WAITING = 200
"""Calls of a tool whose results may still come in a later turn; the oldest go."""


@dataclass(frozen=True, slots=True)
class ToolError:
    """An error that came up ``count`` times, and what was different when the tool worked afterwards."""

    count: int = 0
    fixes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolRecord:
    """The calls of one tool. ``timed`` of them took ``total_ms`` together. ``open_error`` is the last call's, with its
    arguments: what works next mends it. ``waiting`` are the calls without a result, oldest first; ``open_call`` is the
    last call where it is one of them."""

    tool: str
    calls: int = 0
    failures: int = 0
    timed: int = 0
    total_ms: int = 0
    arguments: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, ToolError] = field(default_factory=dict)
    open_error: str = ""
    open_arguments: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    open_call: str = ""

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "ToolRecord":
        """The inverse of `to_json`."""
        errors = {text: ToolError(**one) for text, one in fields["errors"].items()}
        lists = {name: tuple(fields.get(name, ())) for name in ("open_arguments", "waiting")}
        return cls(**{**fields, **lists, "errors": errors})


@dataclass(frozen=True, slots=True)
class ToolTally:
    """The calls of one tool in one turn, and the first of them."""

    record: ToolRecord
    first: ToolUse

    @property
    def name(self) -> str:
        """What its record is kept under."""
        return self.record.tool


def tallied(uses: Iterable[ToolUse]) -> tuple[ToolTally, ...]:
    """The calls of a turn, counted for each tool; of tools beyond `MAX_TOOLS` together. Linear in the calls."""
    counts: dict[str, _Counting] = {}
    for use in uses:
        tool = use.tool if use.tool in counts or len(counts) < MAX_TOOLS else OTHERS
        counts.setdefault(tool, _Counting(use)).add(use)
    return tuple(one.tally(tool) for tool, one in counts.items())


def joined(record: ToolRecord, tally: ToolTally) -> ToolRecord:
    """The record with the calls of its next turn. What a turn has left failing may be mended by the first of these."""
    first, new = tally.first, tally.record
    known = None if first.failed else record.errors.get(record.open_error)
    if known and (fix := _difference(record.open_arguments, first.arguments)):
        mended = replace(known, fixes=most(summed(known.fixes, {fix: 1}), MAX_FIXES))
        record = replace(record, errors={**record.errors, record.open_error: mended})
    return replace(
        _together(record, new),
        open_error=new.open_error,
        open_arguments=new.open_arguments,
        waiting=_waiting((*record.waiting, *new.waiting)),
        open_call=new.open_call,
    )


def settled(
    records: Iterable[ToolRecord], late: Iterable[ToolUse]
) -> tuple[Mapping[str, ToolRecord], Sequence[ToolUse]]:
    """What ``late`` results make of a session's records, those used last at the end: the records that they change, by
    tool, and the results that no call waits for, as calls of their own.

    A result belongs to the call of its id: hosts seldom name the tool a second time. Linear in the results.
    """
    known = {one.tool: one for one in records}
    waiting: defaultdict[str, list[str]] = defaultdict(list)
    for one in known.values():
        for call in one.waiting:
            waiting[call].append(one.tool)
    changed: dict[str, ToolRecord] = {}
    orphans: list[ToolUse] = []
    for use in late:
        tools = waiting.get(use.call)
        if tools:
            tool = tools.pop(tools.index(use.tool) if use.tool in tools else -1)
            known[tool] = changed[tool] = _with_result(known[tool], use)
        else:
            orphans.append(replace(use, is_late=False))
    return changed, orphans


def _with_result(record: ToolRecord, late: ToolUse) -> ToolRecord:
    """The record of a call that was counted when it was made, with what came of it."""
    record = replace(record, waiting=tuple(call for call in record.waiting if call != late.call))
    is_last = record.open_call == late.call
    if is_last:
        record = replace(record, open_call="", open_arguments=record.open_arguments if late.failed else ())
    if not late.failed:
        return record
    errors = errors_together(record.errors, {late.error: ToolError(1)})
    open_error = late.error if is_last else record.open_error
    return replace(record, failures=record.failures + 1, errors=errors, open_error=open_error)


def _waiting(calls: Iterable[str]) -> tuple[str, ...]:
    """Each call once, at its last place: a host that numbers its calls afresh has given up on the one before."""
    return tuple(reversed(dict.fromkeys(reversed(tuple(calls)))))[-MAX_WAITING:]


@dataclass(slots=True)
class _Counting:
    """The calls of one tool while they are counted; what is kept of them is chosen at the end."""

    first: ToolUse
    calls: int = 0
    failures: int = 0
    timed: int = 0
    total_ms: int = 0
    arguments: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    fixes: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    waiting: list[str] = field(default_factory=list)
    last: ToolUse | None = None

    def add(self, use: ToolUse) -> None:
        """Count one call."""
        self.calls += 1
        self.failures += use.failed
        self.timed += use.ms is not None
        self.total_ms += use.ms or 0
        self.arguments.update(use.arguments)
        if use.is_open:
            self.waiting.append(use.call)
        if use.failed:
            self.errors[use.error] += 1
        elif self.last and self.last.failed and (fix := _difference(self.last.arguments, use.arguments)):
            self.fixes[self.last.error][fix] += 1
        self.last = use

    def tally(self, tool: str) -> ToolTally:
        """What the calls come to."""
        errors = {
            text: ToolError(count, most(self.fixes[text], MAX_FIXES))
            for text, count in most(self.errors, MAX_ERRORS).items()
        }
        last = self.last or self.first
        record = ToolRecord(
            tool,
            self.calls,
            self.failures,
            self.timed,
            self.total_ms,
            most(self.arguments, MAX_ARGUMENTS),
            errors,
            last.error if last.failed else "",
            last.arguments if last.failed or last.is_open else (),
            _waiting(self.waiting),
            last.call if last.is_open else "",
        )
        return ToolTally(record, self.first)


def together(records: Iterable[ToolRecord]) -> list[ToolRecord]:
    """One record for each tool, those that are called most first."""
    sums: dict[str, ToolRecord] = {}
    for one in records:
        sums[one.tool] = _together(sums.get(one.tool, ToolRecord(one.tool)), one)
    return sorted(sums.values(), key=lambda record: (-record.calls, record.tool))


def _together(one: ToolRecord, other: ToolRecord) -> ToolRecord:
    """The sum of two records; what is open in them is not told."""
    return ToolRecord(
        one.tool,
        one.calls + other.calls,
        one.failures + other.failures,
        one.timed + other.timed,
        one.total_ms + other.total_ms,
        most(summed(one.arguments, other.arguments), MAX_ARGUMENTS),
        errors_together(one.errors, other.errors),
    )


def errors_together(one: Mapping[str, ToolError], other: Mapping[str, ToolError]) -> dict[str, ToolError]:
    """The errors of both, the most frequent of them, each with what mended it."""
    errors = dict(one)
    for text, error in other.items():
        before = errors.get(text, ToolError())
        errors[text] = ToolError(before.count + error.count, most(summed(before.fixes, error.fixes), MAX_FIXES))
    kept = most({text: error.count for text, error in errors.items()}, MAX_ERRORS)
    return {text: errors[text] for text in kept}


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


def _difference(before: Sequence[str], after: Sequence[str]) -> str:
    """What a call had that the one before had not, by name: one argument, or two where both are short."""
    new = [one for one in after if one not in before]
    both = ", ".join(new[:2])
    return both if len(both) <= 2 * MAX_VALUE_CHARS else new[0]


def summed(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """The counts of both, those of ``other`` behind."""
    return {key: one.get(key, 0) + other.get(key, 0) for key in (*one, *other)}


def most(counts: Mapping[str, int], limit: int) -> dict[str, int]:
    """The most frequent; of equally frequent ones the latest, which are at the end."""
    if len(counts) <= limit:
        return dict(counts)
    ranked = sorted(enumerate(counts), key=lambda at: (-counts[at[1]], -at[0]))[:limit]
    return {key: counts[key] for _, key in sorted(ranked)}
