"""What runs in the other process: the engine's use cases over messages that only that process has parsed.

Store, backend, searches, traces and audit trail stay where they are; `Ports` are stand-ins that call them over the
link.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.history.guards.packing import Packed
from app.core.history.prompt_layout import Layout
from app.core.history.window import Window
from app.core.identity import Identity
from app.core.json.encoding import parse_json
from app.core.memories.audit import Action
from app.core.messages.host_message import HostMessage, encode_messages
from app.core.messages.validation import wrong_messages
from app.core.reasons import Reason
from app.core.recall.recall_filter import ANY, RecallFilter
from app.core.recall.trace import RecallTrace
from app.embedded.classifying import classifier_of
from app.embedded.extraction.readings import read_statement
from app.engine.assembly import Assemble
from app.engine.host_window import WindowWatch
from app.engine.preflight import Preflight
from app.engine.results import AssembleInput, AssembleResult
from app.engine.turn_capture import AfterTurn, AfterTurnResult, TurnInput
from app.offload.link import Bytes
from app.ports import Acceptance, ContextBackend, LocalHistory, NewTurn, Recorded, SessionHistory, Target
from app.recall.searches import Found, Searches
from app.recall.transform import Transform
from app.settings import Settings
from app.store.prepared import prepare

if TYPE_CHECKING:  # what they import is half of a child's start
    from app.engine.memories.auditing import Audit
    from app.store.turns import SqlTurnStore

MAX_WRONG = 50
"""Wrong messages that one answer names."""

Call = Callable[..., Awaitable[Any]]
"""Calls ``(port, method, *arguments)`` in the serving process."""


class WrongMessages(Exception):
    """The messages are no list of messages; ``args[0]`` are (place in the list, what is wrong)."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """An answer of `/assemble`. ``messages`` is their JSON, None where they are the host's own."""

    result: AssembleResult
    messages: Bytes | bytes | None
    traces: tuple[RecallTrace, ...]
    recalled: tuple[Reason, ...]
    """What each recall came to."""


@dataclass(slots=True)
class Ports:
    """Stand-ins for what lives in the serving process."""

    call: Call
    traces: list[RecallTrace] = field(default_factory=list)

    def record(self, make: Callable[[], RecallTrace]) -> None:
        """Keep a trace until the answer goes out."""
        self.traces.append(make())


@dataclass(frozen=True, slots=True)
class _Searches:
    """`Searches` of the serving process."""

    call: Call

    async def find(
        self,
        who: Identity,
        query: str,
        target: Target,
        limit: int,
        deadline: Deadline,
        only: RecallFilter = ANY,
    ) -> Found:
        return cast(Found, await self.call("searches", "find", who, query, target, limit, deadline, only))


