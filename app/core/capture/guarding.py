"""What is kept of a message's parts under a rule for texts: every text of a tool's input, too, with its name, and
what the call and its tool are called.

The rule itself is not of the core: it is given as a function of a text.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from hashlib import sha256
from typing import Any

from app.core.capture.captured_message import CapturedMessage, Part, TextPart, ToolPart
from app.core.capture.value_names import below, beside, command_line, is_command, is_pair, is_value

Rule = Callable[[str], str]
"""What may be kept of a text. It notes by itself what it took out, and whether the whole must go."""
Guard = Callable[[list[Part]], list[Part]]
"""What may be kept of one message's parts; nothing, where the message must go."""

MAX_NAMED_CHARS = 256
"""Characters of the longest value that is read with its names; a longer one is a text that speaks for itself."""
MAX_ARGUMENTS = 8
"""How many arguments of a command line say what the next one is."""


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


def guarded_json(value: Any, rule: Rule, names: Sequence[str] = ()) -> Any:
    """JSON with its texts and numbers under ``rule``, each of them with its ``names`` (see `value_names`) as well: they
    tell what it is, as in ``"pin": 4821``."""
    if isinstance(value, dict):
        return _guarded_object(value, rule, names)
    if isinstance(value, list):
        return _guarded_list(value, rule, names)
    return _guarded_scalar(value, rule, ("", *(f"{name}: " for name in names if name)))


def _guarded_object(members: dict[str, Any], rule: Rule, names: Sequence[str]) -> dict[str, Any]:
    kept = {(shown := rule(key)): guarded_json(item, rule, below(names, shown)) for key, item in members.items()}
    leads = [f"{name}: " for name in beside(kept)]
    return {key: _guarded_scalar(item, rule, leads) if is_value(key) else item for key, item in kept.items()}


def _guarded_list(items: list[Any], rule: Rule, names: Sequence[str]) -> list[Any]:
    kept = [guarded_json(item, rule, names) for item in items]
    for pair in kept:
        if is_pair(pair):
            pair[1] = _guarded_scalar(pair[1], rule, (f"{pair[0]}: ",))
    if is_command(kept, names):
        for place, item in enumerate(kept):
            kept[place] = _guarded_scalar(item, rule, (command_line(kept[max(0, place - MAX_ARGUMENTS) : place]),))
    return kept


def _guarded_scalar(value: Any, rule: Rule, leads: Sequence[str]) -> Any:
    """A text or a number under ``rule``, behind each of ``leads``; anything else, and what stays the same, as it is."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    text = str(value)
    kept = reduce(lambda kept, lead: _behind(lead, kept, rule), leads, text)
    return value if kept == text else kept


def _behind(lead: str, value: str, rule: Rule) -> str:
    """What may be kept of ``value`` behind ``lead``, in quotes where its words would else be several values."""
    if lead and not 0 < len(value) <= MAX_NAMED_CHARS:
        return value
    mark = '"' if lead and " " in value else ""
    kept = rule(f"{lead}{mark}{value}{mark}")
    return kept.removeprefix(lead + mark).removesuffix(mark) if kept.startswith(lead + mark) else value
