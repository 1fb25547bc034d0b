"""Where recall goes: in front of the question, beside the messages, as a tool call, or into the system prompt.

The host's messages are never changed in place; all but what a mode says stay the same objects (contract, rule 1).
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.core.injection.fence import SEPARATOR, contains_block, put_before
from app.core.messages.content_blocks import ToolCall
from app.core.messages.host_message import HostMessage, Messages, tokens_of
from app.core.messages.shapes import shape_of
from app.core.messages.tokens import estimate_tokens
from app.core.recall.query import asks

TOOL_NAME = "search_memories"
CALL_ID_PREFIX = "ovrecall"
"""Starts the id of every simulated call. Letters and digits only: OpenClaw drops ``_`` from ids in history."""


class Mode(StrEnum):
    """Where recall goes (contract, ``inject``)."""

    MESSAGE = "message"
    BLOCK = "block"
    TOOL_CALL = "tool_call"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Injected:
    """The context with what was recalled in its place."""

    messages: tuple[HostMessage, ...]
    system_prompt_addition: str | None = None
    beside: str = ""
    """The block, where it stands in neither: the host puts it into the prompt."""

    @property
    def tokens(self) -> int:
        """What of the prompt is here; without what stands `beside`."""
        return tokens_of(self.messages) + estimate_tokens(self.system_prompt_addition or "")


def is_injected(messages: Messages) -> bool:
    """Whether the latest user message carries a block already, or stands behind our simulated tool call."""
    if not asks(messages):
        return False
    return contains_block(messages[-1].text) or (len(messages) > 1 and is_simulated(messages[-2]))


def is_simulated(message: HostMessage) -> bool:
    """Whether the message is one half of a simulated call: the call or its result. Capture leaves both out."""
    ids = [call.id for call in message.calls] or [result.call_id for result in message.results]
    return bool(ids) and all(call_id.startswith(CALL_ID_PREFIX) for call_id in ids)


def after_result(messages: Messages, block: str, mode: Mode) -> Injected:
    """``messages`` with the block behind the text of the tool result that they end with, which stays as it is.

    Only in mode `message`; without a result at the end, or a block, nothing changes.
    """
    unchanged = tuple(messages)
    if mode is not Mode.MESSAGE or not block or not messages or not messages[-1].results:
        return Injected(unchanged, beside=block)
    if contains_block(messages[-1].text) or any(contains_block(one.text) for one in messages[-1].results):
        return Injected(unchanged, beside=block)
    return Injected((*unchanged[:-1], messages[-1].with_text_behind(f"{SEPARATOR}{block}")))


def inject(messages: Messages, block: str, note: str, mode: Mode, query: str) -> Injected:
    """``messages`` with the block (and the note about a pasted transcript) where ``mode`` wants them.

    Without a user message at the end there is nothing to put a block in front of: then `message` and `tool_call` do
    what `block` does. Where the user's message also holds tool results (Anthropic's style) no call may come between
    them and their own: then `tool_call` does what `message` does. The note goes with the block in `message` and into
    the system prompt otherwise, because the other modes leave the user's message alone.
    """
    unchanged = tuple(messages)
    if mode is Mode.TOOL_CALL and messages and messages[-1].results:
        mode = Mode.MESSAGE
    if mode is Mode.MESSAGE and asks(messages):
        front = put_before(block, put_before(note, ""))
        return Injected((*unchanged[:-1], unchanged[-1].with_text_before(front)) if front else unchanged)
    if mode is Mode.SYSTEM:
        return Injected(unchanged, SEPARATOR.join(part for part in (block, note) if part) or None)
    if mode is Mode.TOOL_CALL and block and asks(messages):
        return Injected(
            (*unchanged[:-1], *map(HostMessage, simulated_call(messages, block, query)), unchanged[-1]), note or None
        )
    return Injected(unchanged, note or None, block)


def simulated_call(messages: Messages, block: str, query: str) -> list[dict[str, Any]]:
    """A call of `search_memories` and its result, in the host's shape; the same input gives the same ids."""
    digest = hashlib.sha256(f"{query}\0{block}".encode("utf-8", "surrogatepass")).hexdigest()
    call = ToolCall(f"{CALL_ID_PREFIX}{digest[:16]}", TOOL_NAME, {"query": query})
    return shape_of(messages).exchange(messages, call, block)
