"""What is kept of a turn: which messages are new, and what of them is worth keeping (contract, POST /after-turn).

Kept: user and assistant text with its line breaks, tool calls with input, results with output and error flag, each
message with its own time. Left out: injected blocks and calls, host noise, system and custom messages, thinking,
images, empty leftovers.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from app.core.capture.appended import appended_part
from app.core.capture.captured_message import CapturedMessage, Part, TextPart, ToolPart
from app.core.capture.guarding import Guard
from app.core.capture.incoming import Incoming, Span, span_of
from app.core.capture.storable_parts import clean_input, json_text, within_limits
from app.core.cleaning.host_text import clean_assistant_text, clean_tool_text, storable
from app.core.injection.inject import is_simulated
from app.core.messages.content_blocks import CALL_TYPES, ToolCall, ToolResult, kind_of, text_in
from app.core.messages.fingerprints import is_timed, known
from app.core.messages.host_message import HostMessage, Messages, Role
from app.core.messages.pairs import units, with_results
from app.core.messages.tokens import estimate_tokens
from app.core.messages.usage import Usage, usage_in
from app.text.dates import iso
from app.text.remember import asks_to_remember


@dataclass(frozen=True, slots=True)
class CapturedTurn:
    """What is new of a turn; the fields are those of `app.ports.NewTurn`."""

    messages: tuple[CapturedMessage, ...]
    fingerprints: tuple[str, ...]
    """One per new conversation message of the host, captured or not, in host order."""
    span: Span | None
    """The times of these messages, where they carry any."""
    tokens: int
    remember: bool


def capture_turn(
    incoming: Incoming,
    *,
    received_at: datetime,
    recorded: Sequence[str] = (),
    keyed: bool = False,
    is_heartbeat: bool = False,
    peer_id: str | None = None,
    sender: str | None = None,
    guard: Guard | None = None,
    usage: Usage | None = None,
) -> CapturedTurn:
    """What is new in ``incoming`` and what of it is kept.

    ``recorded`` are fingerprints of messages that were captured before, oldest first; what is among them is not new, as
    far as times, or without them ``keyed`` (the host's key names the turn) and the order, can say so. ``received_at``
    is the time of messages without one. A heartbeat keeps its fingerprints and nothing else. ``guard`` says what may be
    kept of each message.
    """
    seen = _seen(incoming, recorded, keyed=keyed) if recorded else [False] * len(incoming.messages)
    fresh = [message for message, old in zip(incoming.messages, seen, strict=True) if not old]
    before = frozenset(recorded)
    told = [] if is_heartbeat else [appended_part(one, before) for one in fresh if not is_simulated(one)]
    captured = captured_messages(told, received_at, peer_id, guard)
    if usage:
        captured = _with_usage(captured, usage)
    if sender:
        captured = tuple(replace(message, sender=sender) for message in captured)
    return CapturedTurn(
        messages=captured,
        fingerprints=tuple(message.fingerprint for message in fresh if message.fingerprint),
        span=span_of(fresh),
        tokens=sum(captured_tokens(message) for message in captured),
        remember=any(asks_to_remember(part.text) for part in _user_texts(captured)),
    )


def _with_usage(captured: tuple[CapturedMessage, ...], usage: Usage) -> tuple[CapturedMessage, ...]:
    """The messages with what the turn's last request used noted on its reply, unless that says so itself."""
    replies = [index for index, message in enumerate(captured) if message.role == "assistant"]
    if not replies or captured[replies[-1]].usage:
        return captured
    last = replies[-1]
    return (*captured[:last], replace(captured[last], usage=usage), *captured[last + 1 :])


def with_ids(messages: Iterable[CapturedMessage], turn_id: str) -> tuple[CapturedMessage, ...]:
    """The messages with their ``source_id`` values, ``<turn_id>.<index>``."""
    return tuple(replace(message, source_id=f"{turn_id}.{index}") for index, message in enumerate(messages))


def captured_messages(
    messages: Messages, received_at: datetime, peer_id: str | None = None, guard: Guard | None = None
) -> tuple[CapturedMessage, ...]:
    """The messages as they are stored: cleaned, results folded into their calls, nothing empty, no text too long."""
    drafts: list[_Draft] = []
    waiting: defaultdict[str, deque[_Call]] = defaultdict(deque)
    for message in messages:
        moment = iso(message.time or received_at)
        if message.role is Role.ASSISTANT:
            usage = usage_in(message.raw.get("usage"))
            draft = _Draft("assistant", moment, _assistant_parts(message), usage)
            for call in draft.calls():
                call.called_at = message.time
                waiting[_link(call.call)].append(call)
            drafts.append(draft)
            continue
        if message.is_excluded:
            continue
        drafts += [
            _Draft("assistant", moment, [_Call(ToolCall(result.call_id, result.name, {}), result, is_late=True)])
            for result in message.results
            if not _answer(waiting, result, message.time)
        ]
        if message.role is Role.USER:
            drafts.append(_Draft("user", moment, [message.said]))
    return tuple(
        CapturedMessage(draft.role, parts, draft.created_at, peer_id=peer_id, usage=None if number else draft.usage)
        for draft in drafts
        for number, parts in enumerate(within_limits(guard(draft.finished()) if guard else draft.finished()))
    )


def captured_tokens(message: CapturedMessage) -> int:
    """The tokens of everything a captured message says, calls and outputs included."""
    return sum(
        estimate_tokens(part.text)
        if isinstance(part, TextPart)
        else estimate_tokens(part.name) + estimate_tokens(json_text(part.input)) + estimate_tokens(part.output or "")
        for part in message.parts
    )


@dataclass(slots=True)
class _Call:
    """A tool call that may still get its result."""

    call: ToolCall
    result: ToolResult | None = None
    called_at: datetime | None = None
    ms: int | None = None
    is_late: bool = False
    """Whether the call stands in no message here."""

    def part(self) -> ToolPart:
        output = None if self.result is None else storable(clean_tool_text(self.result.text))
        return ToolPart(
            id=storable(self.call.id),
            name=storable(self.call.name or (self.result.name if self.result else "")),
            input=clean_input(self.call.arguments),
            output=output,
            is_error=self.result is not None and self.result.is_error,
            ms=self.ms,
            is_late=self.is_late,
        )


@dataclass(slots=True)
class _Draft:
    """A captured message in the making; texts are clean already."""

    role: Literal["user", "assistant"]
    created_at: str
    parts: list[str | _Call] = field(default_factory=list)
    usage: Usage | None = None

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


def _seen(incoming: Incoming, recorded: Sequence[str], *, keyed: bool) -> list[bool]:
    """Which of the incoming messages were captured before.

    With a position, only times can say so (a host that repeats a failed turn's messages together with the next one's).
    Without times a lone turn is new even if the same was said before, as only a longer list can be a history; but where
    the host counts all of it as history and gives it no key of its own, it is compared.
    """
    fingerprints = [message.fingerprint for message in incoming.messages]
    seen = with_results(incoming.messages, units(incoming.messages), known(fingerprints, recorded))
    timed = [fingerprint is not None and is_timed(fingerprint) for fingerprint in fingerprints]
    if incoming.is_placed:
        return [old and has_time for old, has_time in zip(seen, timed, strict=True)]
    questions = sum(message.role is Role.USER for message in incoming.messages)
    is_lone = questions <= 1 and not any(timed) and (keyed or incoming.count is None)
    return [False] * len(seen) if is_lone else seen


def _assistant_parts(message: HostMessage) -> list[str | _Call]:
    """Text and calls in the order they stand; neighbouring text blocks are one text."""
    calls = deque(message.calls)
    parts: list[str | _Call] = []
    texts: list[str] = []

    def flush() -> None:
        if texts:
            parts.append(clean_assistant_text("\n".join(texts)))
            texts.clear()

    for block in message.blocks:
        if kind_of(block) in CALL_TYPES and calls:
            flush()
            parts.append(_Call(calls.popleft()))
        elif text := text_in(block):
            texts.append(text)
    flush()
    return parts + [_Call(call) for call in calls]


def _answer(waiting: defaultdict[str, deque[_Call]], result: ToolResult, at: datetime | None) -> bool:
    """Give the result to the oldest open call with its id; False when there is none.

    Ids may repeat from round to round (some providers number them afresh), hence a queue for each.
    """
    queue = waiting.get(_link(result))
    if not queue:
        return False
    call = queue.popleft()
    call.result = result
    if at and call.called_at and at >= call.called_at:
        call.ms = round((at - call.called_at).total_seconds() * 1000)
    return True


def _link(side: ToolCall | ToolResult) -> str:
    """What joins a call and its result: the id, or the tool's name where the host gives no id."""
    return (side.id if isinstance(side, ToolCall) else side.call_id) or f"\n{side.name}"


def _user_texts(captured: Iterable[CapturedMessage]) -> list[TextPart]:
    return [
        part for message in captured if message.role == "user" for part in message.parts if isinstance(part, TextPart)
    ]
