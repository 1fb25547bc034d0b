"""Settings: explanations of recalls."""

from pydantic import BaseModel, Field


class TraceSettings(BaseModel):
    """Explanations of recalls."""

    keep: int = Field(1000, ge=0, le=100_000, description="Recall traces kept; the oldest go first.")
    keep_hours: float = Field(72, ge=0, description="Hours that a trace is kept.")
    texts: bool = Field(False, description="Keep query and memory text in traces.")
