"""Settings: what keeps a prompt within the model's window."""

from dataclasses import fields
from typing import Self

from pydantic import BaseModel, Field, model_validator

from app.core.history.guards.guard_rules import GuardRules, Mode
from app.core.history.window import FlushRules
from app.settings.setting_types import Fraction


class GuardSettings(BaseModel):
    """What keeps a prompt within the model's window."""

    flush: bool = Field(
        False, description="Tell the host once before each compaction to run a silent turn that stores what must last."
    )
    flush_reserve_tokens: int = Field(
        20_000, ge=0, description="Tokens of the window that are kept free, for `flush`; below 60,000 it is a fifth."
    )
    flush_soft_tokens: int = Field(4_000, ge=0, description="Tokens before these are reached at which it is told.")
    tool_output_share: float = Field(
        0.3,
        gt=0,
        le=1,
        description="Share of the token budget that one tool output may take; of a longer one head and tail are shown.",
    )
    keep_turns: int = Field(3, ge=1, le=1_000, description="Newest turns whose tool outputs are left as they are.")
    soft_chars: int = Field(
        1_500, ge=100, le=100_000, description="Characters that are kept at either end of an earlier turn's output."
    )
    soft_ratio: Fraction = Field(
        0.3, description="Share of the token budget from which on outputs of earlier turns are trimmed, oldest first."
    )
    clear_ratio: Fraction = Field(0.5, description="Share from which on a line takes their place.")
    mode: Mode = Field(
        Mode.BUDGET,
        description="When outputs of earlier turns are cut: `off`, `budget` (it is short) or `cache_ttl` (the "
        "provider's prompt cache is cold anyway).",
    )
    cache_ttl_seconds: float = Field(
        300, ge=0, le=86_400, description="How long a provider keeps a prompt cached, for `cache_ttl`."
    )
    max_turns: int = Field(0, ge=0, le=100_000, description="Newest turns in a prompt; 0 is no limit.")
    drop_unavailable: bool = Field(
        False, description="Leave out calls of tools that are not in `availableTools`, with their results."
    )

    @model_validator(mode="after")
    def _trims_before_it_clears(self) -> Self:
        if self.soft_ratio > self.clear_ratio:
            raise ValueError("soft_ratio is above clear_ratio: outputs are trimmed before they are cleared")
        return self

    def rules(self) -> GuardRules:
        """The rules that guards go by."""
        return GuardRules(**{field.name: getattr(self, field.name) for field in fields(GuardRules)})

    def flush_rules(self) -> FlushRules:
        """When the host is told to flush."""
        return FlushRules(self.flush, self.flush_reserve_tokens, self.flush_soft_tokens)
