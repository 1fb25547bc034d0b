"""Settings: what one request may be."""

from pydantic import BaseModel, Field


class LimitSettings(BaseModel):
    """What one request may be."""

    max_body_bytes: int = Field(32 * 1024 * 1024, ge=1024, description="Largest request body.")
    max_held_bytes: int = Field(
        128 * 1024 * 1024, ge=1024, description="Bytes of request bodies held at once; more wait, then get 503."
    )
    max_connections: int = Field(
        512, ge=8, description="Connections at once, at most half of the process' descriptors; silent ones make room."
    )
    header_ms: int = Field(10_000, ge=100, description="Longest time for a request's header to arrive.")
    body_ms: int = Field(30_000, ge=100, description="Longest time for a request's body to arrive.")
    assemble_ms: int = Field(6_000, ge=10, le=120_000, description="Longest `/assemble` when it names no deadline.")
    compact_ms: int = Field(120_000, ge=100, le=900_000, description="Longest `/compact` when it names no deadline.")
    wait_ms: int = Field(
        10_000,
        ge=0,
        le=600_000,
        description="Longest `wait` of `/after-turn`, `/sessions/end`, `reset`; longest call of a tool.",
    )
    large_turn_ms: int = Field(
        300_000,
        ge=1_000,
        description="Longest reading of a turn that is too large to be read at once; then 503: it is to come again.",
    )
