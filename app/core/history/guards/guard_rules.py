"""The settings that guards go by, and what a guard may know about the request."""

from dataclasses import dataclass
from enum import StrEnum

DEEPER = 4
"""What has to be cut is cut deeper than needed, by this part of the budget: the next cut, which breaks a provider's
cached prefix again, comes so much later."""
LEAST_GAIN = 16
"""Cuts that would together gain less than this part of the budget are not worth losing anything yet."""


class Mode(StrEnum):
    """When outputs of earlier turns are cut."""

    OFF = "off"
    BUDGET = "budget"
    """When the budget is short."""
    CACHE_TTL = "cache_ttl"
    """When the provider's cache is cold anyway."""


@dataclass(frozen=True, slots=True)
class GuardRules:
    """Names and units are those of ``SIDECAR_GUARDS__*``."""

    tool_output_share: float = 0.3
    keep_turns: int = 3
    soft_chars: int = 1_500
    soft_ratio: float = 0.3
    clear_ratio: float = 0.5
    mode: Mode = Mode.BUDGET
    cache_ttl_seconds: float = 300.0
    max_turns: int = 0
    drop_unavailable: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """What a request is about, for guards."""

    budget: int
    """Tokens."""
    rules: GuardRules = GuardRules()
    cold: bool = True
    """Whether no provider has the beginning of the prompt cached: nothing was shown before, or that is forgotten."""
    tools: frozenset[str] | None = None
    """The tools that the model has, where the host says so."""

    @property
    def output_tokens(self) -> int:
        """What one tool output may take.

        Rounded down in steps of a quarter, because a host's budget changes a little from turn to turn and what was cut
        once shall stay as it is.
        """
        share = int(self.budget * self.rules.tool_output_share)
        step = 1 << max(0, share.bit_length() - 3)
        return share - share % step
