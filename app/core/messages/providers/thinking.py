"""A model's reasoning in a conversation: of old turns it only costs, and not every provider takes any."""

from collections.abc import Callable
from typing import Any

from app.core.messages.content_blocks import Block, kind_of, text_in
from app.core.messages.host_message import HostMessage, Messages, Role

THINKING_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning"})
_SIGNATURES = ("signature", "thinkingSignature", "data", "encrypted_content")


def is_signed(block: Block) -> bool:
    """Whether the block has what its provider knows it again by: it refuses one without."""
    return any(isinstance(value := block.get(key), str) and value for key in _SIGNATURES)


def without_old_thinking(messages: Messages, prompt_follows: bool) -> list[HostMessage]:
    """The messages without reasoning before the newest question; that of the turn under way stays."""
    current = len(messages) if prompt_follows else _newest_question(messages)
    return [without_thinking(message) if index < current else message for index, message in enumerate(messages)]


def without_thinking(message: HostMessage, keeps: Callable[[Block], bool] = lambda _: False) -> HostMessage:
    """The message without reasoning, but for blocks that ``keeps`` admits."""
    if message.role is not Role.ASSISTANT or not isinstance(content := message.raw.get("content"), list):
        return message
    kept = [part for part in content if not _is_thinking(part) or keeps(part)]
    return message if len(kept) == len(content) else message.with_content(kept)


def without_empty(messages: Messages) -> list[HostMessage]:
    """The messages without texts of white space alone beside other blocks, and without messages that hold nothing."""
    return [_without_blanks(message) for message in messages if not _is_empty(message)]


def _newest_question(messages: Messages) -> int:
    asked = (index for index in range(len(messages) - 1, -1, -1) if messages[index].role is Role.USER)
    return next(asked, 0)


def _is_thinking(part: Any) -> bool:
    return isinstance(part, dict) and kind_of(part) in THINKING_TYPES


def _is_blank(part: Any) -> bool:
    if isinstance(part, str):
        return not part.strip()
    return isinstance(part, dict) and kind_of(part) == "text" and not text_in(part).strip()


def _is_empty(message: HostMessage) -> bool:
    if message.role not in {Role.USER, Role.ASSISTANT} or message.calls or message.results:
        return False
    content = message.raw.get("content")
    if isinstance(content, list):
        return all(map(_is_blank, content))
    return content is None or (isinstance(content, str) and not content.strip())


def _without_blanks(message: HostMessage) -> HostMessage:
    content = message.raw.get("content")
    if message.role not in {Role.USER, Role.ASSISTANT} or not isinstance(content, list):
        return message
    kept = [part for part in content if not _is_blank(part)]
    return message if len(kept) == len(content) else message.with_content(kept)
