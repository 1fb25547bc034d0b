"""Where recall goes: in front of the question, beside the messages, as a tool call, or into the system prompt.

The host's messages are never changed in place; all but what a mode says stay the same objects (contract, rule 1).
"""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.core.injection.fence import SEPARATOR, contains_block, put_before
from app.core.messages.content_blocks import CALL_TYPES, RESULT_TYPES, kind_of
from app.core.messages.host_message import HostMessage, Messages
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


class Style(StrEnum):
    """In whose shape a simulated tool call is written."""

    OPENCLAW = "openclaw"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"


@dataclass(frozen=True, slots=True)
class Injected:
    """The context with what was recalled in its place."""

    messages: tuple[HostMessage, ...]
    system_prompt_addition: str | None = None


def is_injected(messages: Messages) -> bool:
    """Whether the latest user message carries a block already, or stands behind our simulated tool call."""
    if not asks(messages):
        return False
    return contains_block(messages[-1].text) or (len(messages) > 1 and is_simulated(messages[-2]))


def is_simulated(message: HostMessage) -> bool:
    """Whether the message is one half of a simulated call: the call or its result. Capture leaves both out."""
    ids = [call.id for call in message.calls] or [result.call_id for result in message.results]
    return bool(ids) and all(call_id.startswith(CALL_ID_PREFIX) for call_id in ids)


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
    return Injected(unchanged, note or None)


def simulated_call(messages: Messages, block: str, query: str) -> list[dict[str, Any]]:
    """An assistant's call of `search_memories` and its result, in the host's style; the same input gives the same ids.

    In Anthropic's style a result is a user message by definition, so it stands before the user's own; that API
    joins the two.
    """
    digest = hashlib.sha256(f"{query}\0{block}".encode("utf-8", "surrogatepass")).hexdigest()
    call_id = f"{CALL_ID_PREFIX}{digest[:16]}"
    match style_of(messages):
        case Style.OPENAI:
            function = {"name": TOOL_NAME, "arguments": json.dumps({"query": query}, ensure_ascii=False)}
            call = {"id": call_id, "type": "function", "function": function}
            return [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": call_id, "content": block},
            ]
        case Style.ANTHROPIC:
            use = {"type": "tool_use", "id": call_id, "name": TOOL_NAME, "input": {"query": query}}
            result = {"type": "tool_result", "tool_use_id": call_id, "content": block}
            return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        case Style.OPENCLAW:
            return _openclaw_call(messages, call_id, block, query)


def style_of(messages: Messages) -> Style:
    """Whose style the messages are in: by their newest tool message, else by what only one of them has.

    OpenClaw stamps every message with a time; OpenAI's assistant speaks in strings and Anthropic's in blocks.
    """
    for message in reversed(messages):
        if style := _tool_style(message):
            return style
    if any("timestamp" in message.raw for message in messages):
        return Style.OPENCLAW
    spoke = [m.raw.get("content") for m in messages if m.raw.get("role") == "assistant"]
    return Style.ANTHROPIC if any(isinstance(content, list) for content in spoke) else Style.OPENAI


def _tool_style(message: HostMessage) -> Style | None:
    if message.raw.get("role") == "tool" or message.raw.get("tool_calls"):
        return Style.OPENAI
    if message.raw.get("role") == "toolResult":
        return Style.OPENCLAW
    for block in message.blocks:
        kind = kind_of(block)
        if kind == "tool_use" or kind in RESULT_TYPES:
            return Style.ANTHROPIC
        if kind in CALL_TYPES:
            return Style.OPENCLAW
    return None


def _openclaw_call(messages: Messages, call_id: str, block: str, query: str) -> list[dict[str, Any]]:
    """OpenClaw reads provider, usage and time off every assistant message, so ours has the last one's and no cost."""
    asked = messages[-1].raw
    last = next((m.raw for m in reversed(messages) if m.raw.get("role") == "assistant"), {})
    time = {"timestamp": asked["timestamp"]} if "timestamp" in asked else {}
    origin = {key: last[key] for key in ("api", "provider", "model") if key in last}
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    call = {"type": "toolCall", "id": call_id, "name": TOOL_NAME, "arguments": {"query": query}}
    return [
        {
            "role": "assistant",
            "content": [call],
            **origin,
            "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": cost},
            "stopReason": "toolUse",
            **time,
        },
        {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": TOOL_NAME,
            "content": [{"type": "text", "text": block}],
            "isError": False,
            **time,
        },
    ]
