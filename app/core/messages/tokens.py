"""Token counts without a tokenizer: the host's model is unknown, and tokenizers load from the network."""

import json
from collections.abc import Mapping
from typing import Any

from app.core.messages.host_message import Message, Role, blocks_of, kind_of, role_of, text_of, tool_calls, tool_results


def estimate_tokens(text: str) -> int:
    """About how many tokens ``text`` is: four ASCII characters are one, any other character is one. Zero only if empty.

    OpenViking counts four characters of English to a token too, so thresholds mean the same on both sides.
    """
    if text.isascii():
        return -(-len(text) // 4)
    wide = len(text) - len(text.encode("ascii", "ignore"))
    return -(-(len(text) - wide) // 4) + wide


MESSAGE_OVERHEAD = 4
"""Tokens that role and separators of a message cost."""

IMAGE_TOKENS = 1200
"""What an image costs in the middle of the field; its bytes say nothing about it."""


def message_tokens(message: Message) -> int:
    """About how many tokens a host's message takes in the prompt: text, thinking, calls, results, images."""
    role = role_of(message)
    total = MESSAGE_OVERHEAD
    if role is not Role.TOOL:
        total += estimate_tokens(text_of(message))
    for result in tool_results(message):
        total += estimate_tokens(result.text)
    for call in tool_calls(message):
        total += estimate_tokens(call.name) + estimate_tokens(_argument_text(call.arguments))
    return total + sum(_other_tokens(block) for block in blocks_of(message))


def _other_tokens(block: Mapping[str, Any]) -> int:
    kind = kind_of(block)
    if kind in {"image", "image_url", "input_image"}:
        return IMAGE_TOKENS
    thinking = block.get("thinking") if kind == "thinking" else None
    return estimate_tokens(thinking) if isinstance(thinking, str) else 0


def _argument_text(arguments: Any) -> str:
    try:
        return json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
