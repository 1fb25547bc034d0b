"""Settings: recall of experiences."""

from pydantic import BaseModel, Field

from app.settings.setting_types import Fraction


class ExperienceSettings(BaseModel):
    """Agent experience recall; off by default."""

    enabled: bool = Field(False, description="Recall agent experiences for tasks.")
    limit: int = Field(3, ge=1, le=50, description="Most experiences in a block.")
    score_threshold: Fraction = Field(0.35, description="Lowest score of an experience.")
    max_injected_chars: int = Field(6000, ge=0, le=1_000_000, description="Characters for experience items.")
    min_query_chars: int = Field(
        12, ge=1, description="Shortest task; a Chinese, Japanese or Korean character counts as 3."
    )
