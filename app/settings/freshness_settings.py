"""Settings: the check of what is remembered."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field
from pydantic_settings import NoDecode

from app.settings.setting_types import Days, as_object


class FreshnessSettings(BaseModel):
    """The check of what is remembered."""

    every_hours: float = Field(24, ge=0, le=8_760, description="Hours between two checks of a tenant; 0 is never.")
    stale_days: float = Field(180, gt=0, description="Days without confirmation after which a memory is `stale`.")
    unconfirmed_days: float = Field(90, gt=0, description="The same for what was inferred and said once.")
    ttl_days: Annotated[dict[str, Days], NoDecode, BeforeValidator(as_object)] = Field(
        default_factory=dict, description='JSON `{"<category>": 30}`: days after which memories of a category expire.'
    )
