"""A summary without a model, from captured messages alone: deterministic, linear, English and Chinese.

It stands in for the backend's summary while extraction runs or after it failed (issue "past never goes blank"), and is
the embedded engine's archive summary when no chat model is configured.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.core.summary import cut_to_tokens
from app.core.tokens import estimate_tokens
from app.core.turns import CapturedMessage, TextPart, ToolPart

MAX_LINE_CHARS = 240
"""Longest line of a digest; a longer sentence is cut with an ellipsis."""

_TITLE = "# "
_TITLE_CHARS = 120
_LAST_STEPS = 8
_MAX_FILES = 40
_GAP_TOKENS = 8
"""What the line about omitted ones costs."""
_LEAST_WEIGHT = 16
"""A decision says at least this much, wide characters counted as three: "Agreed." alone says nothing."""
_SENTENCES = re.compile(r"[。！？\n]+|[.!?](?=\s)")
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
    brief: bool = False
    """Whether lines that say nothing new are left out."""


def digest(messages: Sequence[CapturedMessage], max_tokens: int) -> str:
    """What happened in ``messages``, in at most about ``max_tokens`` tokens, cut at line ends; empty for no messages.

    Sections: title (the first request), requests, decisions, files, errors and fixes, last steps. Each has a share of
    the space and keeps its newest lines; what one does not need goes to the next.
    """
    sections = [section for section in _sections(messages) if section.lines]
    if not sections or max_tokens <= 0:
        return ""
    left, shares = max_tokens, sum(section.share for section in sections)
    written: list[str] = []
    for section in sections:
        text = _fitted(section, _unsaid(section, written), int(left * section.share / shares))
        shares -= section.share
        if text:
            written.append(text)
            left -= estimate_tokens(text) + 1
    return cut_to_tokens("\n\n".join(written), max_tokens)


def one_line(text: str, limit: int = MAX_LINE_CHARS) -> str:
    """``text`` on one line, cut to ``limit`` characters with an ellipsis."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit and len(text) <= limit * 4 else line[: limit - 1].rstrip() + "…"


def _sections(messages: Sequence[CapturedMessage]) -> list[_Section]:
    requests = [f"- {line}" for message in messages if message.role == "user" and (line := _request(message))]
    sentences = [sentence for message in messages for text in _texts(message) for sentence in _sentences(text)]
    fixes = [f"- {one_line(sentence)}" for sentence in sentences if _FIXED.search(sentence)]
    title = requests[0][2:] if requests else _step(messages[0]) if messages else ""
    whole = len(title) <= _TITLE_CHARS
    return [
        _Section(_TITLE, (one_line(title, _TITLE_CHARS),) if title else (), 0.05),
        _Section("## Requests", _distinct(requests[1:] if whole else requests), 0.3),
        _Section(
            "## Decisions", _distinct(f"- {one_line(s)}" for s in sentences if _weighty(s) and _DECIDED.search(s)), 0.2
        ),
        _Section("## Files", tuple(f"- {path}" for path in _files(messages)), 0.1, brief=True),
        _Section("## Errors and fixes", _distinct([*_errors(messages), *fixes]), 0.15, brief=True),
        _Section("## Last steps", tuple(f"- {_step(message)}" for message in messages[-_LAST_STEPS:]), 0.2, brief=True),
    ]


def _unsaid(section: _Section, written: Sequence[str]) -> Sequence[str]:
    """The section's lines without those whose whole content stands in a section before it."""
    if not section.brief:
        return section.lines
    said = "\n".join(written)
    return [line for line in section.lines if _SPEAKER.sub("", line, count=1) not in said]


def _fitted(section: _Section, lines: Sequence[str], limit: int) -> str:
    """The section within ``limit`` tokens: the newest lines that fit. The title is always whole."""
    if section.heading == _TITLE:
        return _TITLE + lines[0]
    left = limit - estimate_tokens(section.heading) - 1
    newest: list[str] = []
    for line in reversed(lines):
        left -= estimate_tokens(line) + 1
        if left < (_GAP_TOKENS if len(newest) + 1 < len(lines) else 0):
            break
        newest.append(line)
    if not newest:
        return ""
    omitted = len(lines) - len(newest)
    gap = [f"- … ({omitted} more before)"] if omitted else []
    return "\n".join([section.heading, *gap, *reversed(newest)])


def _request(message: CapturedMessage) -> str:
    return one_line("\n".join(_texts(message)))


def _step(message: CapturedMessage) -> str:
    said = one_line(" ".join(_texts(message)), 160)
    calls = ", ".join(_call(part) for part in _tools(message))
    return f"{message.role}: {' · '.join(piece for piece in (said, calls) if piece)}"


def _call(part: ToolPart) -> str:
    outcome = "no result" if part.output is None else "failed" if part.is_error else "ok"
    return f"{one_line(part.name, 60) or 'tool'}({one_line(_argument(part), 80)}) {outcome}"


def _argument(part: ToolPart) -> str:
    """The first text among the arguments: a command, a path, a query."""
    if isinstance(part.input, dict):
        return next((value for value in part.input.values() if isinstance(value, str)), "")
    return part.input if isinstance(part.input, str) else ""


def _errors(messages: Sequence[CapturedMessage]) -> Iterator[str]:
    """Each failed call with the start of its error, and whether the same tool worked later."""
    tools = [part for message in messages for part in _tools(message)]
    works: set[str] = set()
    worked_later = []
    for part in reversed(tools):
        worked_later.append(part.name in works)
        if part.output is not None and not part.is_error:
            works.add(part.name)
    for part, later in zip(tools, reversed(worked_later), strict=True):
        if part.is_error:
            ending = " (a later call worked)" if later else ""
            yield f"- {part.name}({one_line(_argument(part), 80)}): {one_line(part.output or '', 120)}{ending}"


def _files(messages: Sequence[CapturedMessage]) -> list[str]:
    """Paths that tools were given or people named, the latest `_MAX_FILES` in order of first mention."""
    found: dict[str, None] = {}
    for message in messages:
        for part in message.parts:
            text = part.text if isinstance(part, TextPart) else _input_text(part)
            for word in _PATH_LIKE.findall(text):
                path = word.strip(".-@")
                if 3 <= len(path) <= 200 and _is_path(path):
                    found.setdefault(path)
    return list(found)[-_MAX_FILES:]


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


def _sentences(text: str) -> list[str]:
    return [piece.strip() for piece in _SENTENCES.split(text) if 4 <= len(piece.strip()) <= 2000]


def _weighty(sentence: str) -> bool:
    return sum(1 if char.isascii() else 3 for char in sentence[:_LEAST_WEIGHT]) >= _LEAST_WEIGHT


def _texts(message: CapturedMessage) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, TextPart)]


def _tools(message: CapturedMessage) -> list[ToolPart]:
    return [part for part in message.parts if isinstance(part, ToolPart)]


def _distinct(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
