"""Experiences by rules: where a session shows an error and then a fix that worked, the lesson is written down.

The file has the three headings that experience recall reads: Situation, Approach, Reflect.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.capture.tool_outcomes import says_failed
from app.core.history.lines import one_line
from app.embedded.extraction.rules import statement_in
from app.embedded.extraction.statements import slug
from app.embedded.storage.records import TRAILER, TRAILER_END
from app.text.sentences import sentences
from app.text.words import token_set

MAX_EXPERIENCES = 10
"""Most experiences of one commit."""
MAX_STEPS = 8
MAX_STATEMENT_CHARS = 400
"""What is longer is no statement."""
_LEAST_TASK = 8
"""What is shorter names no task."""

_ERROR_LINE = re.compile(
    r"error|exception|fail|denied|refused|not found|no such|cannot|timed? ?out|panic|错误|錯誤|失败|失敗|异常|異常"
    r"|报错|報錯",
    re.I,
)
_WORKS = re.compile(
    r"\b(?:works now|it works|that worked|that fixed|fixed it|is fixed|all (?:tests )?pass(?:ed|es)?|passes now"
    r"|solved)\b"
    r"|修好了|解决了|解決了|可以了|好了|通过了|通過了|成功了",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|root cause|the (?:problem|issue|bug|cause) (?:is|was)|turns out|caused by|due to|instead"
    r"|fix(?:ed)?)\b"
    r"|因为|因為|原因|由于|由於|问题在于|問題在於|修复|修復|改成|改为|改為",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Experience:
    """A lesson; ``name`` is its file name without the ending, ``text`` the whole file."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class _Step:
    """A tool call, or something said, in the order of the session."""

    role: str
    text: str
    tool: ToolPart | None


def experiences_in(messages: Sequence[CapturedMessage]) -> Iterator[Experience]:
    """One experience for each error that a later success of the same tool, or a person's word, shows to be fixed."""
    steps = [
        _Step(m.role, _text(part), part if isinstance(part, ToolPart) else None) for m in messages for part in m.parts
    ]
    sources = [message.source_id for message in messages if message.source_id]
    at = found = 0
    while at < len(steps) and found < MAX_EXPERIENCES:
        fixed = _fixed_at(steps, at) if _fails(steps[at]) else None
        if fixed is None:
            at += 1
            continue
        yield _experience(steps, at, fixed, sources[-1] if sources else "")
        found += 1
        at = fixed + 1


def _fails(step: _Step) -> bool:
    if step.tool:
        return step.tool.failed
    return step.role == "user" and bool(_ERROR_LINE.search(step.text[:4000]))


def _fixed_at(steps: Sequence[_Step], error: int) -> int | None:
    """The step that shows the error gone: the same tool works again, or the user says so after help."""
    failed = steps[error].tool
    helped = False
    for at in range(error + 1, min(len(steps), error + 200)):
        step = steps[at]
        if failed:
            if step.tool and _repeats(step.tool, failed) and step.tool.output is not None and not step.tool.failed:
                return at
        elif step.role == "assistant":
            helped = True
        elif helped and _WORKS.search(step.text[:400]):
            return at
    return None


def _repeats(tool: ToolPart, failed: ToolPart) -> bool:
    """Whether a call tries again what failed: the same tool, with some of the same words where both have any."""
    words, before = token_set(_said_to(tool)), token_set(_said_to(failed))
    return tool.name == failed.name and (not words or not before or not words.isdisjoint(before))


def _said_to(tool: ToolPart) -> str:
    """The texts among a tool's arguments: a command, a path, a query."""
    given = tool.input.values() if isinstance(tool.input, dict) else [tool.input]
    return " ".join(value[:4000] for value in given if isinstance(value, str))


def _experience(steps: Sequence[_Step], error: int, fixed: int, source: str) -> Experience:
    """The lesson, its error named once: the situation says it, everything else refers to it."""
    failed, between = steps[error], steps[error + 1 : fixed + 1]
    shown = _error_line(
        (failed.tool.output or "")[-8000:].splitlines() if failed.tool else list(sentences(failed.text[:8000]))
    )
    task = _task(steps[: error + 1], shown)
    approach = [line for step in between if (line := _approach_line(step))][-MAX_STEPS:]
    why = [one_line(s) for step in between if step.role == "assistant" and not step.tool for s in _reasons(step.text)]
    why = [reason for reason in why if not any(reason in line for line in approach)]
    avoid = f"Avoid repeating `{_call(failed.tool)}` as it was." if failed.tool else "Avoid going on before it is gone."
    done = f"{failed.tool.name} worked afterwards" if failed.tool else "the user confirmed that it works"
    body = "\n".join(
        [
            f"# {one_line(task, 80) or 'An error and its fix'}",
            "",
            "## Situation",
            f"- When this error appears: {shown}",
            *([f"- while working on: {task}"] if task else []),
            "",
            "## Approach",
            *_bullets(approach, shown),
            "",
            "## Reflect",
            *_bullets([avoid, *why[:3], f"Verified: {done}."], shown),
        ]
    )
    fields = {"type": "experience", "confidence": 0.7, "source": {"kind": "chat_turn", "ref": source}}
    name = f"{slug(task or shown, 5)}-{slug(shown, 3)}"[:90]
    return Experience(name, f"{body}\n\n{TRAILER}\n{json.dumps(fields)}\n{TRAILER_END}\n")


def _task(steps: Sequence[_Step], shown: str) -> str:
    """What was asked for last, in words other than the error's, and without what the user states of themselves."""
    said = (_asked(step.text[:4_000].replace(shown, " ")) for step in reversed(steps) if step.role == "user")
    asked = (one_line(text, 200) for text in said)
    return next((text for task in asked if len(text := task.strip(" :：-—")) >= _LEAST_TASK), "")


def _asked(text: str) -> str:
    """The sentences that are no statement to remember: an experience is everybody's guidance, and no one's memory."""
    said = sentences(text)
    return " ".join(one for one in said if len(one) > MAX_STATEMENT_CHARS or statement_in(one, "1970-01-01") is None)


def _bullets(lines: Iterable[str], shown: str) -> list[str]:
    """Different lines as a list, in which the error has no words of its own."""
    return [f"- {line}" for line in dict.fromkeys(line.replace(shown, "the error") for line in lines)]


def _approach_line(step: _Step) -> str:
    if step.tool:
        return "" if step.tool.failed else f"`{_call(step.tool)}`"
    return one_line(step.text, 200) if step.role == "assistant" else ""


def _call(tool: ToolPart) -> str:
    argument = tool.input
    if isinstance(argument, dict):
        argument = ", ".join(f"{key}={one_line(str(value), 120)}" for key, value in list(argument.items())[:4])
    return one_line(f"{tool.name}({argument})", 240).replace("`", "'")


def _error_line(said: Sequence[str]) -> str:
    """The last line (or sentence) that tells of an error; a bare exit status only where nothing else does."""
    lines = [line.strip() for line in said[-400:] if line.strip()]
    telling = [line for line in lines if _ERROR_LINE.search(line[:1000])]
    plain = [line for line in lines if not says_failed(line[:400])]
    return one_line((telling or plain or lines or ["it failed without a message"])[-1], 200)


def _reasons(text: str) -> list[str]:
    return [s for s in sentences(text[:8000]) if 8 <= len(s) <= 400 and _REASON.search(s)]


def _text(part: TextPart | ToolPart) -> str:
    return part.text if isinstance(part, TextPart) else ""
