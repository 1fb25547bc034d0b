"""A host without history (a new process, another host) gets its messages back from the store, in OpenClaw's style."""

from collections.abc import Iterator, Sequence
from typing import Any

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.messages.host_message import HostMessage
from app.core.messages.pairs import NO_RESULT
from app.core.messages.timestamps import millis, moment_from


def rebuilt(stored: Sequence[CapturedMessage]) -> list[HostMessage]:
    """The stored messages as host messages: tool parts become calls and results, all answered, no id used twice.

    User messages in a row become one: providers refuse two.
    """
    messages: list[dict[str, Any]] = []
    used: set[str] = set()
    for message in stored:
        if message.role == "user" and not any(isinstance(part, ToolPart) for part in message.parts):
            _add_user(messages, message)
        else:
            messages += _assistant(message, used)
    return [HostMessage(message) for message in messages]


def _add_user(messages: list[dict[str, Any]], message: CapturedMessage) -> None:
    text = "\n".join(part.text for part in message.parts if isinstance(part, TextPart))
    if not text:
        return
    if messages and messages[-1]["role"] == "user":
        messages[-1]["content"] += f"\n\n{text}"
    else:
        messages.append({"role": "user", "content": text, **_timestamp(message)})


def _assistant(message: CapturedMessage, used: set[str]) -> Iterator[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            content.append({"type": "text", "text": part.text})
            continue
        call_id = _unused(part.id or "call", used)
        content.append({"type": "toolCall", "id": call_id, "name": part.name, "arguments": part.input})
        results.append(_result(part, call_id) | _timestamp(message))
    if content:
        yield {"role": "assistant", "content": content, **_timestamp(message)}
        yield from results


def _result(part: ToolPart, call_id: str) -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": part.name,
        "content": [{"type": "text", "text": NO_RESULT if part.output is None else part.output}],
        "isError": part.is_error or part.output is None,
    }


def _unused(call_id: str, used: set[str]) -> str:
    name, number = call_id, 1
    while name in used:
        number += 1
        name = f"{call_id}.{number}"
    used.add(name)
    return name


def _timestamp(message: CapturedMessage) -> dict[str, int]:
    time = millis(moment_from(message.created_at))
    return {} if time is None else {"timestamp": time}
