"""What is remembered of skills: how often one was used, how that went, and what helped.

A use begins when a call reads the skill's SKILL.md, and lasts until the user speaks again. It failed where the last
call of one of its tools did. Counts are exact; of examples, advice, arguments and errors the most telling are kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.capture.tool_records import ToolError, errors_together, most, summed, tallied
from app.core.capture.tool_uses import MAX_ARGUMENTS, ToolUse, uses_in
from app.core.memories.told import told
from app.text.sentences import first_sentences

MAX_TASK_CHARS = 160
MAX_EXAMPLES, MAX_TOLD = 5, 6
MAX_AT_ONCE = 4
"""Skills that are read before the work begins; of more, those read last count its calls."""
MAX_SKILLS = 50
"""Skills that are counted of one turn."""


@dataclass(frozen=True, slots=True)
class SkillExample:
    """A use that went well: when (ISO 8601), and what was asked for."""

    at: str
    task: str


@dataclass(frozen=True, slots=True)
class SkillRecord:
    """The uses of one skill. ``told``: what users asked to remember while it was used; ``habits``: short arguments, in
    how many uses that went well; ``errors``: what went wrong in them, and what mended it."""

    skill: str
    uses: int = 0
    failures: int = 0
    examples: tuple[SkillExample, ...] = ()
    told: Mapping[str, int] = field(default_factory=dict)
    habits: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, ToolError] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is kept under."""
        return self.skill

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "SkillRecord":
        """The inverse of `to_json`."""
        examples = tuple(SkillExample(**one) for one in fields["examples"])
        errors = {text: ToolError(**one) for text, one in fields["errors"].items()}
        return cls(**{**fields, "examples": examples, "errors": errors})


@dataclass(frozen=True, slots=True)
class TurnUses:
    """The tool calls of one turn of a conversation, with what the user asked for."""

    uses: tuple[ToolUse, ...]
    task: str = ""
    at: str = ""


def turns_in(messages: Sequence[CapturedMessage]) -> Iterator[TurnUses]:
    """Captured messages as turns: a new one begins wherever the user speaks."""
    start, task, at = 0, "", ""
    for number, message in enumerate(messages):
        said = "\n".join(part.text for part in message.parts if isinstance(part, TextPart))
        if message.role == "user" and said:
            yield TurnUses(tuple(uses_in(messages[start:number])), task, at)
            start, task, at = number, said, message.created_at
    yield TurnUses(tuple(uses_in(messages[start:])), task, at)


def skills_in(turns: Iterable[TurnUses]) -> tuple[SkillRecord, ...]:
    """The skills that were used in these turns, each with its uses. Linear in the calls."""
    records: dict[str, SkillRecord] = {}
    for turn in turns:
        for skill, calls in _used(turn.uses).items():
            if skill in records or len(records) < MAX_SKILLS:
                records[skill] = skill_joined(records.get(skill, SkillRecord(skill)), _record(skill, turn, calls))
    return tuple(records.values())


def skill_joined(one: SkillRecord, other: SkillRecord) -> SkillRecord:
    """The uses of both records of a skill."""
    examples = sorted({*one.examples, *other.examples}, key=lambda example: (example.at, example.task))
    return SkillRecord(
        one.skill,
        one.uses + other.uses,
        one.failures + other.failures,
        tuple(examples[-MAX_EXAMPLES:]),
        most(summed(one.told, other.told), MAX_TOLD),
        most(summed(one.habits, other.habits), MAX_ARGUMENTS),
        errors_together(one.errors, other.errors),
    )


def skill_texts(record: SkillRecord) -> Sequence[str]:
    """Everything in a record that was said."""
    fixes = (fix for error in record.errors.values() for fix in error.fixes)
    return [*(one.task for one in record.examples), *record.told, *record.habits, *record.errors, *fixes]


def skill_without(record: SkillRecord, gone: frozenset[str]) -> SkillRecord:
    """The record without these of its texts; its counts stay."""
    errors = {
        text: replace(error, fixes={fix: n for fix, n in error.fixes.items() if fix not in gone})
        for text, error in record.errors.items()
        if text not in gone
    }
    return replace(
        record,
        examples=tuple(one for one in record.examples if one.task not in gone),
        told={text: n for text, n in record.told.items() if text not in gone},
        habits={text: n for text, n in record.habits.items() if text not in gone},
        errors=errors,
    )


def _used(uses: Iterable[ToolUse]) -> dict[str, list[ToolUse]]:
    """The calls behind the reading of each skill that a turn read. Skills that are read one after another are used
    together; one that is read after work had begun ends the uses before. The result of an earlier turn's call is none
    of them."""
    used: dict[str, list[ToolUse]] = {}
    current: list[str] = []
    is_working = False
    for use in uses:
        if use.is_late:
            continue
        if not use.skill:
            is_working = True
            for skill in current:
                used[skill].append(use)
            continue
        if is_working:
            current, is_working = [], False
        current = [*(one for one in current if one != use.skill), use.skill][-MAX_AT_ONCE:]
        used.setdefault(use.skill, [])
    return used


def _record(skill: str, turn: TurnUses, calls: Sequence[ToolUse]) -> SkillRecord:
    tools = [one.record for one in tallied(calls)]
    failed = any(tool.open_error for tool in tools)
    task = first_sentences(turn.task, MAX_TASK_CHARS)
    habits = {f"{call.tool}: {text}" for call in calls if not call.failed for text in call.arguments}
    errors: dict[str, ToolError] = {}
    for tool in tools:
        errors = errors_together(errors, {f"{tool.tool}: {text}": error for text, error in tool.errors.items()})
    return SkillRecord(
        skill,
        uses=1,
        failures=int(failed),
        examples=(SkillExample(turn.at, task),) if task and not failed else (),
        told=most(dict.fromkeys(told(turn.task), 1), MAX_TOLD),
        habits={} if failed else most(dict.fromkeys(sorted(habits), 1), MAX_ARGUMENTS),
        errors=errors,
    )
