"""What the agent's tools are like: how often they were called, how well that went, and what mends their failures."""

from collections.abc import Iterator, Mapping, Sequence

from app.core.capture.tool_records import ToolRecord
from app.core.injection.fence import neutralise_line
from app.core.injection.session_start.section import Facts, Line, Section, Source

MAX_TOOLS = 12
MAX_EACH = 2
"""Arguments, issues and practices told of a tool."""
LEAST_TIMES = 2
"""What happened once is no pattern; an error that was mended is told at once."""


def _lines(facts: Facts) -> Sequence[Line]:
    return [line for record in facts.tools[:MAX_TOOLS] for line in _of_tool(record)]


def _of_tool(record: ToolRecord) -> Iterator[Line]:
    yield Line(f"### {neutralise_line(record.tool)}", leads=True)
    yield Line(f"- {_figures(record)}")
    often = [text for text, count in _ranked(record.arguments) if count >= LEAST_TIMES and count * 2 > record.calls]
    if often:
        yield Line(f"- Usually with: {neutralise_line(', '.join(often[:MAX_EACH]))}")
    errors = sorted(record.errors.items(), key=lambda one: (-one[1].count, one[0]))
    for text, error in [one for one in errors if one[1].count >= LEAST_TIMES or one[1].fixes][:MAX_EACH]:
        yield Line(f"- Common issue: {neutralise_line(text)} ({_times(error.count)})")
        if error.fixes:
            fix, count = _ranked(error.fixes)[0]
            yield Line(f"- Best practice: {neutralise_line(fix)} (worked {_times(count)} after that)")


def _figures(record: ToolRecord) -> str:
    success = round(100 * (record.calls - record.failures) / record.calls)
    average = f", {record.total_ms / record.timed / 1000:.1f}s on average" if record.timed else ""
    return f"Called {_times(record.calls)}, {success}% success{average}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _ranked(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


SECTION = Section("tools", "## Tool Usage Memories", 4, frozenset({Source.TOOLS}), _lines, is_private=False)
