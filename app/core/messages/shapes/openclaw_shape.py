"""OpenClaw's shape: ``toolCall`` blocks, messages of role ``toolResult``, and a time on everything."""

from app.core.messages.content_blocks import CALL_TYPES, ToolCall, kind_of
from app.core.messages.host_message import HostMessage, Messages
from app.core.messages.shapes.shape import Raw, Shape


def _wrote(message: HostMessage) -> bool:
    if message.raw.get("role") == "toolResult":
        return True
    return any((kind := kind_of(block)) in CALL_TYPES and kind != "tool_use" for block in message.blocks)


def _result(call: ToolCall, text: str, *, is_error: bool) -> Raw:
    return {
        "role": "toolResult",
        "toolCallId": call.id,
        "toolName": call.name,
        "content": [{"type": "text", "text": text}],
        "isError": is_error,
    }


def _exchange(messages: Messages, call: ToolCall, text: str) -> list[Raw]:
    """OpenClaw reads provider, usage and time off every assistant message, so ours has the last one's and no cost."""
    asked = messages[-1].raw
    last = next((m.raw for m in reversed(messages) if m.raw.get("role") == "assistant"), {})
    time = {"timestamp": asked["timestamp"]} if "timestamp" in asked else {}
    origin = {key: last[key] for key in ("api", "provider", "model") if key in last}
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    block = {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments}
    usage = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": cost}
    spoken = {"role": "assistant", "content": [block], **origin, "usage": usage, "stopReason": "toolUse", **time}
    return [spoken, _result(call, text, is_error=False) | time]


SHAPE = Shape("openclaw", _wrote, _result, _exchange)
