"""What is kept of a message's parts under a rule for texts: every text of a tool's input, too, with its name, and
what the call and its tool are called.

The rule itself is not of the core: it is given as a function of a text.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from app.core.capture.captured_message import CapturedMessage, Part, TextPart, ToolPart

Rule = Callable[[str], str]
"""What may be kept of a text. It notes by itself what it took out, and whether the whole must go."""
Guard = Callable[[list[Part]], list[Part]]
"""What may be kept of one message's parts; nothing, where the message must go."""

MAX_NAME_CHARS = 64
"""Longest name of a field that says what its value is."""


def guarded_parts(parts: Sequence[Part], rule: Rule) -> list[Part]:
    """The parts with each of their texts under ``rule``."""
    return [TextPart(rule(part.text)) if isinstance(part, TextPart) else _guarded_tool(part, rule) for part in parts]


def _guarded_tool(part: ToolPart, rule: Rule) -> ToolPart:
    return replace(
        part,
        id=_guarded_label(part.id, rule),
        name=_guarded_label(part.name, rule),
        input=guarded_json(part.input, rule),
        output=None if part.output is None else rule(part.output),
    )


def _guarded_label(label: str, rule: Rule) -> str:
    """A label that must not stay, by a hash: a call and its result have the same one still."""
    if rule(label) == label:
        return label
    return f"removed_{sha256(label.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def guarded_message(message: CapturedMessage, rule: Rule) -> CapturedMessage:
    """The message with each of its texts under ``rule``; the very same where nothing differs."""
    parts = tuple(guarded_parts(message.parts, rule))
    return message if parts == message.parts else replace(message, parts=parts)


def guarded_json(value: Any, rule: Rule, name: str = "") -> Any:
    """JSON with its texts and numbers under ``rule``. The name of a field tells what its value is: ``"pin": 4821``."""
    if isinstance(value, dict):
        return {rule(key): guarded_json(item, rule, key) for key, item in value.items()}
    if isinstance(value, list):
        return [guarded_json(item, rule, name) for item in value]
    if isinstance(value, str):
        return _named(name, rule(value), rule)
    if isinstance(value, int) and not isinstance(value, bool):
        text = str(value)
        kept = _named(name, rule(text), rule)
        return value if kept == text else kept
    return value


def _named(name: str, value: str, rule: Rule) -> str:
    if not name or not value or len(name) > MAX_NAME_CHARS or len(value) > 4 * MAX_NAME_CHARS:
        return value
    before = f"{name}: "
    kept = rule(before + value)
    return kept[len(before) :] if kept.startswith(before) else value