@dataclass(frozen=True, slots=True)
class _Backend:
    """What reading a session's history asks of the backend."""

    call: Call

    async def history(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        return cast(SessionHistory, await self.call("backend", "history", who, token_budget, deadline))

    async def archived_messages(self, who: Identity, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        answer = await self.call("backend", "archived_messages", who, archive_id, deadline)
        return cast(list[CapturedMessage], answer)


@dataclass(frozen=True, slots=True)
class _Store:
    """The turn store; a turn's messages become text here, because they are what is large."""

    call: Call
    notes: set[asyncio.Task[Any]] = field(default_factory=set)

    async def local_history(self, who: Identity) -> LocalHistory:
        return cast(LocalHistory, await self.call("store", "local_history", who))

    async def seen_fingerprints(self, who: Identity) -> tuple[str, ...]:
        return cast(tuple[str, ...], await self.call("store", "seen_fingerprints", who))

    async def undelivered(self, who: Identity) -> tuple[CapturedMessage, ...]:
        return cast(tuple[CapturedMessage, ...], await self.call("store", "undelivered", who))

    async def recorded(self, who: Identity, span: tuple[int, int] | None, *, in_order: bool) -> Recorded:
        return cast(Recorded, await self.call("store", "recorded", who, span, in_order=in_order))

    async def window(self, who: Identity) -> Window:
        return cast(Window, await self.call("store", "window", who))

    async def begin_flush(self, who: Identity, tokens: int, token_budget: int) -> bool:
        return cast(bool, await self.call("store", "begin_flush", who, tokens, token_budget))

    async def note_window(self, who: Identity, tokens: int) -> None:
        await self.call("store", "note_window", who, tokens)

    def note_budget(self, who: Identity, token_budget: int) -> None:
        note = asyncio.ensure_future(self.call("store", "noted", who, token_budget))
        self.notes.add(note)
        note.add_done_callback(self.notes.discard)

    def note_request(self, who: Identity) -> None:
        note = asyncio.ensure_future(self.call("store", "noted_request", who))
        self.notes.add(note)
        note.add_done_callback(self.notes.discard)

    async def keep_outputs(
        self, who: Identity, outputs: Sequence[Packed], layout: Layout | None = None, changes: int = 0
    ) -> None:
        await self.call("store", "keep_outputs", who, outputs, layout, changes)

    async def accept(self, turn: NewTurn) -> Acceptance:
        bare = prepare(turn).without_lists()
        return cast(Acceptance, await self.call("store", "accept_prepared", bare))


@dataclass(frozen=True, slots=True)
class _Audit:
    """`Audit` of the serving process, which knows the request and its token."""

    call: Call

    async def wrote(self, who: Identity, action: Action, ids: Sequence[str]) -> None:
        if ids:
            await self.call("audit", "wrote", who, action, ids)


async def assemble(
    ports: Ports, settings: Settings, raw: Sequence[bytes], who: Identity, asked: AssembleInput, deadline: Deadline
) -> Assembled:
    """`/assemble` with the messages and the prompt that ``raw`` holds."""
    messages, prompt = _parsed(raw)
    searches, policy = cast(Searches, _Searches(ports.call)), settings.policy.policy()
    classifier, recalled = classifier_of(settings.embedded.embedder), list[Reason]()
    transform = Transform(settings, searches, ports, classifier, policy=policy, on_recall=recalled.append)
    backend, store = cast(ContextBackend, _Backend(ports.call)), cast("SqlTurnStore", _Store(ports.call))
    rules = settings.guards.rules()
    preflight = Preflight(backend, store, settings.capture.summary_share, policy=policy, rules=rules, traces=ports)
    asked = replace(asked, messages=messages, prompt=asked.subject.query if asked.subject else prompt)
    window = WindowWatch(store, settings.guards.flush_rules())
    result = await Assemble(preflight, transform, window, settings.recall_tokens).run(who, asked, deadline)
    text = None if result.messages == messages else Bytes(encode_messages(result.messages))
    return Assembled(replace(result, messages=()), text, tuple(ports.traces), tuple(recalled))


async def keep_turn(
    ports: Ports, settings: Settings, raw: Sequence[bytes], who: Identity, turn: TurnInput, deadline: Deadline
) -> AfterTurnResult:
    """`/after-turn` with the messages that ``raw`` holds; it does not wait for the delivery."""
    messages, _ = _parsed(raw)
    turn = replace(turn, messages=messages, wait=False)
    store, capture = cast("SqlTurnStore", _Store(ports.call)), settings.capture
    keep = AfterTurn(
        store,
        None,
        capture.enabled,
        read_statement,
        capture.automation_memory,
        settings.policy.policy(),
        cast("Audit", _Audit(ports.call)),
        settings.guards.flush_rules(),
    )
    return await keep.run(who, turn, deadline)


JOBS: Mapping[str, Callable[..., Awaitable[Any]]] = {"assemble": assemble, "keep_turn": keep_turn}


def _parsed(raw: Sequence[bytes]) -> tuple[tuple[HostMessage, ...], str | None]:
    """Messages and prompt. Raises `json.JSONDecodeError`, `WrongMessages`."""
    body = parse_json(b"".join(raw))
    messages = body["messages"]
    if wrong := list(islice(wrong_messages(messages), MAX_WRONG)):
        raise WrongMessages(wrong)
    return tuple(map(HostMessage, messages)), body["prompt"]
