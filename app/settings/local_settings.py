"""Settings: an OpenViking that `serve` runs."""

from pydantic import BaseModel, Field


class LocalSettings(BaseModel):
    """An OpenViking that `serve` starts and stops by itself."""

    enabled: bool = Field(
        False, description="Run an installed OpenViking as a child process, as `serve --with-openviking` does."
    )
    python: str = Field(
        "",
        description="Python that OpenViking is installed for, or its `openviking-server`; empty looks on the `PATH`, "
        "then for this Python.",
    )
    config: str = Field("", description="The `ov.conf` to start it with; empty leaves that to OpenViking.")
    start_ms: int = Field(120_000, ge=100, description="How long it may take until `/health` answers.")
    stop_ms: int = Field(20_000, ge=0, description="How long it may take to end before it is killed.")
