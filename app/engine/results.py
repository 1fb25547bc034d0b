"""What the use cases hand to the HTTP shell, which only renders it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from app.core.messages import Message
from app.core.reasons import Reason
from app.core.trace import GateTrace


class AssembleStatus(StrEnum):
    """Whether `/assemble` changed anything."""

    ASSEMBLED = "assembled"
    PASSTHROUGH = "passthrough"


@dataclass(frozen=True, slots=True)
class RecallItem:
    """One injected item; ``section`` is ``experiences`` or ``memories``."""

    uri: str
    section: str
    category: str
    score: float
    chars: int


@dataclass(frozen=True, slots=True)
class RecallInfo:
    """The response's ``recall``: what was asked, what came of it, how long it took."""

    trace_id: str
    query: str
    gate: GateTrace = field(default_factory=GateTrace)
    items: tuple[RecallItem, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssembleResult:
    """The answer to `/assemble`, in the contract's terms. ``degraded`` is for logs: what failed although an answer was found."""

    messages: tuple[Message, ...]
    estimated_tokens: int
    status: AssembleStatus
    reason: Reason
    system_prompt_addition: str | None = None
    context_block: str | None = None
    recall: RecallInfo | None = None
    degraded: Reason | None = None


def passthrough(messages: tuple[Message, ...], estimated_tokens: int, reason: Reason) -> AssembleResult:
    """The host's own messages, untouched, and why."""
    return AssembleResult(messages, estimated_tokens, AssembleStatus.PASSTHROUGH, reason)
