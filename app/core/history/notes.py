"""What a summary may take from one message. It depends on the message alone, so it is made once and kept."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from app.classify.own_words import own_words
from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.history.lines import HEAD_CHARS, TAIL_CHARS, Line, lines_of, one_line, sentences_of
from app.core.history.open_points import promises_in, todos_in
from app.text.markdown import own_lines
from app.text.scripts import weight

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
_PATH_LIKE = re.compile(r"[A-Za-z0-9_./\\~@-]+")
_PATH_KEYS = frozenset({"path", "file", "filename", "file_path", "filepath", "filePath", "target", "notebook_path"})


@dataclass(frozen=True, slots=True)
class CallNote:
    """One tool call: whether it worked, and the line about its error if it did not."""

    tool: str
    worked: bool
    error: str = ""
    what: str = ""
    """The tool with its first argument: the same call again has the same."""


@dataclass(slots=True)
class Notes:
    """What a digest may take from one message. It depends on the message alone, and `NoteCache` keeps it."""

    decisions: tuple[str, ...]
    fixes: tuple[str, ...]
    files: tuple[str, ...]
    calls: tuple[CallNote, ...]
    todos: tuple[str, ...]
    promises: tuple[str, ...]
    chars: int
    """Of the message's text, as far as `lines` reads it."""
    _lines: tuple[Line, ...] | None = field(default=None, compare=False)

    def lines(self, message: CapturedMessage) -> tuple[Line, ...]:
        """The message's lines (`lines_of`), judged when they are first asked for: not every message's are."""
        if self._lines is None:
            self._lines = tuple(line for text in texts_of(message) for line in lines_of(text))
        return self._lines

    @property
    def size(self) -> int:
        """Characters that are held, or will be, about."""
        calls = (text for call in self.calls for text in (call.error, call.what))
        texts = (*self.decisions, *self.fixes, *self.files, *self.todos, *self.promises, *calls)
        return 300 + self.chars + sum([60 + len(text) for text in texts])


def notes_on(message: CapturedMessage) -> Notes:
    """The notes on a message: the dear part of a digest. What it only quotes is no decision of anybody's."""
    texts = texts_of(message)
    own = ["\n".join(own_words(text) if message.role == "user" else own_lines(text)) for text in texts]
    sentences = [sentence for text in own for sentence in sentences_of(text)]

    def told(lines: Iterable[str]) -> tuple[str, ...]:
        return distinct(spoken(message, one_line(line)) for line in lines)

    return Notes(
        decisions=told(s for s in sentences if _DECIDED.search(s) and weight(s) >= _LEAST_WEIGHT),
        fixes=told(s for s in sentences if _FIXED.search(s)),
        files=tuple(_files(message)),
        calls=tuple(_call_note(part) for part in tools_of(message)),
        todos=told(line for text in own for line in todos_in(text)),
        promises=told(promises_in(sentences)) if message.role == "assistant" else (),
        chars=sum(min(len(text), HEAD_CHARS + TAIL_CHARS) for text in texts),
    )


def spoken(message: CapturedMessage, text: str) -> str:
    """``text`` in a list, with who said it unless it was the user."""
    return f"- {'assistant: ' if message.role == 'assistant' else ''}{text}"


NotesOn = Callable[[CapturedMessage], Notes]
"""`notes_on`, or what knows its results already."""


def argument_of(part: ToolPart) -> str:
    """The first text among the arguments: a command, a path, a query."""
    if isinstance(part.input, dict):
        return next((value for value in part.input.values() if isinstance(value, str)), "")
    return part.input if isinstance(part.input, str) else ""


def _call_note(part: ToolPart) -> CallNote:
    failed = part.failed
    what = f"{part.name}({one_line(argument_of(part), 80)})"
    said = f"- {what}: {one_line(part.output or '', 120)}" if failed else ""
    return CallNote(part.name, part.output is not None and not failed, said, what)


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


def texts_of(message: CapturedMessage) -> list[str]:
    """What was said in it, text by text."""
    return [part.text for part in message.parts if isinstance(part, TextPart)]


def tools_of(message: CapturedMessage) -> list[ToolPart]:
    """The calls it makes."""
    return [part for part in message.parts if isinstance(part, ToolPart)]


def distinct(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines without repeats, in order."""
    return tuple(dict.fromkeys(lines))
