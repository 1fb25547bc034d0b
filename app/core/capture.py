"""What is kept of a turn: which messages are new, and what of them is worth keeping (contract, POST /after-turn).

Kept: user and assistant text with its line breaks, tool calls with input, results with output and error flag, each
message with its own time. Left out: injected blocks and calls, host noise, system and custom messages, thinking,
images, empty leftovers.
"""

import hashlib
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from app.core.cleaning import clean_assistant_text, clean_tool_text, storable
from app.core.inject import is_simulated
from app.core.messages import (
    CALL_TYPES,
    Message,
    Role,
    ToolCall,
    ToolResult,
    blocks_of,
    is_excluded,
    kind_of,
    role_of,
    text_in,
    time_of,
    tool_calls,
    tool_results,
)
from app.core.pairs import units, with_results
from app.core.pieces import clean_input, in_pieces, json_text
from app.core.prints import content_print, is_timed, known, said_in, timed_print
from app.core.remember import asks_to_remember
from app.core.summary import own_messages
from app.core.tokens import estimate_tokens
from app.core.turns import CapturedMessage, Part, TextPart, ToolPart


@dataclass(frozen=True, slots=True)
class CapturedTurn:
    """A turn as the store wants it; the fields are those of `app.ports.NewTurn`."""

    messages: tuple[CapturedMessage, ...]
    prints: tuple[str, ...]
    """One per new conversation message of the host, captured or not, in host order."""
    tokens: int
    fingerprint: str
    repeatable: bool
    """True when times or a position tell a repeat from the same words said again."""
    remember: bool


def is_placed(messages: Sequence[Message], pre_prompt_count: int | None) -> bool:
    """Whether the count says where the turn starts. If not, `capture_turn` must know what was captured before."""
    return _start(messages, pre_prompt_count) is not None


def capture_turn(
    messages: Sequence[Message],
    *,
    received_at: datetime,
    pre_prompt_count: int | None = None,
    seen_prints: Sequence[str] = (),
    keyed: bool = False,
    is_heartbeat: bool = False,
    peer_id: str | None = None,
) -> CapturedTurn:
    """What is new in ``messages`` and what of it is kept.

    ``pre_prompt_count`` messages are history; when it is absent or not below the length, everything that is not among
    ``seen_prints`` (all prints of the session so far, oldest first) is new. ``received_at`` is the time of messages
    without one. A heartbeat keeps its prints and nothing else. With a host's key (``keyed``) the fingerprint covers
    what was said; without one also when and where, because then it alone must tell a repeat from the same words again.
    """
    start = _start(messages, pre_prompt_count)
    own = own_messages(messages)
    offered = [message for index, message in enumerate(messages) if index >= (start or 0) and not own[index]]
    contents = [content_print(message) for message in offered]
    prints = [content and timed_print(message, content) for message, content in zip(offered, contents, strict=True)]
    seen = _seen(offered, prints, seen_prints, positioned=start is not None)
    fresh = [message for message, old in zip(offered, seen, strict=True) if not old]
    told = [] if is_heartbeat else [message for message in fresh if not is_simulated(message)]
    captured = captured_messages(told, received_at, peer_id)
    return CapturedTurn(
        messages=captured,
        prints=tuple(print_ for print_, old in zip(prints, seen, strict=True) if print_ and not old),
        tokens=sum(captured_tokens(message) for message in captured),
        fingerprint=_fingerprint(contents) if keyed else _fingerprint(prints, start),
        repeatable=start is not None or any(print_ and is_timed(print_) for print_ in prints),
        remember=any(asks_to_remember(part.text) for part in _user_texts(captured)),
    )


def with_ids(messages: Iterable[CapturedMessage], turn_id: str) -> tuple[CapturedMessage, ...]:
    """The messages with their ``source_id`` values, ``<turn_id>.<index>``."""
    return tuple(replace(message, source_id=f"{turn_id}.{index}") for index, message in enumerate(messages))


def captured_messages(
    messages: Sequence[Message], received_at: datetime, peer_id: str | None = None
) -> tuple[CapturedMessage, ...]:
    """The messages as they are stored: cleaned, results folded into their calls, nothing empty, no text too long."""
    drafts: list[_Draft] = []
    waiting: defaultdict[str, deque[_Call]] = defaultdict(deque)
    for message in messages:
        moment = iso(time_of(message) or received_at)
        role = role_of(message)
        if role is Role.ASSISTANT:
            draft = _Draft("assistant", moment, _assistant_parts(message))
            for call in draft.calls():
                waiting[_link(call.call)].append(call)
            drafts.append(draft)
            continue
        if is_excluded(message):
            continue
        drafts += [
            _Draft("assistant", moment, [_Call(ToolCall(result.call_id, result.name, {}), result)])
            for result in tool_results(message)
            if not _answer(waiting, result)
        ]
        if role is Role.USER:
            drafts.append(_Draft("user", moment, [said_in(message, role)]))
    return tuple(
        CapturedMessage(draft.role, parts, draft.created_at, peer_id=peer_id)
        for draft in drafts
        for parts in in_pieces(draft.finished())
    )


