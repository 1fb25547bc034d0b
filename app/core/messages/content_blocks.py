"""The blocks that a message's content is made of, in the styles of OpenClaw, OpenAI and Anthropic."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Block = Mapping[str, Any]

TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
CALL_TYPES = frozenset({"toolCall", "toolUse", "tool_use", "tool_call", "functionCall", "function_call"})
RESULT_TYPES = frozenset({"tool_result", "toolResult"})
IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})


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


def blocks_in(content: Any) -> tuple[Block, ...]:
    """The content as blocks: a string is one text block, null none; a bare string in a list counts as text."""
    if isinstance(content, str):
        return (_text_block(content),)
    if not isinstance(content, list):
        return ()
    return tuple(
        [_text_block(part) if isinstance(part, str) else part for part in content if isinstance(part, (str, Mapping))]
    )


def kind_of(block: Block) -> str:
    """What a block says it is; empty where ``type`` is missing or no string. Everything asks here, so nothing fails."""
    return string(block.get("type"))


def text_in(block: Block) -> str:
    """The text of one text block, or nothing for any other block."""
    return string(block.get("text")) if kind_of(block) in TEXT_TYPES else ""


def call_in(block: Block) -> ToolCall:
    """The call that a block of `CALL_TYPES` holds."""
    arguments: Any = next((block[key] for key in ("arguments", "input", "args") if key in block), {})
    return ToolCall(_first(block, "id", "toolCallId", "call_id"), _first(block, "name", "toolName"), _parsed(arguments))


def listed_calls(items: Any) -> Iterator[ToolCall]:
    """The calls in OpenAI's ``tool_calls``."""
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping):
            function = item.get("function")
            source = function if isinstance(function, Mapping) else item
            yield ToolCall(_first(item, "id"), _first(source, "name"), _parsed(source.get("arguments", {})))


def result_in(source: Block) -> ToolResult:
    """The result that a tool's message, or a block of `RESULT_TYPES`, holds."""
    return ToolResult(
        _first(source, "toolCallId", "tool_call_id", "toolUseId", "tool_use_id"),
        _first(source, "toolName", "name"),
        "\n".join([text for block in blocks_in(source.get("content")) if (text := text_in(block))]),
        source.get("isError") is True or source.get("is_error") is True,
    )


def string(value: Any) -> str:
    """``value`` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def _text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def _parsed(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _first(source: Block, *keys: str) -> str:
    return next((value for key in keys if isinstance(value := source.get(key), str) and value), "")
