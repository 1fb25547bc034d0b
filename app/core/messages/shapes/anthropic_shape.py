"""Anthropic's shape: ``tool_use`` blocks of the assistant, ``tool_result`` blocks of the user."""

from app.core.messages.content_blocks import RESULT_TYPES, ToolCall, kind_of
from app.core.messages.host_message import HostMessage, Messages
from app.core.messages.shapes.shape import Raw, Shape


def _wrote(message: HostMessage) -> bool:
    return any((kind := kind_of(block)) == "tool_use" or kind in RESULT_TYPES for block in message.blocks)


def _result(call: ToolCall, text: str, *, is_error: bool) -> Raw:
    block: Raw = {"type": "tool_result", "tool_use_id": call.id, "content": text}
    named = {} if call.id else {"name": call.name}
    return {"role": "user", "content": [block | named | ({"is_error": True} if is_error else {})]}


def _exchange(messages: Messages, call: ToolCall, text: str) -> list[Raw]:  # noqa: ARG001
    """A result is a user message by definition, so it stands before the user's own; that API joins the two."""
    use = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
    return [{"role": "assistant", "content": [use]}, _result(call, text, is_error=False)]


SHAPE = Shape("anthropic", _wrote, _result, _exchange)
