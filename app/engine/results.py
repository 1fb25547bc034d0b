"""What goes into and comes out of `/assemble`'s use cases; the HTTP shell only parses and renders it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from app.core.identity import Scope
from app.core.messages.host_message import Message
from app.core.messages.readings import Conversation
from app.core.reasons import Reason
from app.core.recall.trace import GateTrace


@dataclass(frozen=True, slots=True)
class AssembleInput:
    """An `/assemble` request without its transport. ``token_budget`` is positive; ``inject`` as in the contract."""

    messages: tuple[Message, ...]
    prompt: str | None
    token_budget: int
    inject: str = "message"
    trigger_hint: str | None = None
    scope: Scope = field(default_factory=Scope)
    bypassed: bool = False
    phase: Literal["preflight", "transform", "full"] = "transform"
    reads_archives: bool = False
    """The model has the tools that read what a summary stands for."""


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """One injected item; ``section`` is its name; see `app.recall.block.Section`."""

    uri: str
    section: str
    category: str
    score: float
    chars: int


@dataclass(frozen=True, slots=True)
class RecallReport:
    """The response's ``recall``: what was asked, what came of it, how long it took."""

    trace_id: str
    query: str
    gate: GateTrace = field(default_factory=GateTrace)
    items: tuple[RecalledItem, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The object of the contract's response."""
        gate = self.gate
        return {
            "traceId": self.trace_id,
            "query": self.query,
            "gate": {"recall": gate.recall, "trigger": gate.trigger, "score": gate.score, "reason": gate.reason},
            "items": [
                {
                    "uri": item.uri,
                    "section": item.section,
                    "category": item.category,
                    "score": item.score,
                    "chars": item.chars,
                }
                for item in self.items
            ],
            "timingsMs": dict(self.timings_ms),
            "degraded": list(self.degraded),
        }


@dataclass(frozen=True, slots=True)
class AssembleResult:
    """The answer in the contract's terms. ``assembled`` is false for a passthrough."""

    messages: tuple[Message, ...]
    estimated_tokens: int
    reason: Reason
    assembled: bool
    system_prompt_addition: str | None = None
    context_block: str | None = None
    recall: RecallReport | None = None
    conversation: Conversation | None = None
    """Where the messages were read already: it knows their JSON."""
