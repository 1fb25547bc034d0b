"""Settings: how turns are brought to the backend."""

from pydantic import BaseModel, Field


class DeliverySettings(BaseModel):
    """The background worker that brings turns to the backend."""

    concurrency: int = Field(8, ge=1, le=64, description="Sessions delivered at once.")
    lease_ms: int = Field(30_000, ge=500, description="How long a worker that died still holds a session.")
    settle_ms: int = Field(
        5_000,
        ge=0,
        description="How long after its call a write of unknown outcome may still happen, and is not sent again.",
    )
    backoff_ms: int = Field(250, ge=1, description="First wait after a failure; doubles with jitter.")
    max_backoff_ms: int = Field(5_000, ge=1, description="Longest wait between tries.")
    give_up_tries: int = Field(
        5, ge=1, description="Failed tries, each while others were delivered, after which a turn becomes a dead letter."
    )
    give_up_ms: int = Field(
        120_000, ge=0, description="A turn does not become a dead letter sooner than this after its first failure."
    )
