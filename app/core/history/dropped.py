"""The turns that left the prompt, named: a line for each of the newest, counts and names for those before them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.capture.captured_message import CapturedMessage
from app.core.history.lines import one_line
from app.core.history.notes import NotesOn, notes_on, texts_of, tools_of
from app.core.history.summary_message import cut_to_tokens
from app.core.messages.host_message import Messages, Role
from app.core.messages.tokens import estimate_tokens

HEADING = "## Turns that are not shown any more"
MOST_LINES = 50
LEAST_TOKENS = 9
"""Of a line: who reads it must know which turn is meant."""
MOST_TOKENS = 48
_MOST_NAMES = 6
_COUNTED = re.compile(r"- Before them ([\d,]{1,20}) turns?(.{0,240})")


@dataclass(frozen=True, slots=True)
class Former:
    """The turns that an earlier summary of ours names, line by line, and the line about those before them."""

    lines: tuple[str, ...] = ()
    counted: str = ""


def taken_out(summary: str) -> tuple[str, Former]:
    """A summary of ours without the section that names turns, and that section."""
    before, heading, rest = summary.partition(f"{HEADING}\n")
    if not heading:
        return summary, Former()
    section, _, behind = rest.partition("\n\n")
    lines = section.split("\n")
    counted = lines.pop(0) if _COUNTED.match(lines[0]) else ""
    left = "\n\n".join(part for part in (before.strip("\n"), behind) if part)
    return left, Former(tuple(lines), counted)


def named(messages: Sequence[CapturedMessage], room: int, notes: NotesOn = notes_on, former: Former = Former()) -> str:
    """The turns of ``messages``, behind those that were named before, in about ``room`` tokens; more where each of the
    newest would not have a line else."""
    turns = _turns(messages)
    if not turns:
        return ""
    newest, older = turns[-MOST_LINES:], turns[:-MOST_LINES]
    named_before = former.lines[max(0, len(former.lines) - (MOST_LINES - len(newest))) :]
    before = _before(older, len(former.lines) - len(named_before), former.counted, notes)
    left = room - estimate_tokens(HEADING) - estimate_tokens(before)
    each = min(MOST_TOKENS, max(LEAST_TOKENS, left // (len(newest) + len(named_before)) - 1))
    again = (cut_to_tokens(line, each) for line in named_before)
    return "\n".join([HEADING, *filter(None, [before]), *again, *(_line(turn, each) for turn in newest)])


def least_tokens(messages: Sequence[CapturedMessage], former: Former = Former()) -> int:
    """What naming them takes at the least."""
    if not messages:
        return 0
    count = len(_turns(messages)) + len(former.lines)
    more = 60 if count > MOST_LINES or former.counted else 0
    return estimate_tokens(HEADING) + min(count, MOST_LINES) * (LEAST_TOKENS + 1) + more


def least_to_name(messages: Messages) -> int:
    """What naming all turns of a host's messages but the newest takes at the least."""
    count = sum(message.role is Role.USER for message in messages) - 1
    return estimate_tokens(HEADING) + min(count, MOST_LINES) * (LEAST_TOKENS + 1) + (60 if count > MOST_LINES else 0)


def _turns(messages: Sequence[CapturedMessage]) -> list[list[CapturedMessage]]:
    turns: list[list[CapturedMessage]] = []
    for message in messages:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _line(turn: Sequence[CapturedMessage], tokens: int) -> str:
    """What was asked, what was done, and what came of it, as far as there is room."""
    said = [" ".join(texts_of(message)).strip() for message in turn]
    asked = said[0] if turn[0].role == "user" else ""
    calls = Counter(part.name or "tool" for message in turn for part in tools_of(message))
    failed = sum(part.failed for message in turn for part in tools_of(message))
    did = _counts(calls, 3) + (f", {failed} failed" if failed else "")
    answered = next(
        (text for text, message in zip(said[::-1], turn[::-1], strict=True) if text and message.role == "assistant"), ""
    )
    shares = (2, 1, 1) if asked else (0, 1, 1)
    room = tokens - 3
    pieces = []
    for piece, share in zip((asked, did, answered), shares, strict=True):
        if piece and share:
            cut = cut_to_tokens(one_line(piece, 200), max(4, room * share // 4 if asked else room // 2))
            pieces.append(cut)
            if estimate_tokens(" · ".join(pieces)) >= tokens - 2:
                break
    return f"- {cut_to_tokens(' · '.join(pieces), tokens - 1) or 'a turn without words'}"


def _before(turns: Sequence[Sequence[CapturedMessage]], unnamed: int, former: str, notes: NotesOn) -> str:
    """A line about the turns that have none of their own."""
    counted = _COUNTED.match(former)
    count = len(turns) + unnamed + (int(counted[1].replace(",", "")) if counted else 0)
    if not count:
        return ""
    more = counted[2] if counted and not turns else _names(turns, notes)
    return one_line(f"- Before them {count:,} turns{more}")


def _names(turns: Sequence[Sequence[CapturedMessage]], notes: NotesOn) -> str:
    """What was called, and the files that were in hand."""
    messages = [message for turn in turns for message in turn]
    calls = Counter(part.name or "tool" for message in messages for part in tools_of(message))
    files = list(dict.fromkeys(path for message in messages for path in notes(message).files))
    did = f", {calls.total():,} calls ({_counts(calls, _MOST_NAMES)})" if calls else ""
    named_files = f"; files: {', '.join(files[-_MOST_NAMES:])}" if files else ""
    return f"{did}{named_files}"


def _counts(names: Counter[str], most: int) -> str:
    shown = [f"{one_line(name, 40)}{f' ×{count}' if count > 1 else ''}" for name, count in names.most_common(most)]
    return ", ".join(shown) + (", ..." if len(names) > most else "")
