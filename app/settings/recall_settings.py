"""Settings: long-term recall."""

from pydantic import BaseModel, Field

from app.core.recall.detail import Detail
from app.settings.setting_types import Fraction, TextList


class RecallSettings(BaseModel):
    """Long-term recall."""

    enabled: bool = Field(True, description="Recall long-term memories.")
    limit: int = Field(6, ge=1, le=1000, description="Most memories in a block.")
    detail: Detail = Field(
        Detail.OVERVIEW,
        description="How much of a memory is shown: `abstract` (L0, the sentences that answer), `overview` (L1, the "
        "passage that was found) or `full` (L2, all of it where there is room).",
    )
    score_threshold: Fraction = Field(
        0.15, description="Least probability that a memory helps; where much is stored, that the best one does."
    )
    relative_cut: Fraction = Field(0.5, description="Lowest share of the best score that a memory needs; 0 is off.")
    max_injected_chars: int = Field(4000, ge=0, le=1_000_000, description="Characters for memory lines.")
    timeout_ms: int = Field(5000, ge=10, le=120_000, description="Longest recall; what is ready by then is used.")
    rerank: bool = Field(
        True,
        description="Judge what was found a second time, where the sidecar has a model of its own: whether it answers "
        "the question, and whether one of two statements replaces the other. That takes up to half a second.",
    )
    resources: bool = Field(False, description="Recall passages of imported documents, too.")
    resource_limit: int = Field(3, ge=1, le=100, description="Most passages of documents in a block.")
    max_resource_chars: int = Field(3000, ge=0, le=1_000_000, description="Characters for passages of documents.")
    skills: bool = Field(True, description="Show what is remembered of a skill when it is read (`skill_load`).")
    query_turns: int = Field(
        1,
        ge=1,
        le=20,
        description="User messages that make up the query, latest first. A follow-up question (`and hers?`) takes "
        "the one that it follows from the last five in any case.",
    )
    min_query_chars: int = Field(
        5, ge=1, description="Shortest query; a Chinese, Japanese or Korean character counts 3."
    )
    categories: TextList = Field(
        default_factory=list,
        description="Only these categories are recalled, such as `preferences`; empty is any.",
    )
    excluded_categories: TextList = Field(
        default_factory=list, description="Categories kept out of automatic recall; `events` is what was said and done."
    )
    max_age_days: int = Field(0, ge=0, le=36_500, description="Oldest memory that is recalled, in days; 0 is any age.")
    own_only: bool = Field(False, description="Keep other peers' and imported content out of automatic recall.")
    mmr_lambda: Fraction = Field(1.0, description="Relevance against variety among hits; 1 is relevance alone.")
    half_life_days: float = Field(0.0, ge=0, description="Age at which an event counts half; 0 is off.")
    cooldown_turns: int = Field(0, ge=0, le=100, description="Turns for which an injected memory rests; 0 is off.")
    cache_ms: int = Field(
        3_000, ge=0, le=600_000, description="How long an equal query in a session is answered again."
    )
    stale_ms: int = Field(0, ge=0, description="How old a kept result may serve while the backend is late; 0 is off.")
