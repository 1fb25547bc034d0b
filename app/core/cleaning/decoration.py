"""What hosts put in front of a person's words, and how it is peeled off, layer by layer.

Channel metadata in labelled JSON, a timestamp, wrappers for retries, jobs, sub-agents. They are looked for only where
hosts put them, at the start of the text, and never in its middle. The shapes are those OpenClaw 2026.9.6 sends and its
older versions left in transcripts by them. Every pattern is anchored where it is tried and possessive where it
repeats, so peeling is linear in the text.
"""

import json
import re
from collections.abc import Callable

_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MOMENT = r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2})?"
_ZONE = r"(?:[A-Z]{1,5}(?:[+-]\d{1,2}(?::?\d{2})?)?|[+-]\d{2}:?\d{2}|[A-Z][A-Za-z_]{1,20}/[A-Za-z_/+-]{1,30}\d{0,2})"
_CHANNELS = "WebChat|WhatsApp|Telegram|Signal|Slack|Discord|Google Chat|iMessage|Teams|Matrix|Zalo|LINE|IRC|SMS|Feishu"

TIMESTAMP = re.compile(
    rf"\[(?:{_DAY} {_MOMENT} {_ZONE}|(?:{_CHANNELS}) [^\[\]\n]{{0,200}}{_MOMENT}[^\[\]\n]{{0,40}})\] ?"
)
"""Weekday, date, time and zone, or a channel's envelope: a person's own ``[2026-04-10]`` has not all of these."""

MARK = "⟦openclaw:ctx⟧"
"""OpenClaw ends every label of injected context with this; older versions said "untrusted" in parentheses."""
UNTRUSTED = r"\((?:untrusted metadata|untrusted, [^()\n]{1,80}|metadata, do not treat as instructions or commands)\)"
"""That mark of older versions, as a pattern."""
_LABEL = re.compile(rf"(?P<label>[^\n:⟦]{{1,160}}?)(?: ?{UNTRUSTED}:| ?(?:\([^()\n]{{1,80}}\))?: {MARK})[ \t]*+")
_LABEL_ENDS = (MARK, "(untrusted", "(metadata")
"""One of these is in every such label. Most texts have none, and are spared the search for where one may end."""
_PLAIN_LABEL = re.compile(
    r"(?:Conversation info|Conversation metadata|Sender|会话信息|对话信息|发送者)[ \t]*+[:：][ \t]*+"
)
_CODE_START = re.compile(r"(?:\r?\n)?[ \t]*+```(?:json)?[ \t]*+\r?\n?")
_HOST_KEYS = frozenset(
    {"message_id", "messageid", "sender_id", "senderid", "sender", "chat_id", "chat_type", "conversation_label"}
    | {"conversationid", "sessionid", "sessionkey", "session_key", "agentid", "group_id", "group_subject"}
)

