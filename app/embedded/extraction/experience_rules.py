"""Experiences by rules: where a session shows an error and then what mended it, or a review and then work that it
approved, the lesson is written down.

The file has the three headings that experience recall reads: Situation, Approach, Reflect.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.capture.tool_outcomes import says_failed
from app.core.history.lines import one_line
from app.core.memories.forget_selection import turn_of
from app.embedded.extraction.rules import statement_in
from app.embedded.extraction.statements import slug
from app.embedded.storage.record_lines import write_experience
from app.embedded.storage.records import Source
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
_CORRECTS = re.compile(
    r"\b(?:review|wrong|incorrect|not right|redo|don['’]?t|do not|should(?:n['’]?t| not)|must(?:n['’]?t| not)?|instead"
    r"|rather than|missing)\b|不对|不對|错了|錯了|不要|应该|應該|改成|改为|重做|漏了|评审|評審",
    re.IGNORECASE,
)
_APPROVES = re.compile(
    rf"{_WORKS.pattern}|\b(?:looks? good|lgtm|perfect|approved|well done|much better|exactly)\b"
    r"|很好|没问题|沒問題|不错|不錯",
    re.IGNORECASE,
)
_APPROVAL_CHARS = 200
"""What is longer than that says more than that it is good."""
_REASON = re.compile(
    r"\b(?:because|root cause|the (?:problem|issue|bug|cause) (?:is|was)|turns out|caused by|due to|instead"
    r"|fix(?:ed)?)\b"
    r"|因为|因為|原因|由于|由於|问题在于|問題在於|修复|修復|改成|改为|改為",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Experience:
    """A lesson; ``name`` is its file name without the ending. ``sources``: a message of each turn that it was learnt
    from, in order; it goes with any of them."""

    name: str
    body: str
    sources: tuple[Source, ...] = ()

    @property
    def text(self) -> str:
        """The whole file."""
        return write_experience(self.body, self.sources)

    def learnt_in(self, session: str) -> "Experience":
        """The lesson with the session that it was learnt in."""
        return replace(self, sources=tuple(replace(source, session=session) for source in self.sources))


@dataclass(frozen=True, slots=True)
class _Step:
    """A tool call, or something said, in the order of the session."""

    role: str
    text: str
    tool: ToolPart | None
    source: Source


def sources_in(messages: Iterable[CapturedMessage], kind: str) -> tuple[Source, ...]:
    """The last message of each turn, as sources."""
    return _one_of_each_turn(Source(kind, one.source_id, one.created_at) for one in messages)


def _one_of_each_turn(sources: Iterable[Source]) -> tuple[Source, ...]:
    return tuple({turn_of(source.ref): source for source in sources if source.ref}.values())


def experiences_in(messages: Sequence[CapturedMessage]) -> Iterator[Experience]:
    """One experience for each error that a later success of the same tool, or a person's word, shows to be fixed, and
    for each correction after which the person approved the work."""
    steps = [
        _Step(
            message.role,
            _text(part),
            part if isinstance(part, ToolPart) else None,
            Source("chat_turn", message.source_id, message.created_at),
        )
        for message in messages
        for part in message.parts
    ]
    at = found = 0
    while at < len(steps) and found < MAX_EXPERIENCES:
        fixed = _fixed_at(steps, at) if _fails(steps[at]) else None
        approved = _approved_at(steps, at) if fixed is None and _corrects(steps, at) else None
        end = approved if fixed is None else fixed
        if end is None:
            at += 1
            continue
        yield _experience(steps, at, end) if approved is None else _review(steps, at, end)
        found += 1
        at = end + 1


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


def _corrects(steps: Sequence[_Step], at: int) -> bool:
    """Whether the user objects to what was done before."""
    step = steps[at]
    is_review = step.role == "user" and not step.tool and bool(_CORRECTS.search(step.text[:4000]))
    return is_review and any(before.role == "assistant" for before in steps[:at])


def _approved_at(steps: Sequence[_Step], correction: int) -> int | None:
    """The step in which the user approves what was made of the correction; None where something else is said first."""
    helped = False
    for at in range(correction + 1, min(len(steps), correction + 200)):
        step = steps[at]
        if step.role == "assistant":
            helped = True
        elif not step.tool:
            is_approval = len(step.text) <= _APPROVAL_CHARS and _APPROVES.search(step.text)
            return at if helped and is_approval and not _CORRECTS.search(step.text) else None
    return None


def _repeats(tool: ToolPart, failed: ToolPart) -> bool:
    """Whether a call tries again what failed: the same tool, with some of the same words where both have any."""
    words, before = token_set(_said_to(tool)), token_set(_said_to(failed))
    return tool.name == failed.name and (not words or not before or not words.isdisjoint(before))


def _said_to(tool: ToolPart) -> str:
    """The texts among a tool's arguments: a command, a path, a query."""
    given = tool.input.values() if isinstance(tool.input, dict) else [tool.input]
    return " ".join(value[:4000] for value in given if isinstance(value, str))


