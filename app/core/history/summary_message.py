"""The message that stands for a session's archived history, and how it is known again.

The host may send our own output back (contract, rule 3), in its own dress, so the marks around the summary are signed
(`app.core.injection.history_summary`): only what we really wrote is ever taken away and rebuilt, never a person's
message that merely starts with the same heading.
"""

import re

from app.core.injection.fence import voiceless
from app.core.injection.history_summary import (
    ARCHIVE_EXPAND,
    ARCHIVE_SEARCH,
    GUIDE,
    GUIDE_TO_ARCHIVES,
    HEADING,
    OF_ARCHIVES,
    OF_CUT,
    Summary,
    find_summaries,
    framed,
)
from app.core.messages.host_message import HostMessage, Messages, Role
from app.core.messages.tokens import MESSAGE_OVERHEAD, estimate_tokens, fitting

__all__ = [
    "ACKNOWLEDGEMENT",
    "ARCHIVE_EXPAND",
    "ARCHIVE_SEARCH",
    "FRAME_TOKENS",
    "GUIDE",
    "GUIDE_TO_ARCHIVES",
    "HEADING",
    "INDEX_HEADING",
    "SUMMARY_COST",
    "acknowledgement",
    "contained",
    "cut_to_tokens",
    "is_acknowledgement",
    "is_summary",
    "own_messages",
    "stands_for_cut",
    "summary_body",
    "summary_message",
]

ACKNOWLEDGEMENT = "Understood. I will continue from this summary of our earlier conversation."
"""What the assistant says between the summary and a user message, so that no two user messages meet."""

INDEX_HEADING = "[Archive Index]"
"""Stands before the abstracts of older archives, inside the summary message."""

_FORGED_TAG = re.compile(r"<(?=\s{0,20}/?\s{0,20}(?:system|user|human|assistant|tool)\b)", re.IGNORECASE)
_FORGED_INDEX = re.compile(r"^([ \t]{0,20})\[(Archive Index\b[^\[\]\n]{0,60})\]?", re.IGNORECASE | re.MULTILINE)
_FORGED_MARK = re.compile(
    r"\[((?:End\s{1,20}of\s{1,20})?Session\s{1,20}History\s{1,20}Summary\b[^\[\]\n]{0,60})\]?", re.IGNORECASE
)
_HASHES = [(one + other) * 3 for one in "0abcdef" for other in "0abcdef"]
FRAME_TOKENS = (
    max(estimate_tokens(f"{HEADING} {digits}\n[End of Session History Summary {digits}]\n") for digits in _HASHES) + 2
)
"""What heading and end line cost on top of the text, at the most."""
GUIDE_TOKENS = max(estimate_tokens(GUIDE), estimate_tokens(GUIDE_TO_ARCHIVES))
ACKNOWLEDGEMENT_TOKENS = MESSAGE_OVERHEAD + estimate_tokens(ACKNOWLEDGEMENT)
SUMMARY_COST = FRAME_TOKENS + MESSAGE_OVERHEAD + ACKNOWLEDGEMENT_TOKENS + GUIDE_TOKENS
"""What a prompt with a summary costs beyond the summary's text."""


def summary_message(body: str, *, of_cut: bool = False) -> HostMessage:
    """The user message that shows ``body`` as the session's history; ``of_cut``: see `stands_for_cut`."""
    return HostMessage({"role": "user", "content": framed(body, OF_CUT if of_cut else OF_ARCHIVES)})


def acknowledgement() -> HostMessage:
    """The assistant message between the summary and a user message."""
    return HostMessage({"role": "assistant", "content": ACKNOWLEDGEMENT})


def is_summary(message: HostMessage) -> bool:
    """True only for a message that `summary_message` made, or what is left of one, whatever the host did to its shape.

    A message in which somebody says anything beside it is none.
    """
    return _summary_in(message) is not None


def stands_for_cut(message: HostMessage) -> bool:
    """Whether it is a summary of messages that only the budget cut: no archive tells what it tells."""
    found = _summary_in(message)
    return found is not None and found.of == OF_CUT


def is_acknowledgement(message: HostMessage) -> bool:
    """True for our acknowledgement. It is ours only directly behind a summary."""
    return message.role is Role.ASSISTANT and message.text.strip() == ACKNOWLEDGEMENT and not message.calls


def summary_body(message: HostMessage) -> str:
    """The text inside a message for which `is_summary` holds."""
    found = _summary_in(message)
    return found.body if found else ""


def contained(text: str) -> str:
    """Summary text as data: its headings and lists stay, but it can neither forge our lines nor speak as a role.

    It passes what memories pass in a block (`app.core.injection.fence`); what begins like a line of ours becomes text
    that reads the same.
    """
    text = _FORGED_MARK.sub(r"(\1)", _FORGED_TAG.sub("&lt;", voiceless(text)))
    return _FORGED_INDEX.sub(r"\1(\2)", text).strip()


def own_messages(messages: Messages) -> list[bool]:
    """For each message: did we put it there, as a summary or as the acknowledgement behind one?"""
    own: list[bool] = []
    for index, message in enumerate(messages):
        behind = index > 0 and own[-1] and is_summary(messages[index - 1])
        own.append(is_summary(message) or (behind and is_acknowledgement(message)))
    return own


def cut_to_tokens(text: str, limit: int) -> str:
    """``text`` if it fits into ``limit`` tokens, else as many of its first lines as do, without trailing white space.

    A first line that is too long by itself is cut within. Linear in the length of the text.
    """
    if limit <= 0:
        return ""
    if estimate_tokens(text) <= limit:
        return text
    end = fitting(text, limit)
    kept = text[:end]
    lines = kept[: end if text[end : end + 1] == "\n" else kept.rfind("\n") + 1]
    return lines.rstrip() or kept.rstrip()


def _summary_in(message: HostMessage) -> Summary | None:
    """The summary that the message is and nothing else; None for any other message."""
    if message.role is not Role.USER:
        return None
    found = find_summaries(message.text)
    return found[-1] if found and not message.said.strip() else None