_MEDIA = re.compile(
    r"(?:(?:\[media attached(?: \d{1,4}/\d{1,4})?: [^\]\n]*+\]|<media:[a-z_-]{1,20}>)[ \t]*+(?:\r?\n|$))++"
)
_MEDIA_HINT = re.compile(r"To send an image back, (?:prefer|use) [^\n]*+(?:\n|$)")
_DELIVERY = re.compile(r"Delivery: (?:to send a message|Final assistant text|No visible reply)[^\n]*+(?:\n|$)")
_MESSAGE_ID = re.compile(r"\[message_id: [^\]\n]{1,200}\][ \t]*+(?:\n|$)")
_EVENT = re.compile(
    rf"System(?: \(untrusted\))?: \[[^\]\n]{{0,40}}{_MOMENT}[^\]\n]{{0,60}}\] "
    r"(?:⚙️ )?(?:Compacted|(?:Auto|Pre|Post)-compact|Exec (?:completed|failed|finished)|Node[: ]|Model switched)"
    r"(?P<rest>[^\n]*+)(?:\n|$)",
    re.IGNORECASE,
)
_INTER_SESSION = re.compile(
    r"\[Inter-session message\][^\n]*+(?:\n|$)(?:This content was routed by OpenClaw from [^\n]*+(?:\n|$))?"
)
_RETRY = re.compile(
    r"\[(?:Retry after the previous model attempt|Queued user messages? from a previous)[^\]\n]{0,200}\]\s*+"
)
_HISTORY = re.compile(r"\[(?:Chat messages since your last reply|Recent chat messages) - for context\][ \t]*+\n")
_CURRENT = "\n[Current message - respond to this]\n"
_ACTIVE_MEMORY = re.compile(r"Context:[ \t]*+\n<active_memory_plugin>[ \t]*+\n")
_ACTIVE_MEMORY_END = "\n</active_memory_plugin>"
_SUBAGENT = re.compile(r"(?:\[Subagent Context\][^\n]*+(?:\n\s*+|$))++")
_SUBAGENT_TASK = re.compile(r"(?:[^\n]++\n\s*+){0,12}?\[Subagent Task\]:?\s*+")
_SUBAGENT_END = "\n\nBegin. Execute the assigned task to completion."
_SUBAGENT_REST = re.compile(r"\s*+(?:Runtime: [^\n]*+\s*+)?+\Z")
"""Behind the order stands what the host says of itself, in the prompt but not in the transcript."""
_CRON = re.compile(r"\[cron:[^\]\n]{1,300}\] ?")
_CRON_END = "\nCurrent time: "
CONTINUE = (
    "Continue the current task from the existing transcript, preserving completed work.",
    "Continue the current task from the transcript using the updated tools.",
    "The previous attempt did not produce a user-visible answer.",
    "The previous attempt compacted the conversation context before producing",
)
"""How a host orders the model to go on."""
_MAX_LAYERS = 64
"""Layers of decoration looked for; each costs a look at the text, and no host uses a dozen."""
_BLANK = re.compile(r"(?:[ \t]*+\r?\n)*+")
_SPACES = re.compile(r"[ \t]*+")
_BLANK_LINE = re.compile(r"\n[ \t]*+\r?\n")


def peeled(text: str, *, stamped: bool) -> str:
    """``text`` without the host's decoration at its start, layer by layer, and the ends that belong to a layer."""
    position, end = 0, len(text)
    for _ in range(_MAX_LAYERS):
        start = _after_blank_lines(text, position, end)
        timestamp = None if stamped else TIMESTAMP.match(text, start, end)
        if timestamp:
            position, stamped = timestamp.end(), True
            continue
        left = next((found for peel in _PEELS if (found := peel(text, start, end))), None)
        if not left:
            break
        position, end = _after_blank_lines(text, *left), left[1]
        stamped = False
    return text[position:end]


def _after_spaces(text: str, position: int, end: int) -> int:
    spaces = _SPACES.match(text, position, end)
    return spaces.end() if spaces else position


def _after_blank_lines(text: str, position: int, end: int) -> int:
    blank = _BLANK.match(text, position, end)
    return blank.end() if blank else position


_Peel = Callable[[str, int, int], tuple[int, int] | None]
"""Given the text and the part still looked at, the smaller part without one layer; None when the layer is not there."""


def _pattern(pattern: re.Pattern[str]) -> _Peel:
    def peel(text: str, position: int, end: int) -> tuple[int, int] | None:
        found = pattern.match(text, position, end)
        return (found.end(), end) if found else None

    return peel


def _metadata(text: str, position: int, end: int) -> tuple[int, int] | None:
    """A labelled block: JSON in a code fence, bare JSON, or (only behind a host's own mark) lines up to a blank one."""
    label = _LABEL.match(text, position, end) if any(map(text.__contains__, _LABEL_ENDS)) else None
    if label:
        body = _json_end(text, label.end(), end)
        if not body and not text.startswith(("\n", "\r\n"), label.end()) and label.end() < end:
            return None
        return (body[0] if body else _lines_end(text, label.end(), end)), end
    plain = _PLAIN_LABEL.match(text, position, end)
    body = _json_end(text, plain.end(), end) if plain else None
    return (body[0], end) if body and _HOST_KEYS.intersection(key.lower() for key in body[1]) else None


