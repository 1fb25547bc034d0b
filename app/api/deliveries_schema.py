"""Bodies of `/turns` and `/deliveries`."""

from app.api.schemas import Wire


class DeliveryBody(Wire):
    """A turn on its way to the backend."""

    turn_id: str
    session: str
    account: str | None
    user: str | None
    state: str
    reason: str
    captured: int
    sent: int
    bytes: int
    attempts: int
    error: str
    created_at: str
    delivered_at: str | None
    next_attempt_at: str | None


class DeliveryPageBody(Wire):
    """A page of turns, newest first."""

    deliveries: list[DeliveryBody]
    next_cursor: str | None
