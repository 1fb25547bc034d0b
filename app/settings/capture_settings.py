"""Settings: what is captured and when it is committed."""

from pydantic import BaseModel, Field

from app.settings.setting_types import Fraction


class CaptureSettings(BaseModel):
    """What is captured and when it is committed."""

    enabled: bool = Field(True, description="Capture turns.")
    commit_threshold_ratio: Fraction = Field(
        0.5, description="Commit when pending tokens reach this share of the token budget."
    )
    clear_threshold_ratio: Fraction = Field(
        0.7, description="Clear the uploaded range at this share even if extraction still runs."
    )
    keep_recent: int = Field(
        10, ge=0, le=10_000, description="Messages that a commit leaves live, rounded up to turns."
    )
    commit_idle_seconds: float = Field(600, ge=0, description="Commit a session that was quiet this long; 0 is off.")
    remember_interval_seconds: float = Field(
        60, ge=0, description='Least time between commits asked for by "remember this".'
    )
    automation_memory: bool = Field(
        False, description="Let cron, heartbeat and sub-agent sessions become long-term memory."
    )
    automation_experiences: bool = Field(
        True,
        description="Let cron and sub-agent sessions teach experiences, and nothing else, where these are recalled "
        "(`SIDECAR_EXPERIENCE__ENABLED`).",
    )
    summary_share: Fraction = Field(0.3, description="Share of the token budget that the session summary may take.")
