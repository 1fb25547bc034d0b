"""The statements in a file that OpenViking has written: list items in most, the whole text of an event. Pure.

One statement is one memory, also where several stand in one file (``profile.md``); what stands between them (headings,
blank lines) is left as it is when one of them changes.
"""

from app.openviking.ledger_entries import hash_of
from app.openviking.remote_files import place_of
from app.text.items import blocks, item, statements

WHOLE = frozenset({"events", "experiences", "skills", "tools"})
"""Categories whose files tell one thing each, in as many lines as that takes."""


def statements_in(uri: str, text: str) -> list[str]:
    """The statements of a file, in order; prose without a list is one."""
    if is_list(uri, text):
        return list(dict.fromkeys(statements(text)))
    return [text.strip()] if text.strip() else []


def is_list(uri: str, text: str) -> bool:
    """Whether the file is a list of statements."""
    return place_of(uri)[0] not in WHOLE and any(line.startswith("- ") for line in text.split("\n"))


def edited(uri: str, text: str, was: str, becomes: str | None) -> str:
    """The file with another statement, or none, in place of the one with the hash ``was``.

    The same text when it has none such, and an empty one when no statement is left.
    """
    if not is_list(uri, text):
        return text if hash_of(text) != was else becomes or ""
    lines: list[str] = []
    left = 0
    for block in blocks(text):
        if not block.text or hash_of(block.text) != was:
            lines += block.lines
            left += bool(block.text)
        elif becomes is not None:
            lines.append(item(becomes) if block.lines[0].startswith("- ") else becomes)
            left += 1
    return "\n".join(lines) if left else ""
