"""What a host asked a compaction to keep: of the archived messages, the lines nearest to its instructions.

For a backend that can not be instructed, and for a summary without a model.
"""

from collections.abc import Sequence

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.history.archived import Archived, find
from app.core.history.digest import MAX_READ
from app.core.history.lines import lines_of
from app.core.history.notes import spoken, texts_of
from app.core.history.summary_message import cut_to_tokens

HEADING = "## Asked to be kept"
MAX_TOKENS = 600
"""Of all lines together, those of earlier compactions included."""
_MOST_LINES = 20


def focused(messages: Sequence[CapturedMessage], instructions: str, before: str = "") -> str:
    """The lines of ``messages`` that hold most of what is rare in the instructions, in the order in which they were
    said, behind those that were kept ``before``; ``before`` where there are none."""
    lines = [
        Archived("", number, CapturedMessage(message.role, (TextPart(line.text),), message.created_at))
        for message in messages[-MAX_READ:]
        for number, line in enumerate(line for text in texts_of(message) for line in lines_of(text))
    ]
    numbered = [Archived("", number, one.message) for number, one in enumerate(lines)]
    found = sorted(find(numbered, instructions, _MOST_LINES), key=lambda one: one.message.number)
    kept = before.splitlines()
    new = dict.fromkeys(spoken(one.message.message, one.message.text) for one in found)
    fresh = cut_to_tokens("\n".join(line for line in new if line not in kept), MAX_TOKENS)
    if not fresh:
        return before
    while kept and not cut_to_tokens("\n".join([*kept, fresh]), MAX_TOKENS).endswith(fresh):
        kept.pop(0)
    return "\n".join([*kept, fresh])


def section(focus: str) -> str:
    """The lines under their heading; nothing for none."""
    return f"{HEADING}\n{focus}" if focus else ""
