"""The host's window: how many tokens it holds, by how much estimates have to be corrected, and when to flush.

A host that says what a model really used corrects the estimates for its session. The correction is smoothed, bounded
and only changed by a whole step, because a prompt that is cut elsewhere is a prompt that no provider has cached.
"""

from dataclasses import dataclass, replace

from app.core.json.answers import answer
from app.core.messages.host_message import Messages, Role, tokens_of
from app.core.messages.usage import Usage, usage_in

STEP = 0.0625
"""Estimates are corrected by steps of this size, once they are off by more."""
LEAST_SCALE, MOST_SCALE = 0.6875, 1.625
LEAST_SEEN, MOST_SEEN = 0.5, 2.5
"""What is observed beyond these is something else: a prompt that was cut, other tools."""
LEAST_TOKENS = 1_000
"""Fewer tokens tell more of the provider's frame around messages than of their texts."""
WEIGHT = 0.3
"""How much an observation counts against all before it."""
SMALL_BUDGET, SMALL_SHARE = 60_000, 0.8
"""A smaller window has no room for the reserve: it is flushed at this share."""

PROMPT = (
    "This conversation will be compacted soon. Store what has to outlive it with the tool memory_store: decisions, "
    "preferences, facts, open tasks, each as a statement that can be understood by itself. Store nothing twice. "
    "When you are done, or if there is nothing to store, reply with NO_REPLY and nothing else."
)
SYSTEM_PROMPT = (
    "Session nearing compaction. Store durable memories now. Nobody reads this turn: do not address the user."
)


@answer
@dataclass(frozen=True, slots=True)
class Flush:
    """That the host may run a silent turn, in which the model stores what must last."""

    due: bool = True
    prompt: str = PROMPT
    system_prompt: str = SYSTEM_PROMPT


@dataclass(frozen=True, slots=True)
class FlushRules:
    """When a flush is due."""

    enabled: bool = False
    reserve_tokens: int = 20_000
    soft_tokens: int = 4_000

    def due_at(self, token_budget: int) -> int | None:
        """With how many tokens in the window a flush is due; None for never."""
        if not self.enabled:
            return None
        if token_budget < SMALL_BUDGET:
            return int(token_budget * SMALL_SHARE)
        return max(1, token_budget - self.reserve_tokens - self.soft_tokens)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a turn's usage tells."""

    last: Usage
    """Of its last request."""
    grown: int = 0
    """By how much prompts grew from request to request within the turn."""
    estimated: int = 0
    """What the messages that they grew by were estimated to be."""


@dataclass(frozen=True, slots=True)
class Window:
    """What is known of a session's window."""

    tokens: int = 0
    """What it holds by now."""
    measured: int = 0
    """What the host said that it held behind the last turn; 0 when it did not."""
    ratio: float = 1.0
    """Real tokens by estimated ones, smoothed."""
    scale: float = 1.0
    """What estimates are multiplied with: `ratio` in steps."""

    def after_turn(self, estimated: int, reply: int, usage: Measured | None) -> "Window":
        """The window behind a turn of so many estimated tokens, its last reply among them."""
        if usage is None:
            return replace(self, tokens=self.tokens + round(estimated * self.scale), measured=0)
        grown, of = usage.grown, usage.estimated
        if not of and self.measured:  # from the turn before to this one's last request
            grown, of = usage.last.prompt - self.measured, estimated - reply
        ratio = _observed(self.ratio, grown, of)
        return Window(usage.last.total, usage.last.total, ratio, _stepped(self.scale, ratio))


def measured(messages: Messages, told: Usage | None = None) -> Measured | None:
    """What the replies among ``messages`` say of what was used; ``told``: what the host says of the turn as a whole."""
    last, place = None, 0
    grown = estimated = 0
    for index, message in enumerate(messages):
        usage = usage_in(message.raw.get("usage")) if message.role is Role.ASSISTANT else None
        if usage is None:
            continue
        if last is not None and usage.prompt > last.prompt:
            grown += usage.prompt - last.prompt
            estimated += tokens_of(messages[place:index])
        last, place = usage, index
    final = told or last
    return Measured(final, grown, estimated) if final else None


def _observed(ratio: float, grown: int, estimated: int) -> float:
    if estimated < LEAST_TOKENS or not LEAST_SEEN <= grown / estimated <= MOST_SEEN:
        return ratio
    return ratio + WEIGHT * (grown / estimated - ratio)


def _stepped(scale: float, ratio: float) -> float:
    if abs(ratio - scale) <= STEP:
        return scale
    return min(MOST_SCALE, max(LEAST_SCALE, round(ratio / STEP) * STEP))
