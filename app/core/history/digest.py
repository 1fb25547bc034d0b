"""A summary without a model, from captured messages alone: deterministic, linear, English and Chinese.

It stands in for the backend's summary while extraction runs or after it failed, so that the history is never missing
from a prompt, and is the embedded backend's archive summary when no chat model is configured.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.history.lines import (
    HEAD_CHARS,
    MAX_LINE_CHARS,
    TAIL_CHARS,
    Line,
    is_acknowledgement,
    lines_of,
    one_line,
    sentences_of,
    specifics_in,
)
from app.core.history.summary_message import cut_to_tokens
from app.core.messages.tokens import estimate_tokens
from app.text.scripts import weight

__all__ = [
    "MAX_LINE_CHARS",
    "Notes",
    "digest",
    "longer_opening",
    "notes_on",
    "one_line",
    "opening_lines",
    "told_by",
    "told_in",
]

OPENING_CHARS = 3_000
"""How much of a session's beginning is kept word for word."""
OPENING_TURNS = 16
"""Of how many turns. Both bounds are reached early, so that what is kept soon stays the same (provider caches)."""
MAX_READ = 600
"""Of how many messages each sentence is judged: of the newest ones, an archive seldom holds more."""
_LEAST_SPECIFICS = 2
"""An assistant says much; a line of it is a fact worth a place when it names this many names, numbers or dates."""
_TITLE = "# "
_OPENING = "## How it began"
_TITLE_CHARS = 120
_LAST_STEPS = 8
_MAX_FILES = 40
_GAP_TOKENS = 8
"""What the line about omitted ones costs."""
_LEAST_WEIGHT = 16
"""A decision weighs at least this much: "Agreed." alone says nothing."""
_DECIDED = re.compile(
    r"\b(?:decided|decision|agreed|we'll (?:use|go)|let's (?:use|go with)|going with|go with|chose|settled on|approved|"
    r"switch(?:ed)? to|instead of|from now on|must (?:not|never|always)|never|always)\b"
    r"|决定|決定|确定用|選擇|选择|选用|采用|採用|约定|約定|改用|同意|统一用|以后都|以後都|必须|不要再|方案是",
    re.IGNORECASE,
)
_FIXED = re.compile(
    r"\b(?:fixed|root cause|the (?:problem|bug|issue|cause) (?:was|is)|solved|resolved|works now|passes now|"
    r"workaround)\b"
    r"|修复|修復|修好|解决|解決|根因|原因是|问题在于|問題在於",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"^- (?:(?:user|assistant): )?")
_PATH_LIKE = re.compile(r"[A-Za-z0-9_./\\~@-]+")
_EXTENSION = re.compile(r"[A-Za-z0-9_-]\.[A-Za-z][A-Za-z0-9]{0,7}")
_PATH_KEYS = frozenset({"path", "file", "filename", "file_path", "filepath", "filePath", "target", "notebook_path"})


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading, its lines, and the share of the space that it may claim before others have taken theirs."""

    heading: str
    lines: tuple[str, ...]
    share: float
    weights: Mapping[str, int] = field(default_factory=dict)
    """What a line is worth where space is short; among equals the newest stay."""


@dataclass(frozen=True, slots=True)
class CallNote:
    """One tool call: whether it worked, and the line about its error if it did not."""

    tool: str
    worked: bool
    error: str = ""


@dataclass(slots=True)
class Notes:
    """What a digest may take from one message. It depends on the message alone, and `NoteCache` keeps it."""

    decisions: tuple[str, ...]
    fixes: tuple[str, ...]
    files: tuple[str, ...]
    calls: tuple[CallNote, ...]
    chars: int
    """Of the message's text, as far as `lines` reads it."""
    _lines: tuple[Line, ...] | None = field(default=None, compare=False)

    def lines(self, message: CapturedMessage) -> tuple[Line, ...]:
        """The message's lines (`lines_of`), judged when they are first asked for: not every message's are."""
        if self._lines is None:
            self._lines = tuple(line for text in _texts(message) for line in lines_of(text))
        return self._lines

    @property
    def size(self) -> int:
        """Characters that are held, or will be, about."""
        texts = (*self.decisions, *self.fixes, *self.files, *(call.error for call in self.calls))
        return 300 + self.chars + sum([60 + len(text) for text in texts])


def notes_on(message: CapturedMessage) -> Notes:
    """The notes on a message: the dear part of a digest."""
    texts = _texts(message)
    sentences = [sentence for text in texts for sentence in sentences_of(text)]
    return Notes(
        decisions=_distinct(f"- {one_line(s)}" for s in sentences if _DECIDED.search(s) and weight(s) >= _LEAST_WEIGHT),
        fixes=_distinct(f"- {one_line(s)}" for s in sentences if _FIXED.search(s)),
        files=tuple(_files(message)),
        calls=tuple(_call_note(part) for part in _tools(message)),
        chars=sum(min(len(text), HEAD_CHARS + TAIL_CHARS) for text in texts),
    )


