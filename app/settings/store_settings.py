"""Settings: the turn store and outbox."""

import re

from pydantic import BaseModel, Field, field_validator


class StoreSettings(BaseModel):
    """The turn store and outbox."""

    url: str = Field("", description="SQLAlchemy URL; empty is a SQLite file in the data directory.")
    max_pending_bytes: int = Field(
        512 * 1024 * 1024, ge=1, description="Undelivered bytes before `/after-turn` answers 503 `outbox_full`."
    )
    max_pending_share_per_tenant: float = Field(
        0.25, gt=0, le=1, description="Share of these bytes that one tenant may fill; 1 where there is only one."
    )
    keep_days: float = Field(
        30, ge=0, description="Days that delivered turns are kept to recognise repeats; a day at the least."
    )

    @field_validator("url")
    @classmethod
    def _is_a_store(cls, url: str) -> str:
        if url and not re.match(r"sqlite:///.|postgres(ql(\+psycopg)?)?://.", url):
            raise ValueError("must be sqlite:///<file> or postgresql://<user>@<host>/<database>")
        return url
