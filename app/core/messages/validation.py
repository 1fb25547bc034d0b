"""What a host's message has to be: checked once, where it comes in, so that nothing behind has to ask again."""

from collections.abc import Iterator, Sequence
from typing import Any

MESSAGE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["role"],
    "properties": {"role": {"type": "string"}, "content": {}, "timestamp": {}},
    "additionalProperties": True,
}
"""A message as JSON Schema: only ``role`` is required, and everything unknown comes back unchanged."""


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