NotesOn = Callable[[CapturedMessage], Notes]
"""`notes_on`, or what knows its results already."""


def digest(messages: Sequence[CapturedMessage], max_tokens: int, said: str = "", notes: NotesOn = notes_on) -> str:
    """What happened in ``messages``, in at most about ``max_tokens`` tokens, cut at line ends; empty for no messages.

    Sections: title (how it began), decisions, facts, requests, files, errors and fixes, last steps. Each has a share of
    the space and keeps its newest lines, the facts those with most names, numbers and dates; what one does not need
    goes to the next. No line stands twice, and none that stands in ``said``. ``notes``: see `NotesOn`.
    """
    if not messages or max_tokens <= 0:
        return ""
    sections = [section for section in _sections(messages, [notes(message) for message in messages]) if section.lines]
    if not sections:
        return ""
    left, shares = max_tokens, sum(section.share for section in sections)
    written: list[str] = [said]
    for section in sections:
        text = _fitted(section, _unsaid(section, written), int(left * section.share / shares))
        shares -= section.share
        if text:
            written.append(text)
            left -= estimate_tokens(text) + 1
    return cut_to_tokens("\n\n".join(written[1:]), max_tokens)


def told_by(messages: Iterable[CapturedMessage], notes: NotesOn = notes_on) -> list[str]:
    """What ``messages`` tell that a summary of the session's beginning must not lose, a line each, in order.

    All that the user says but acknowledgements and requests without anything specific; of the assistant, what names
    names, numbers or dates.
    """
    told = [
        _bullet(message, line)
        for message in messages
        for line in notes(message).lines(message)
        if line.specifics >= (_LEAST_SPECIFICS if message.role == "assistant" else int(line.asks))
    ]
    return list(dict.fromkeys(told))


def told_in(turn: Sequence[CapturedMessage]) -> str:
    """What a turn tells, as much of it as an opening may take."""
    return "\n".join(told_by(turn))[:OPENING_CHARS]


def longer_opening(opening: tuple[str, ...], told: str) -> tuple[str, ...]:
    """What a session's first turns told, a text each, with that of its next turn (`told_in`); complete ones stay."""
    room = OPENING_CHARS - sum(map(len, opening))
    if len(opening) >= OPENING_TURNS or room <= 0:
        return opening
    return (*opening, cut_to_tokens(told[:room], room))


def opening_lines(told: Iterable[str], max_tokens: int, said: str = "") -> str:
    """The lines of a session's beginning that do not stand in ``said``, within ``max_tokens``; specific ones first."""
    lines = [line for line in dict.fromkeys(told) if _content(line) not in said]
    order = sorted(range(len(lines)), key=lambda index: not specifics_in(lines[index]))
    kept: list[int] = []
    left = max_tokens - estimate_tokens(_OPENING) - 1
    for index in order:
        left -= estimate_tokens(lines[index]) + 1
        if left < 0:
            break
        kept.append(index)
    return "\n".join([_OPENING, *(lines[index] for index in sorted(kept))]) if kept else ""


def _sections(messages: Sequence[CapturedMessage], notes: Sequence[Notes]) -> list[_Section]:
    first = next((text for message in messages if message.role == "user" and (text := _first_words(message))), "")
    steps = [f"- {step}" for message in messages[-2 * _LAST_STEPS :] if (step := _step(message))]
    title = first or (steps[0][2:] if steps else next((one_line(text) for text in map(_text, messages) if text), ""))
    read = zip(messages[-MAX_READ:], notes[-MAX_READ:], strict=True)
    spoken = [(message, line) for message, noted in read for line in noted.lines(message)]
    facts = {
        _bullet(message, line): line.specifics - (message.role == "assistant")
        for message, line in spoken
        if not line.asks and (message.role == "user" or line.specifics >= _LEAST_SPECIFICS)
    }
    requests = [f"- {line.text}" for message, line in spoken if message.role == "user" and line.asks]
    fixes = [line for noted in notes for line in noted.fixes]
    files = list(dict.fromkeys(path for noted in notes for path in noted.files))[-_MAX_FILES:]
    return [
        _Section(_TITLE, (one_line(title, _TITLE_CHARS),) if title else (), 0.05),
        _Section("## Decisions", _distinct(line for noted in notes for line in noted.decisions), 0.15),
        _Section("## Facts", tuple(facts), 0.3, facts),
        _Section("## Requests", _distinct(requests), 0.2),
        _Section("## Files", tuple(f"- {path}" for path in files), 0.08),
        _Section("## Errors and fixes", _distinct([*_errors(notes), *fixes]), 0.12),
        _Section("## Last steps", tuple(steps[-_LAST_STEPS:]), 0.15),
    ]


