"""Messages as OpenViking's session API takes and gives them.

What OpenViking refuses would be refused for ever, and the turn with it: so a text over its limit is cut into several
parts, tool input that it can not hold is kept as JSON text, and both are put right again on the way out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import to_json

from app.core.capture.batches import extent
from app.core.capture.captured_message import CapturedMessage, Part, TextPart, ToolPart
from app.openviking.call_errors import Garbage
from app.text.dates import moment_of

MAX_TEXT_CHARS = 4 * 1024 * 1024 - 1024
"""OpenViking refuses a single text over 4 Mi characters ..."""
MAX_MESSAGE_CHARS = 15 * 1024 * 1024
"""... and a request over 16 Mi. A message over this is cut: it could never be delivered whole."""
MAX_INPUT_VALUES = 20_000
MAX_INPUT_DEPTH = 24
"""It refuses more than 100,000 values in a request and a nesting of 32."""

_VALUE, _JSON, _MORE = "_value", "_json", "_more"
_CUT = "[... the rest of this message is too long for OpenViking and was cut]"
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_EPOCH = "1970-01-01T00:00:00+00:00"


def encode(body: Mapping[str, Any]) -> bytes:
    """A request body. Half surrogate pairs, which no UTF-8 can carry and OpenViking refuses, become U+FFFD."""
    try:
        written = to_json(body, inf_nan_mode="constants")
        if b"NaN" not in written and b"Infinity" not in written:
            return written
    except ValueError:  # half a pair, or nested deeper than pydantic-core follows
        pass
    text = _ENCODER.encode(body)  # takes five times as long, and refuses what is no number
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def to_wire(message: CapturedMessage) -> dict[str, Any]:
    """A message for ``messages/batch``. ``source_message_ids`` is how `arrived` finds it again."""
    body: dict[str, Any] = {
        "role": message.role,
        "parts": _within_limit(message),
        "created_at": _valid(message.created_at),
    }
    if message.source_id:
        body |= {"source_message_ids": [message.source_id], "turn_id": message.source_id.rpartition(".")[0] or None}
    if message.peer_id:
        body["peer_id"] = message.peer_id
    return body


def from_wire(message: Any) -> CapturedMessage | None:
    """A stored message, or None for one of another role than user and assistant. Raises `Garbage`."""
    if not isinstance(message, Mapping):
        raise Garbage("a message is not an object")
    role = message.get("role")
    if role not in ("user", "assistant"):
        return None
    raw = message.get("parts")
    if raw is None:
        raw = [{"type": "text", "text": _string(message.get("content"))}]
    if not isinstance(raw, list):
        raise Garbage("a message's parts are not a list")
    sources = message.get("source_message_ids")
    source = sources[0] if isinstance(sources, list) and sources else ""
    return CapturedMessage(
        role=role,
        parts=tuple(_joined(part for item in raw if (part := _part(item)) is not None)),
        created_at=_valid(_string(message.get("created_at"))),
        source_id=_string(source),
        peer_id=_string(message.get("peer_id")) or None,
    )


def from_jsonl(text: str) -> list[CapturedMessage]:
    """The messages of a ``messages.jsonl``, whose lines end at newlines and at no other separator. Raises `Garbage`."""
    messages = []
    for line in text.split("\n"):
        if line.strip():
            try:
                message = from_wire(json.loads(line))
            except RecursionError as problem:
                raise Garbage("a stored message nests too deeply") from problem
            if message:
                messages.append(message)
    return messages


def once(messages: Iterable[CapturedMessage]) -> list[CapturedMessage]:
    """The messages without second copies: a write that came late may have left some (see `app.worker.duplicates`).

    What OpenViking has split into several messages shares an id and differs in its parts.
    """
    seen: dict[str, list[tuple[Part, ...]]] = {}
    kept = []
    for message in messages:
        known = seen.setdefault(message.source_id, []) if message.source_id else []
        if message.parts not in known:
            known.append(message.parts)
            kept.append(message)
    return kept


def _within_limit(message: CapturedMessage) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    room = MAX_MESSAGE_CHARS
    for part in message.parts:
        for piece in _pieces(part):
            room -= extent(piece)[0]
            if room < 0:
                return [*parts, {"type": "text", "text": _CUT}]
            parts.append(piece)
    return parts


def _pieces(part: Part) -> Iterator[dict[str, Any]]:
    if isinstance(part, TextPart):
        for text in _cut(part.text):
            yield {"type": "text", "text": text}
        return
    status = "pending" if part.output is None else "error" if part.failed else "completed"
    for number, output in enumerate(_cut(part.output or "")):
        yield {
            "type": "tool",
            "tool_id": part.id,
            "tool_name": part.name,
            "tool_input": _input(part.input) if number == 0 else {_MORE: number},
            "tool_output": output,
            "tool_status": status,
        }


def _cut(text: str) -> list[str]:
    return [text[start : start + MAX_TEXT_CHARS] for start in range(0, len(text), MAX_TEXT_CHARS)] or [""]


def _input(value: Any) -> dict[str, Any]:
    """Tool input as the object that OpenViking wants; anything else, and what is too large or odd, is wrapped."""
    chars, values, depth = extent(value)
    if chars > MAX_TEXT_CHARS or values > MAX_INPUT_VALUES or depth > MAX_INPUT_DEPTH or not _is_json(value):
        try:
            return {_JSON: _cut(json.dumps(value, ensure_ascii=False, default=str))}
        except (RecursionError, ValueError, TypeError):
            return {_JSON: []}
    return dict(value) if isinstance(value, Mapping) and not _is_wrapped(value) else {_VALUE: value}


def _is_json(value: Any) -> bool:
    """Whether a (small, shallow) value can stand in JSON as it is: string keys, no NaN, only JSON's types."""
    try:
        text = json.dumps(value, allow_nan=False)
        return bool(json.loads(text) == value)
    except (ValueError, TypeError):
        return False


