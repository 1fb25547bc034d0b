"""Settings: the audit trail."""

from pydantic import BaseModel, Field


class AuditSettings(BaseModel):
    """The audit trail of memories."""

    keep_days: float = Field(365, ge=0, le=36_500, description="Days that an entry of `/audit` is kept.")
