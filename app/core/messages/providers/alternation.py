"""User and assistant in turn, beginning with the user: two messages of one side become one."""

from typing import Any

from app.core.messages.content_blocks import RESULT_TYPES, kind_of
from app.core.messages.host_message import HostMessage, Messages, Role

BEGINNING = "[The conversation goes on.]"
"""What the user says where a conversation would begin with the assistant."""
NO_REPLY = "[No reply was given.]"
"""What the assistant says where tool results were never replied to."""


def alternating(messages: Messages, *, reply_to_results: bool = False) -> list[HostMessage]:
    """The messages with neighbours of one side joined, in their order; results come first in a message of blocks.

    Messages for no side (system, custom) stay where they are and part nobody. ``reply_to_results``: tool results that
    are messages of their own are the user's side too, and nothing can be joined to them: then a line stands between.
    Linear.
    """
    made: list[HostMessage] = []
    runs: dict[int, list[HostMessage]] = {}
    """What is joined, by its place in ``made``: the user's is that of the first, which has the results; the assistant's
    that of the last, which makes the calls."""
    last, place = "", 0
    for message in messages:
        side = _side(message)
        if side and side == last != "tool":
            run = runs.pop(place, None) or [made[place]]
            run.append(message)
            if side == "assistant":
                place = len(made)
                made.append(message)
            runs[place] = run
            continue
        if side:
            if not last and side == "assistant":
                made.append(HostMessage({"role": "user", "content": BEGINNING}))
            elif reply_to_results and (last, side) == ("tool", "user"):
                made.append(HostMessage({"role": "assistant", "content": NO_REPLY}))
            last, place = side, len(made)
        made.append(message)
    gone = {id(message) for run in runs.values() for message in run}
    left = [
        _joined(runs[at]) if at in runs else one for at, one in enumerate(made) if at in runs or id(one) not in gone
    ]
    return [_results_first(message) for message in left]


def _side(message: HostMessage) -> str:
    if message.role is Role.TOOL:
        return "user" if message.raw.get("role") in {"user", "human"} else "tool"
    return message.role.value if message.role in {Role.USER, Role.ASSISTANT} else ""


def _joined(messages: list[HostMessage]) -> HostMessage:
    """The messages as one: texts as paragraphs where all are plain, else blocks; other keys are the newest's."""
    raw: dict[str, Any] = {}
    for message in messages:
        raw.update(message.raw)
    contents = [message.raw.get("content") for message in messages]
    if all(content is None or isinstance(content, str) for content in contents):
        raw["content"] = "\n\n".join([content for content in contents if content]) or None
    else:
        raw["content"] = [part for content in contents for part in _parts(content)]
    calls = [call for message in messages for call in _listed(message.raw.get("tool_calls"))]
    if calls:
        raw["tool_calls"] = calls
    return HostMessage(raw)


def _parts(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content if isinstance(content, list) else []


def _listed(calls: Any) -> list[Any]:
    return calls if isinstance(calls, list) else []


def _results_first(message: HostMessage) -> HostMessage:
    content = message.raw.get("content")
    if not message.results or not isinstance(content, list) or message.raw.get("role") not in {"user", "human"}:
        return message
    ordered = sorted(content, key=lambda part: not (isinstance(part, dict) and kind_of(part) in RESULT_TYPES))
    return message if ordered == content else message.with_content(ordered)