def _is_wrapped(value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and not value.keys().isdisjoint((_VALUE, _JSON, _MORE))


def _part(item: Any) -> Part | None:
    if not isinstance(item, Mapping):
        raise Garbage("a message part is not an object")
    if item.get("type", "text") == "text":
        return TextPart(_string(item.get("text")))
    if item.get("type") != "tool":
        return None
    status, output = item.get("tool_status"), _string(item.get("tool_output"))
    return ToolPart(
        id=_string(item.get("tool_id")),
        name=_string(item.get("tool_name")),
        input=item.get("tool_input") or {},
        output=None if status in ("pending", "running") and not output else output,
        is_error=status == "error",
    )


def _joined(parts: Iterator[Part]) -> Iterator[Part]:
    """Parts with cut texts put together again and tool input unwrapped."""
    last: Part | None = None
    for part in parts:
        if isinstance(part, ToolPart) and isinstance(last, ToolPart) and _continues(part, last):
            last = ToolPart(last.id, last.name, last.input, (last.output or "") + (part.output or ""), last.is_error)
        elif (
            isinstance(part, TextPart)
            and isinstance(last, TextPart)
            and len(last.text) % MAX_TEXT_CHARS == 0 < len(last.text)
        ):
            last = TextPart(last.text + part.text)
        else:
            if last is not None:
                yield _unwrapped(last)
            last = part
    if last is not None:
        yield _unwrapped(last)


def _continues(part: ToolPart, last: ToolPart) -> bool:
    return part.id == last.id and isinstance(part.input, Mapping) and set(part.input) == {_MORE}


def _unwrapped(part: Part) -> Part:
    if not isinstance(part, ToolPart) or not isinstance(part.input, Mapping) or len(part.input) != 1:
        return part
    value = part.input
    if _VALUE in value:
        value = value[_VALUE]
    elif isinstance(pieces := value.get(_JSON), list) and all(isinstance(piece, str) for piece in pieces):
        try:
            value = json.loads("".join(pieces)) if pieces else {}
        except (ValueError, RecursionError):
            return part
    return ToolPart(part.id, part.name, value, part.output, part.is_error)


def _valid(created_at: str) -> str:
    """``created_at`` if it is ISO 8601, else the epoch: OpenViking takes anything and then fails the whole commit."""
    return created_at if moment_of(created_at) else _EPOCH


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