def _bullet(message: CapturedMessage, line: Line) -> str:
    return f"- {'assistant: ' if message.role == 'assistant' else ''}{line.text}"


def _first_words(message: CapturedMessage) -> str:
    text = _text(message)
    return "" if is_acknowledgement(text) else one_line(text)


def _content(line: str) -> str:
    """The line without its bullet, without who spoke, and without the mark that ends it."""
    return _SPEAKER.sub("", line, count=1).rstrip(".!?。！？")


def _unsaid(section: _Section, written: Sequence[str]) -> Sequence[str]:
    """The section's lines without those whose whole content stands in a section before it."""
    said = "\n".join(written)
    return (
        section.lines if section.heading == _TITLE else [line for line in section.lines if _content(line) not in said]
    )


def _fitted(section: _Section, lines: Sequence[str], limit: int) -> str:
    """The section within ``limit`` tokens: the best lines that fit, in order. The title is always whole."""
    if section.heading == _TITLE:
        return _TITLE + lines[0]
    left = limit - estimate_tokens(section.heading) - 1
    kept: list[int] = []
    for index in sorted(range(len(lines)), key=lambda i: (section.weights.get(lines[i], 0), i), reverse=True):
        left -= estimate_tokens(lines[index]) + 1
        if left < (_GAP_TOKENS if len(kept) + 1 < len(lines) else 0):
            break
        kept.append(index)
    if not kept:
        return ""
    omitted = len(lines) - len(kept)
    gap = [f"- … ({omitted} more{'' if section.weights else ' before'})"] if omitted else []
    return "\n".join([section.heading, *gap, *(lines[index] for index in sorted(kept))])


def _step(message: CapturedMessage) -> str:
    """Who said and did what; nothing for a message that only acknowledges."""
    text = " ".join(_texts(message))
    calls = ", ".join(_call(part) for part in _tools(message))
    did = [piece for piece in ("" if is_acknowledgement(text) else one_line(text, 160), calls) if piece]
    return f"{message.role}: {' · '.join(did)}" if did else ""


def _call(part: ToolPart) -> str:
    outcome = "no result" if part.output is None else "failed" if part.failed else "ok"
    return f"{one_line(part.name, 60) or 'tool'}({one_line(_argument(part), 80)}) {outcome}"


def _argument(part: ToolPart) -> str:
    """The first text among the arguments: a command, a path, a query."""
    if isinstance(part.input, dict):
        return next((value for value in part.input.values() if isinstance(value, str)), "")
    return part.input if isinstance(part.input, str) else ""


def _call_note(part: ToolPart) -> CallNote:
    failed = part.failed
    said = f"- {part.name}({one_line(_argument(part), 80)}): {one_line(part.output or '', 120)}" if failed else ""
    return CallNote(part.name, part.output is not None and not failed, said)


def _errors(notes: Sequence[Notes]) -> Iterator[str]:
    """Each failed call with the start of its error, and whether the same tool worked later."""
    calls = [call for noted in notes for call in noted.calls]
    works: set[str] = set()
    worked_later = []
    for call in reversed(calls):
        worked_later.append(call.tool in works)
        if call.worked:
            works.add(call.tool)
    for call, later in zip(calls, reversed(worked_later), strict=True):
        if call.error:
            yield call.error + (" (a later call worked)" if later else "")


def _files(message: CapturedMessage) -> dict[str, None]:
    """Paths that tools were given or people named, in order of first mention."""
    found: dict[str, None] = {}
    for part in message.parts:
        text = part.text if isinstance(part, TextPart) else _input_text(part)
        for word in _PATH_LIKE.findall(text):
            if "." in word and 3 <= len(path := word.strip(".-@")) <= 200 and _is_path(path):
                found.setdefault(path)
    return found


def _is_path(word: str) -> bool:
    name = word.replace("\\", "/").rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    named = bool(dot) and bool(stem) and extension[:1].isalpha() and extension.isalnum() and len(extension) <= 8
    return named and ("/" in word or len(extension) <= 5) and not word.startswith("//") and "@" not in word


def _input_text(part: ToolPart) -> str:
    if isinstance(part.input, dict):
        named = [value for key, value in part.input.items() if key in _PATH_KEYS and isinstance(value, str)]
        if named:
            return "\n".join(named)
    try:
        return json.dumps(part.input, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def _texts(message: CapturedMessage) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, TextPart)]


def _text(message: CapturedMessage) -> str:
    return "\n".join(_texts(message))


def _tools(message: CapturedMessage) -> list[ToolPart]:
    return [part for part in message.parts if isinstance(part, ToolPart)]


def _distinct(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
