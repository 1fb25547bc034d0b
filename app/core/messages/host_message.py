"""Reading host messages, whatever their style; they are never changed in place.

A message is the JSON object the host sent. Beyond ``role``, ``content``, ``timestamp`` and the tool fields it is opaque
and goes back as it came (contract, Conventions). Understood: OpenClaw's own shape, OpenAI's (``tool_calls``, role
``tool``) and Anthropic's (``tool_use`` / ``tool_result`` blocks).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from app.text.dates import moment_of

Message = Mapping[str, Any]
MESSAGE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["role"],
    "properties": {"role": {"type": "string"}, "content": {}, "timestamp": {}},
    "additionalProperties": True,
}
"""A message as JSON Schema: only ``role`` is required, and everything unknown comes back unchanged."""

TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
CALL_TYPES = frozenset({"toolCall", "toolUse", "tool_use", "tool_call", "functionCall", "function_call"})
RESULT_TYPES = frozenset({"tool_result", "toolResult"})


class Role(StrEnum):
    """A message's role with the styles' spellings folded together."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"
    SUMMARY = "compactionSummary"
    CUSTOM = "custom"
    OTHER = "other"


_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "toolResult": Role.TOOL,
    "tool_result": Role.TOOL,
    "function": Role.TOOL,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "compactionSummary": Role.SUMMARY,
    "custom": Role.CUSTOM,
}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the assistant made. ``arguments`` is parsed JSON where it was JSON text."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave back, as text."""

    call_id: str
    name: str
    text: str
    is_error: bool


def role_of(message: Message) -> Role:
    """The message's role; a user message that only carries tool results (Anthropic style) is ``TOOL``."""
    role = _ROLES.get(_string(message.get("role")), Role.OTHER)
    if role is Role.USER and _only_results(message):
        return Role.TOOL
    return role


def blocks_of(message: Message) -> list[Mapping[str, Any]]:
    """The content as blocks: a string is one text block, null none; a bare string in a list counts as text."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [_block(part) for part in content if isinstance(part, (str, Mapping))]


def wrong_messages(items: Any) -> Iterator[tuple[str, str]]:
    """The place of each item that is no message, and what is wrong there."""
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            yield f"{index}", "Input should be an object"
        elif not isinstance(item.get("role"), str):
            yield f"{index}.role", "Input should be a string"
        elif isinstance(content := item.get("content"), list):
            yield from _not_blocks(content, f"{index}.content")


def _not_blocks(content: Sequence[Any], path: str, *, inner: bool = True) -> Iterator[tuple[str, str]]:
    """The place of each content block whose ``type`` is no string; also in the content of a tool result's block."""
    for index, block in enumerate(content):
        if not isinstance(block, dict):
            continue
        if not isinstance(block.get("type", ""), str) and block["type"] is not None:
            yield f"{path}.{index}.type", "Input should be a string"
        elif inner and isinstance(block.get("content"), list):
            yield from _not_blocks(block["content"], f"{path}.{index}.content", inner=False)


def kind_of(block: Mapping[str, Any]) -> str:
    """What a block says it is; empty where ``type`` is missing or no string. Everything asks here, so nothing fails."""
    return _string(block.get("type"))


def text_of(message: Message) -> str:
    """The text of all text blocks, joined by newlines; a compaction summary's ``summary``; no output, no thinking."""
    if role_of(message) is Role.SUMMARY:
        return _string(message.get("summary"))
    return "\n".join(text for block in blocks_of(message) if (text := text_in(block)))


def text_in(block: Mapping[str, Any]) -> str:
    """The text of one text block, or nothing for any other block."""
    return _string(block.get("text")) if kind_of(block) in TEXT_TYPES else ""


def tool_calls(message: Message) -> list[ToolCall]:
    """The calls an assistant message makes, in order, from blocks and from ``tool_calls``."""
    if _ROLES.get(_string(message.get("role"))) is not Role.ASSISTANT:
        return []
    calls = [_call_from_block(block) for block in blocks_of(message) if kind_of(block) in CALL_TYPES]
    listed = message.get("tool_calls")
    if isinstance(listed, list):
        calls += [_call_from_openai(item) for item in listed if isinstance(item, Mapping)]
    return calls


