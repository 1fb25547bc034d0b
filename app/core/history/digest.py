"""A summary without a model, from captured messages alone: deterministic, linear, English and Chinese.

It stands in for the backend's summary while extraction runs or after it failed, so that the history is never missing
from a prompt, and is the embedded backend's archive summary when no chat model is configured.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.core.capture.captured_message import CapturedMessage, ToolPart
from app.core.history.lines import is_acknowledgement, one_line
from app.core.history.notes import Notes, NotesOn, argument_of, distinct, notes_on, spoken, texts_of, tools_of
from app.core.history.open_points import still_failing
from app.core.history.session_opening import LEAST_SPECIFICS, bullet, content_of
from app.core.history.summary_message import cut_to_tokens
from app.core.messages.tokens import estimate_tokens
from app.text.sentences import ends_in_question

MAX_READ = 600
"""Of how many messages each sentence is judged: of the newest ones, an archive seldom holds more."""
_TITLE = "# "
_TITLE_CHARS = 120
_LAST_STEPS = 8
_LAST_QUESTIONS = 2
_MAX_FILES = 40
_GAP_TOKENS = 8
"""What the line about omitted ones costs."""


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading, its lines, and the share of the space that it may claim before others have taken theirs."""

    heading: str
    lines: tuple[str, ...]
    share: float
    weights: Mapping[str, int] = field(default_factory=dict)
    """What a line is worth where space is short; among equals the newest stay."""


def digest(messages: Sequence[CapturedMessage], max_tokens: int, said: str = "", notes: NotesOn = notes_on) -> str:
    """What happened in ``messages``, in at most about ``max_tokens`` tokens, cut at line ends; empty for no messages.

    Sections: title (how it began), decisions, open points, facts, requests, files, errors and fixes, last steps. Each
    has a share of the space and keeps its newest lines, the facts those with most names, numbers and dates; what one
    does not need goes to the next. No line stands twice, and none that stands in ``said``. ``notes``: see `NotesOn`.
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


def _sections(messages: Sequence[CapturedMessage], notes: Sequence[Notes]) -> list[_Section]:
    first = next((text for message in messages if message.role == "user" and (text := _first_words(message))), "")
    steps = [f"- {step}" for message in messages[-2 * _LAST_STEPS :] if (step := _step(message))]
    title = first or (steps[0][2:] if steps else next((one_line(text) for text in map(_text, messages) if text), ""))
    read = zip(messages[-MAX_READ:], notes[-MAX_READ:], strict=True)
    spoken = [(message, line) for message, noted in read for line in noted.lines(message)]
    facts = {
        bullet(message, line): line.specifics - (message.role == "assistant")
        for message, line in spoken
        if not line.asks and (message.role == "user" or line.specifics >= LEAST_SPECIFICS)
    }
    requests = [f"- {line.text}" for message, line in spoken if message.role == "user" and line.asks]
    fixes = [line for noted in notes for line in noted.fixes]
    files = list(dict.fromkeys(path for noted in notes for path in noted.files))[-_MAX_FILES:]
    return [
        _Section(_TITLE, (one_line(title, _TITLE_CHARS),) if title else (), 0.05),
        _Section("## Decisions", distinct(line for noted in notes for line in noted.decisions), 0.15),
        _Section("## Open points", distinct(_open_points(messages, notes)), 0.12),
        _Section("## Facts", tuple(facts), 0.3, facts),
        _Section("## Requests", distinct(requests), 0.2),
        _Section("## Files", tuple(f"- {path}" for path in files), 0.08),
        _Section("## Errors and fixes", distinct([*_errors(notes), *fixes]), 0.12),
        _Section("## Last steps", tuple(steps[-_LAST_STEPS:]), 0.15),
    ]


def _open_points(messages: Sequence[CapturedMessage], notes: Sequence[Notes]) -> Iterator[str]:
    """What was noted to be done, what was promised last, what still fails, and the question that nobody answered."""
    for noted in notes:
        yield from noted.todos
    for noted in notes[-_LAST_STEPS:]:
        yield from noted.promises
    calls = [(call.what, call.worked, call.error) for noted in notes for call in noted.calls]
    yield from (f"{error} (still failing)" for error in still_failing(calls))
    speaking = [index for index, message in enumerate(messages) if any(map(str.strip, texts_of(message)))]
    if speaking:
        last = speaking[-1]
        asked = [line.text for line in notes[last].lines(messages[last]) if ends_in_question(line.text)]
        yield from (spoken(messages[last], f"unanswered: {text}") for text in asked[-_LAST_QUESTIONS:])


def _first_words(message: CapturedMessage) -> str:
    text = _text(message)
    return "" if is_acknowledgement(text) else one_line(text)


def _unsaid(section: _Section, written: Sequence[str]) -> Sequence[str]:
    """The section's lines without those whose whole content stands in a section before it."""
    said = "\n".join(written)
    return (
        section.lines if section.heading == _TITLE else [line for line in section.lines if content_of(line) not in said]
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
    text = " ".join(texts_of(message))
    calls = ", ".join(_call(part) for part in tools_of(message))
    did = [piece for piece in ("" if is_acknowledgement(text) else one_line(text, 160), calls) if piece]
    return f"{message.role}: {' · '.join(did)}" if did else ""


def _call(part: ToolPart) -> str:
    outcome = "no result" if part.output is None else "failed" if part.failed else "ok"
    return f"{one_line(part.name, 60) or 'tool'}({one_line(argument_of(part), 80)}) {outcome}"


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


def _text(message: CapturedMessage) -> str:
    return "\n".join(texts_of(message))
