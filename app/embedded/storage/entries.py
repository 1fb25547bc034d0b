"""The lines of a session file: JSON objects, messages among them.

Each message says its place in its batch (``batch: [1, 3]``), so that a batch that a crash cut short can be told.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.core.capture.captured_message import CapturedMessage, Part, TextPart, ToolPart
from app.core.messages.tokens import estimate_tokens
from app.core.messages.usage import Usage, usage_in

Entry = dict[str, Any]


def message_entry(message: CapturedMessage, entry_id: str, parent: str, place: int, batch: int) -> Entry:
    """The entry of message number ``place`` (from 1) of ``batch``; it follows the entry ``parent``."""
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent or None,
        "role": message.role,
        "content": [_part_entry(part) for part in message.parts],
        "timestamp": message.created_at,
        "sourceId": message.source_id,
        "peerId": message.peer_id,
        "batch": [place, batch],
        **({"senderId": message.sender} if message.sender else {}),
        **({"usage": _usage_entry(message.usage)} if message.usage else {}),
    }


def _usage_entry(usage: Usage) -> Entry:
    return {"inputTokens": usage.prompt, "outputTokens": usage.output}


def line_of(entry: Entry) -> bytes:
    """The entry as a line, its end included."""
    try:
        text = json.dumps(entry, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:  # a lone surrogate: escape everything
        text = json.dumps(entry, default=str).encode()
    return text + b"\n"


def entries_in(data: bytes) -> Iterator[Entry]:
    """The entries in complete lines; what is no JSON object (a person edited it) is passed over."""
    for line in data.split(b"\n"):
        entry = parse_entry(line)
        if entry is not None:
            yield entry


def parse_entry(line: bytes) -> Entry | None:
    """One line as an entry, or None."""
    try:
        entry = json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def message_of(entry: Mapping[str, Any]) -> CapturedMessage:
    """The message that an entry stores."""
    content = entry.get("content")
    return CapturedMessage(
        role="assistant" if entry.get("role") == "assistant" else "user",
        parts=tuple(_parts(content if isinstance(content, list) else [])),
        created_at=str(entry.get("timestamp") or ""),
        source_id=str(entry.get("sourceId") or ""),
        peer_id=entry.get("peerId") or None,
        sender=entry.get("senderId") or None,
        usage=usage_in(entry.get("usage")),
    )


def message_tokens(message: CapturedMessage) -> int:
    """About how many tokens a stored message is, its tool calls and results included."""
    return sum(estimate_tokens(text) for text in part_texts(message.parts))


def part_texts(parts: Iterable[Part]) -> Iterator[str]:
    """Every text in the parts: what was said, tool names, inputs, outputs."""
    for part in parts:
        if isinstance(part, TextPart):
            yield part.text
        else:
            yield part.name
            yield part.input if isinstance(part.input, str) else json.dumps(part.input, ensure_ascii=False, default=str)
            yield part.output or ""


def whole_batches(data: bytes) -> int:
    """How many bytes of ``data`` are complete lines of complete batches."""
    whole = data.rfind(b"\n") + 1
    start, batch = _last_line(data, whole)
    if batch is None or batch[0] == batch[1]:
        return whole
    place, size = batch
    while whole and batch == (place, size):  # what a person left of a batch takes no other with it
        whole, place = start, place - 1
        start, batch = _last_line(data, whole)
    return whole


def _last_line(data: bytes, end: int) -> tuple[int, tuple[int, int] | None]:
    """Where the line that ends at ``end`` begins, and the place and size of the batch that its message is in."""
    start = data.rfind(b"\n", 0, max(0, end - 1)) + 1
    entry = parse_entry(data[start:end]) or {}
    batch = entry.get("batch") if entry.get("type") == "message" else None
    told = isinstance(batch, list) and len(batch) == 2 and all(isinstance(number, int) for number in batch)
    return start, (batch[0], batch[1]) if batch and told else None


def _part_entry(part: Part) -> Entry:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    return {
        "type": "tool",
        "id": part.id,
        "name": part.name,
        "input": part.input,
        "output": part.output,
        "isError": part.is_error,
    }


def _parts(content: Sequence[Any]) -> Iterator[Part]:
    for block in content:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool":
            output = block.get("output")
            yield ToolPart(
                str(block.get("id") or ""),
                str(block.get("name") or ""),
                block.get("input"),
                output if output is None else str(output),
                block.get("isError") is True,
            )
        elif isinstance(block.get("text"), str):
            yield TextPart(block["text"])
