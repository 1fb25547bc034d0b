"""Guard 2: outputs of earlier turns give way, first to their beginning and end, then to a line.

Each cut in the middle of a prompt breaks the provider's cached prefix. So nothing is cut for a small gain, and what is
cut is cut deeper than needed.
"""

from collections.abc import Callable

from app.core.history.guards.cuts import Cut
from app.core.history.guards.guard_rules import LEAST_GAIN, STRIDE, Mode, Situation
from app.core.history.guards.guarded_messages import Shown, Window

Decided = tuple[Cut, str]
NOTHING = -1
"""A limit that every window is over."""


def soft_trim(window: Window, situation: Situation) -> None:
    """Trim the outputs of earlier turns, oldest first, while the history is over `soft_ratio`; where the provider's
    cache is cold and the mode goes by that, all of them."""
    rules, budget = situation.rules, situation.budget
    if not _is_due(situation):
        return
    if rules.mode is Mode.CACHE_TTL:
        _cut(window, situation, lambda one: window.trimmed(one, rules.soft_chars), NOTHING, NOTHING)
    else:
        limit = int(budget * rules.soft_ratio)
        _cut(
            window,
            situation,
            lambda one: window.trimmed(one, rules.soft_chars),
            limit,
            max(0, limit - budget // STRIDE),
        )


def hard_clear(window: Window, situation: Situation) -> None:
    """Put a line in the place of outputs of earlier turns, oldest first, when the history is over `clear_ratio`."""
    rules, budget = situation.rules, situation.budget
    if _is_due(situation):
        limit = int(budget * rules.clear_ratio)
        target = max(0, min(limit - budget // STRIDE, int(budget * rules.soft_ratio)))
        _cut(window, situation, window.cleared, limit, target)


def _is_due(situation: Situation) -> bool:
    mode = situation.rules.mode
    return mode is Mode.BUDGET or (mode is Mode.CACHE_TTL and situation.cold)


def _cut(
    window: Window, situation: Situation, decide: Callable[[Shown], Decided | None], above: int, until: int
) -> None:
    """Cut outputs of earlier turns when the window takes more than ``above`` tokens, until it takes ``until``."""
    total = window.tokens
    if total <= above:
        return
    old = [one for one in window.outputs if one.output.turns_since >= situation.rules.keep_turns]
    decided = [(one, cut, window.gain(one, cut)) for one in old if (cut := decide(one))]
    gain = sum(tokens for _, _, tokens in decided)
    if above != NOTHING and gain < situation.budget // LEAST_GAIN and total <= situation.budget:
        return
    for one, cut, tokens in decided:
        if total <= until:
            break
        window.apply(one, cut)
        total -= tokens
