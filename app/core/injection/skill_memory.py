"""What the agent is shown of a skill that it reads: how often it was used, what worked, and what to look out for."""

from collections.abc import Iterator, Mapping

from app.core.capture.skill_uses import SkillRecord
from app.core.injection.fence import neutralise_line

HEADING = "## Skill Memory:"
"""The beginning of its first line; the skill's name follows."""
MAX_EACH = 3
"""Habits, pieces of advice and issues that are told."""
LEAST_TIMES = 2
"""An argument that was used once is no habit."""
_DAY = len("2026-01-01")


def skill_text(record: SkillRecord, *, private: bool) -> str:
    """The section of one skill. What users said (tasks, advice) is told in private chats only."""
    return "\n".join(_lines(record, private=private))


def _lines(record: SkillRecord, *, private: bool) -> Iterator[str]:
    yield f"{HEADING} {neutralise_line(record.skill)}"
    success = round(100 * (record.uses - record.failures) / max(1, record.uses))
    yield f"- Used {_times(record.uses)}, {success}% success"
    examples = reversed(record.examples) if private else ()
    yield from _part("Examples", [f"{one.at[:_DAY]}: {neutralise_line(one.task)}" for one in examples])
    yield from _part("Tips", list(_tips(record, private=private)))
    yield from _part("Known Issues", list(_issues(record)))


def _part(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"### {title}"
        yield from (f"- {line}" for line in lines)


def _tips(record: SkillRecord, *, private: bool) -> Iterator[str]:
    if private:
        yield from (neutralise_line(text) for text in _ranked(record.told)[:MAX_EACH])
    worked = record.uses - record.failures
    often = [text for text in _ranked(record.habits) if record.habits[text] >= LEAST_TIMES]
    often = [text for text in often if record.habits[text] * 2 > worked]
    yield from (f"{neutralise_line(text)} (in {record.habits[text]} of {worked} uses)" for text in often[:MAX_EACH])


def _issues(record: SkillRecord) -> Iterator[str]:
    errors = sorted(record.errors.items(), key=lambda one: (-one[1].count, one[0]))
    for text, error in errors[:MAX_EACH]:
        mended = f"; mended by {neutralise_line(_ranked(error.fixes)[0])}" if error.fixes else ""
        yield f"{neutralise_line(text)} ({_times(error.count)}){mended}"


def _ranked(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda text: (-counts[text], text))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
