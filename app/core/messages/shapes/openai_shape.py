"""OpenAI's shape: ``tool_calls`` beside the content, and a message of role ``tool`` for each result."""

import json

from app.core.messages.content_blocks import ToolCall
from app.core.messages.host_message import HostMessage, Messages
from app.core.messages.shapes.shape import Raw, Shape


def _wrote(message: HostMessage) -> bool:
    return message.raw.get("role") == "tool" or bool(message.raw.get("tool_calls"))


def _result(call: ToolCall, text: str, *, is_error: bool) -> Raw:  # noqa: ARG001 - there is no place for it
    return {"role": "tool", "tool_call_id": call.id, "content": text} | ({} if call.id else {"name": call.name})


def _exchange(messages: Messages, call: ToolCall, text: str) -> list[Raw]:  # noqa: ARG001
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    made = {"id": call.id, "type": "function", "function": function}
    return [{"role": "assistant", "content": None, "tool_calls": [made]}, _result(call, text, is_error=False)]


SHAPE = Shape("openai", _wrote, _result, _exchange)