def captured_tokens(message: CapturedMessage) -> int:
    """The tokens of everything a captured message says, calls and outputs included."""
    return sum(
        estimate_tokens(part.text)
        if isinstance(part, TextPart)
        else estimate_tokens(part.name) + estimate_tokens(json_text(part.input)) + estimate_tokens(part.output or "")
        for part in message.parts
    )


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds, the only form OpenViking's commit is known to accept in every position."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(slots=True)
class _Call:
    """A tool call that may still get its result."""

    call: ToolCall
    result: ToolResult | None = None

    def part(self) -> ToolPart:
        output = None if self.result is None else storable(clean_tool_text(self.result.text))
        return ToolPart(
            id=storable(self.call.id),
            name=storable(self.call.name or (self.result.name if self.result else "")),
            input=clean_input(self.call.arguments),
            output=output,
            is_error=self.result is not None and self.result.is_error,
        )


@dataclass(slots=True)
class _Draft:
    """A captured message in the making; texts are clean already."""

    role: Literal["user", "assistant"]
    created_at: str
    parts: list[str | _Call] = field(default_factory=list)

    def calls(self) -> list[_Call]:
        return [part for part in self.parts if isinstance(part, _Call)]

    def finished(self) -> list[Part]:
        parts: list[Part] = []
        for part in self.parts:
            if isinstance(part, _Call):
                parts.append(part.part())
            elif (text := storable(part)) and not text.isspace():
                parts.append(TextPart(text))
        return parts


def _start(messages: Sequence[Message], pre_prompt_count: int | None) -> int | None:
    """Where the turn starts, or None when the count says nothing: absent, or nothing would be left behind it."""
    if pre_prompt_count is None or not 0 <= pre_prompt_count < len(messages):
        return None
    return pre_prompt_count


def _seen(
    offered: Sequence[Message], prints: Sequence[str | None], seen_prints: Sequence[str], *, positioned: bool
) -> list[bool]:
    """Which of the offered messages were captured before.

    With a position, only times can say so (a host that repeats a failed turn's messages together with the next one's).
    Without times a lone turn is always new, even if the same was said before; only a longer list can be a history.
    """
    seen = with_results(offered, units(offered), known(prints, seen_prints))
    if positioned:
        return [old and bool(time_of(message)) for old, message in zip(seen, offered, strict=True)]
    timed = any(print_ and is_timed(print_) for print_ in prints)
    questions = sum(role_of(message) is Role.USER for message in offered)
    return [False] * len(seen) if not timed and questions <= 1 else seen


def _fingerprint(prints: Sequence[str | None], start: int | None = None) -> str:
    text = f"at {start}\n" + "\n".join(print_ or "-" for print_ in prints)
    return hashlib.sha256(text.encode()).hexdigest()


def _assistant_parts(message: Message) -> list[str | _Call]:
    """Text and calls in the order they stand; neighbouring text blocks are one text."""
    calls = deque(tool_calls(message))
    parts: list[str | _Call] = []
    texts: list[str] = []

    def flush() -> None:
        if texts:
            parts.append(clean_assistant_text("\n".join(texts)))
            texts.clear()

    for block in blocks_of(message):
        if kind_of(block) in CALL_TYPES and calls:
            flush()
            parts.append(_Call(calls.popleft()))
        elif text := text_in(block):
            texts.append(text)
    flush()
    return parts + [_Call(call) for call in calls]


def _answer(waiting: defaultdict[str, deque[_Call]], result: ToolResult) -> bool:
    """Give the result to the oldest open call with its id; False when there is none.

    Ids may repeat from round to round (some providers number them afresh), hence a queue for each.
    """
    queue = waiting.get(_link(result))
    if not queue:
        return False
    queue.popleft().result = result
    return True


def _link(side: ToolCall | ToolResult) -> str:
    """What joins a call and its result: the id, or the tool's name where the host gives no id."""
    return (side.id if isinstance(side, ToolCall) else side.call_id) or f"\n{side.name}"


def _user_texts(captured: Iterable[CapturedMessage]) -> list[TextPart]:
    return [
        part for message in captured if message.role == "user" for part in message.parts if isinstance(part, TextPart)
    ]