def _experience(steps: Sequence[_Step], error: int, fixed: int) -> Experience:
    """The lesson, its error named once: the situation says it, everything else refers to it."""
    failed, between = steps[error], steps[error + 1 : fixed + 1]
    shown = _error_line(
        (failed.tool.output or "")[-8000:].splitlines() if failed.tool else list(sentences(failed.text[:8000]))
    )
    task, asked = _task(steps[: error + 1], shown)
    approach = [line for step in between if (line := _approach_line(step))][-MAX_STEPS:]
    why = [one_line(s) for step in between if step.role == "assistant" and not step.tool for s in _reasons(step.text)]
    why = [reason for reason in why if not any(reason in line for line in approach)]
    avoid = _avoid(failed.tool, steps[fixed].tool)
    done = f"{failed.tool.name} worked afterwards" if failed.tool else "the user confirmed that it works"
    situation = [f"When this error appears: {shown}", *([f"while working on: {task}"] if task else [])]
    reflect = [avoid, *why[:3], f"Verified: {done}."]
    used = [*asked, *steps[error : fixed + 1]]
    return _written(task or "An error and its fix", situation, approach, reflect, shown, "the error", used)


def _review(steps: Sequence[_Step], correction: int, approved: int) -> Experience:
    """The lesson of a review: what it said, and what was made of it."""
    said = one_line(_asked(steps[correction].text[:4_000]) or steps[correction].text, 200)
    task, asked = _task(steps[:correction], said)
    lines = (_approach_line(step) for step in steps[correction + 1 : approved])
    approach = [line for line in lines if line][-MAX_STEPS:]
    situation = [*([f"When working on: {task}"] if task else []), f"A review said: {said}"]
    reflect = ["Avoid what the review objected to: do it that way from the beginning.", "Verified: it was approved."]
    used = [*asked, *steps[correction : approved + 1]]
    return _written(task or "A review", situation, approach, reflect, said, "what the review said", used)


def _avoid(failed: ToolPart | None, mended: ToolPart | None) -> str:
    if failed is None:
        return "Avoid going on before it is gone."
    if mended is not None and mended.input == failed.input:
        return "The same call worked when it was made again: try it once more before anything is changed."
    return f"Avoid repeating `{_call(failed)}` as it was."


def _written(
    title: str,
    situation: Iterable[str],
    approach: Iterable[str],
    reflect: Iterable[str],
    shown: str,
    shown_as: str,
    used: Iterable[_Step],
) -> Experience:
    """The lesson. What it is about (``shown``) stands in the situation alone; everything else refers to it."""
    body = "\n".join(
        [
            f"# {one_line(title, 80)}",
            "",
            "## Situation",
            *(f"- {line}" for line in situation),
            "",
            "## Approach",
            *_bullets(approach, shown, shown_as),
            "",
            "## Reflect",
            *_bullets(reflect, shown, shown_as),
        ]
    )
    name = f"{slug(title, 5)}-{slug(shown, 3)}"[:90]
    return Experience(name, body, _one_of_each_turn(step.source for step in used))


def _task(steps: Sequence[_Step], shown: str) -> tuple[str, Sequence[_Step]]:
    """What was asked for last, in words other than the error's, and without what the user states of themselves; and
    where it was asked."""
    for step in reversed(steps):
        if step.role == "user":
            task = one_line(_asked(step.text[:4_000].replace(shown, " ")), 200).strip(" :：-—")
            if len(task) >= _LEAST_TASK:
                return task, (step,)
    return "", ()


def _asked(text: str) -> str:
    """The sentences that are no statement to remember: an experience is everybody's guidance, and no one's memory."""
    said = sentences(text)
    return " ".join(one for one in said if len(one) > MAX_STATEMENT_CHARS or statement_in(one, "1970-01-01") is None)


def _bullets(lines: Iterable[str], shown: str, shown_as: str) -> list[str]:
    """Different lines as a list, in which what they are about has no words of its own."""
    return [f"- {line}" for line in dict.fromkeys(line.replace(shown, shown_as) for line in lines)]


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