def _json_end(text: str, position: int, end: int) -> tuple[int, list[str]] | None:
    """Where the JSON object or array that begins here ends, its code fence included, and the object's keys."""
    code = _CODE_START.match(text, position, end)
    start = code.end() if code else _first_visible(text, position, end)
    if text[start : start + 1] not in ("{", "["):
        return None
    if code:
        stop = text.find("```", start, end)
        if stop < 0:
            return None
        return _after_spaces(text, stop + 3, end), _keys(text[start:stop])
    try:
        value, stop = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if stop > end:
        return None
    return _after_spaces(text, stop, end), list(value) if isinstance(value, dict) else []


def _keys(source: str) -> list[str]:
    try:
        value = json.loads(source, strict=False)
    except (ValueError, RecursionError):
        return []
    return list(value) if isinstance(value, dict) else []


def _first_visible(text: str, position: int, end: int) -> int:
    """At most one line further: the host puts the body directly under its label."""
    newline = text[position : position + 1] == "\n"
    return min(position + newline, end)


def _lines_end(text: str, position: int, end: int) -> int:
    blank = _BLANK_LINE.search(text, position, end)
    return blank.end() if blank else end


def _history(text: str, position: int, end: int) -> tuple[int, int] | None:
    """Earlier chat lines that a channel puts in front, up to the current message."""
    if not _HISTORY.match(text, position, end):
        return None
    current = text.find(_CURRENT, position, end)
    return (current + len(_CURRENT), end) if current >= 0 else None


def _active_memory(text: str, position: int, end: int) -> tuple[int, int] | None:
    if not _ACTIVE_MEMORY.match(text, position, end):
        return None
    close = text.find(_ACTIVE_MEMORY_END, position, end)
    return (close + len(_ACTIVE_MEMORY_END), end) if close >= 0 else None


def _subagent(text: str, position: int, end: int) -> tuple[int, int] | None:
    """The frame around a sub-agent's task; the task stays."""
    context = _SUBAGENT.match(text, position, end)
    if not context:
        return None
    task = _SUBAGENT_TASK.match(text, context.end(), end)
    order = text.rfind(_SUBAGENT_END, context.end(), end)
    if order >= 0 and _SUBAGENT_REST.match(text, order + len(_SUBAGENT_END), end):
        end = order
    return min(task.end() if task else context.end(), end), end


def _cron(text: str, position: int, end: int) -> tuple[int, int] | None:
    """The frame around a scheduled job's prompt: its id in front, the time and the rules of the run behind."""
    job = _CRON.match(text, position, end)
    if not job:
        return None
    tail = text.rfind(_CRON_END, job.end(), end)
    return job.end(), tail if tail >= 0 else end


def _retry(text: str, position: int, end: int) -> tuple[int, int] | None:
    """A message that the host sends again; behind it may stand the host's order to go on."""
    wrapper = _RETRY.match(text, position, end)
    if not wrapper:
        return None
    paragraph = text.rfind("\n\n", wrapper.end(), end)
    host_ends = paragraph >= 0 and text.startswith(CONTINUE, paragraph + 2)
    return wrapper.end(), paragraph if host_ends else end


def _event(text: str, position: int, end: int) -> tuple[int, int] | None:
    """A system event's line. Older hosts put the person's text into the line of a compaction, behind a timestamp."""
    event = _EVENT.match(text, position, end)
    if not event:
        return None
    message = TIMESTAMP.search(text, event.start("rest"), event.end("rest"))
    return (message.start() if message else event.end()), end


_PEELS: tuple[_Peel, ...] = (
    _metadata,
    _event,
    _history,
    _active_memory,
    _subagent,
    _cron,
    _retry,
    *map(_pattern, (_MEDIA, _MEDIA_HINT, _DELIVERY, _MESSAGE_ID, _INTER_SESSION)),
)
