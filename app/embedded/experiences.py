"""Experiences by rules: where a session shows an error and then a fix that worked, the lesson is written down.

The file has the three headings that experience recall reads (seed: agent experience): Situation, Approach, Reflect.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.core.digest import one_line
from app.core.turns import CapturedMessage, TextPart, ToolPart
from app.embedded.records import TRAILER, TRAILER_END
from app.embedded.statements import slug

MAX_EXPERIENCES = 10
"""Most experiences of one commit."""
MAX_STEPS = 8

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
_SENTENCE_END = re.compile(r"(?<=[。！？])|(?<=[.!?])\s|\n")


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
        return step.tool.is_error
    return step.role == "user" and bool(_ERROR_LINE.search(step.text[:4000]))


def _fixed_at(steps: Sequence[_Step], error: int) -> int | None:
    """The step that shows the error gone: the same tool works again, or the user says so after help."""
    failed = steps[error].tool
    helped = False
    for at in range(error + 1, min(len(steps), error + 200)):
        step = steps[at]
        if failed:
            if step.tool and step.tool.name == failed.name and step.tool.output is not None and not step.tool.is_error:
                return at
        elif step.role == "assistant":
            helped = True
        elif helped and _WORKS.search(step.text[:400]):
            return at
    return None


def _experience(steps: Sequence[_Step], error: int, fixed: int, source: str) -> Experience:
    asked = next((s.text for s in reversed(steps[: error + 1]) if s.role == "user" and not s.tool), "")
    failed = steps[error]
    shown = _error_line((failed.tool.output or "") if failed.tool else failed.text)
    task = one_line(asked, 200) or "An automated task"
    between = steps[error + 1 : fixed + 1]
    approach = list(dict.fromkeys(line for step in between if (line := _approach_line(step))))
    why = [one_line(s) for step in between if step.role == "assistant" and not step.tool for s in _reasons(step.text)]
    done = f"{failed.tool.name} worked afterwards" if failed.tool else "the user confirmed that it works"
    avoid = (
        f"Avoid repeating `{_call(failed.tool)}` as it was: it fails with: {shown}"
        if failed.tool
        else f"Watch for: {shown}"
    )
    body = "\n".join(
        [
            f"# {one_line(asked, 80) or shown}",
            "",
            "## Situation",
            f"- When working on: {task}",
            f"- and this error appears: {shown}",
            "",
            "## Approach",
            *(f"- {line}" for line in approach[-MAX_STEPS:]),
            "",
            "## Reflect",
            f"- {avoid}",
            *(f"- {line}" for line in list(dict.fromkeys(why))[:3]),
            f"- Verified: {done}.",
        ]
    )
    fields = {"type": "experience", "confidence": 0.7, "source": {"kind": "chat_turn", "ref": source}}
    name = f"{slug(asked, 5)}-{slug(shown, 3)}"[:90]
    return Experience(name, f"{body}\n\n{TRAILER}\n{json.dumps(fields)}\n{TRAILER_END}\n")


def _approach_line(step: _Step) -> str:
    if step.tool:
        return "" if step.tool.is_error else f"`{_call(step.tool)}`"
    return one_line(step.text, 200) if step.role == "assistant" else ""


def _call(tool: ToolPart) -> str:
    argument = tool.input
    if isinstance(argument, dict):
        argument = ", ".join(f"{key}={one_line(str(value), 120)}" for key, value in list(argument.items())[:4])
    return one_line(f"{tool.name}({argument})", 240).replace("`", "'")


def _error_line(output: str) -> str:
    lines = [line.strip() for line in output[-8000:].splitlines() if line.strip()]
    telling = [line for line in lines if _ERROR_LINE.search(line[:1000])]
    return one_line((telling or lines or ["it failed without a message"])[-1], 200)


def _reasons(text: str) -> list[str]:
    return [
        s.strip() for s in _SENTENCE_END.split(text[:8000]) if s and 8 <= len(s.strip()) <= 400 and _REASON.search(s)
    ]


def _text(part: TextPart | ToolPart) -> str:
    return part.text if isinstance(part, TextPart) else ""
