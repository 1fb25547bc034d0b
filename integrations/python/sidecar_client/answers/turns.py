"""What the calls around a turn answer, and those of a session."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

Message = Mapping[str, Any]
"""A message as your host has it: at least ``role`` and ``content``; OpenAI's, Anthropic's or OpenClaw's style."""
PolicyLine = TypedDict("PolicyLine", {"class": str, "action": Literal["mask", "drop"], "count": int})
"""How often a class of text was found that must not be kept, and what was done."""


class Gate(TypedDict):
    """What the experience gate decided."""

    recall: bool
    trigger: str | None
    score: float
    reason: str


class RecalledItem(TypedDict):
    """One item of the injected block."""

    uri: str
    section: str
    category: str
    score: float
    chars: int


class RecallReport(TypedDict):
    """How a recall came about; `Sidecar.recall` has the whole story."""

    traceId: str
    query: str
    gate: Gate
    items: list[RecalledItem]
    timingsMs: dict[str, float]
    degraded: list[str]


class Flush(TypedDict):
    """A silent turn that the host may run, in which the model stores what must last."""

    due: bool
    prompt: str
    systemPrompt: str


class GuardNote(TypedDict):
    """A tool output, or with no ``callId`` a turn, of which ``chars`` characters were cut so that the messages fit."""

    kind: Literal["truncated", "trimmed", "cleared", "dropped"]
    callId: str | None
    chars: int


class Assembled(TypedDict):
    """What to send to the model. ``recall`` is missing where the sidecar was away."""

    messages: list[Message]
    estimatedTokens: int
    status: Literal["assembled", "passthrough"]
    reason: str
    systemPromptAddition: NotRequired[str]
    contextBlock: NotRequired[str]
    recall: NotRequired[RecallReport | None]
    flush: NotRequired[Flush]
    guards: NotRequired[list[GuardNote]]


class MessageRange(TypedDict):
    """Messages of a session by their running number, both ends included."""

    start: int
    end: int


class Compaction(TypedDict):
    """The background upload of a long session; ``clear`` is what the host may drop."""

    state: Literal["idle", "uploading", "uploaded", "forced"]
    uploadId: str | None
    messageRange: MessageRange | None
    clear: MessageRange | None


class Committed(TypedDict):
    """What became of a turn; it is on disk unless it was ``skipped``."""

    status: Literal["committed", "duplicate", "skipped"]
    reason: str
    turnId: str
    captured: int
    delivery: Literal["queued", "delivered"]
    pendingTokens: int
    compaction: Compaction
    policy: list[PolicyLine]
    flush: NotRequired[Flush]


class CompactDetails(TypedDict):
    """Which of archive and extraction succeeded."""

    archived: bool
    extracted: bool
    error: str
    instructionsUsed: bool


class CompactedSession(TypedDict):
    """The archive, its summary, and the size of the prompt's part before and after."""

    summary: str
    firstKeptEntryId: str
    tokensBefore: int
    tokensAfter: int
    details: CompactDetails


class Compacted(TypedDict):
    """What became of a compaction; the next `Sidecar.assemble` is shorter when ``compacted`` is true."""

    ok: bool
    compacted: bool
    reason: str
    result: CompactedSession
    taskId: str | None


class SessionStarted(TypedDict):
    """What a session begins with."""

    reason: str
    estimatedTokens: int
    systemPromptAddition: NotRequired[str]
    """Only when there is one; the same bytes until the session's epoch ends."""


class SessionEnded(TypedDict):
    """What became of a session that ended or started over."""

    ok: bool
    reason: str
    taskId: str | None
