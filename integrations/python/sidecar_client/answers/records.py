"""Tools, turns on their way, and recalls."""

from typing import Any, Literal, TypedDict

from sidecar_client.answers.turns import PolicyLine


class TextBlock(TypedDict):
    """A text for the model."""

    type: Literal["text"]
    text: str


class ToolAnswer(TypedDict):
    """What a tool says: ``content`` to the model, ``details`` the same to programs; ``policy`` is what was masked."""

    ok: bool
    reason: str
    content: list[TextBlock]
    details: dict[str, Any]
    policy: list[PolicyLine]


class Delivery(TypedDict):
    """A turn on its way to the backend."""

    turnId: str
    session: str
    account: str | None
    user: str | None
    state: Literal["pending", "sending", "delivered", "dead", "discarded", "skipped"]
    reason: str
    captured: int
    sent: int
    bytes: int
    attempts: int
    error: str
    createdAt: str
    deliveredAt: str | None
    nextAttemptAt: str | None


class DeliveryPage(TypedDict):
    """Turns, newest first."""

    deliveries: list[Delivery]
    nextCursor: str | None


class RecallLine(TypedDict):
    """One recall in a list."""

    traceId: str
    at: str
    session: str
    sessionKey: str | None
    agent: str
    reason: str
    inject: str
    kept: int
    candidates: int
    experiences: bool
    totalMs: float
    degraded: list[str]


class RecallList(TypedDict):
    """Recalls, newest first."""

    recalls: list[RecallLine]
    nextCursor: str | None