def tool_results(message: Message) -> list[ToolResult]:
    """The results a message carries: one for a tool message, one per ``tool_result`` block otherwise."""
    role = _ROLES.get(_string(message.get("role")), Role.OTHER)
    if role is Role.TOOL:
        call_id = _first(message, "toolCallId", "tool_call_id", "toolUseId", "tool_use_id")
        name = _first(message, "toolName", "name")
        text = "\n".join(_result_texts(message.get("content")))
        return [ToolResult(call_id, name, text, _is_error(message))]
    return [
        ToolResult(
            _first(block, "tool_use_id", "toolUseId", "toolCallId", "tool_call_id"),
            _first(block, "toolName", "name"),
            "\n".join(_result_texts(block.get("content"))),
            _is_error(block),
        )
        for block in blocks_of(message)
        if kind_of(block) in RESULT_TYPES
    ]


def time_of(message: Message) -> datetime | None:
    """When the message was made (UTC), or None where ``timestamp`` is missing or nonsense.

    Numbers are epoch milliseconds, or seconds when too small for milliseconds; text is ISO 8601 or such a number.
    OpenViking accepts a bad ``created_at`` and then fails the whole commit, so nothing
    unparsable may pass here.
    """
    value = message.get("timestamp")
    if isinstance(value, str):
        text = value.strip()
        try:
            value = float(text)
        except ValueError:
            moment = moment_of(text)
            return moment and moment.astimezone(UTC)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        seconds = value / 1000 if abs(value) >= 1e11 else value
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return moment if 1970 <= moment.year <= 9998 else None


def with_text_before(message: Message, text: str) -> dict[str, Any]:
    """A copy of a user message with ``text`` put directly in front of its own text; nothing else differs."""
    content = message.get("content")
    if not isinstance(content, list):
        return {**message, "content": text + _string(content)}
    for index, part in enumerate(content):
        if isinstance(part, str):
            return {**message, "content": [*content[:index], text + part, *content[index + 1 :]]}
        if isinstance(part, Mapping) and text_in(part):
            changed = {**part, "text": text + text_in(part)}
            return {**message, "content": [*content[:index], changed, *content[index + 1 :]]}
    return {**message, "content": [{"type": "text", "text": text}, *content]}


def is_excluded(message: Message) -> bool:
    """True for a custom entry that the host keeps out of the model's context."""
    return role_of(message) is Role.CUSTOM and bool(message.get("excludeFromContext"))


def _only_results(message: Message) -> bool:
    content = message.get("content")
    if not isinstance(content, list):
        return False
    blocks = blocks_of(message)
    return any(kind_of(block) in RESULT_TYPES for block in blocks) and not any(text_in(block) for block in blocks)


def _block(part: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "text", "text": part} if isinstance(part, str) else part


def _call_from_block(block: Mapping[str, Any]) -> ToolCall:
    arguments: Any = next((block[key] for key in ("arguments", "input", "args") if key in block), {})
    return ToolCall(_first(block, "id", "toolCallId", "call_id"), _first(block, "name", "toolName"), _parsed(arguments))


def _call_from_openai(item: Mapping[str, Any]) -> ToolCall:
    function = item.get("function")
    if not isinstance(function, Mapping):
        function = item
    return ToolCall(_first(item, "id"), _first(function, "name"), _parsed(function.get("arguments", {})))


def _parsed(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _result_texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            text = part if isinstance(part, str) else text_in(part) if isinstance(part, Mapping) else ""
            if text:
                yield text


def _is_error(source: Mapping[str, Any]) -> bool:
    return source.get("isError") is True or source.get("is_error") is True


def _first(source: Mapping[str, Any], *keys: str) -> str:
    return next((value for key in keys if isinstance(value := source.get(key), str) and value), "")


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
