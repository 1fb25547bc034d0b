"""Guard 2: outputs of earlier turns give way, first to their beginning and end, then to a line.

Each cut in the middle of a prompt breaks the provider's cached prefix. So nothing is cut for a small gain, and what is
cut is cut deeper than needed. Where nothing is cached, a little is enough.
"""

from collections.abc import Callable

from app.core.history.guards.cuts import Cut, Kind
from app.core.history.guards.guard_rules import DEEPER, LEAST_GAIN, Mode, Situation
from app.core.history.guards.guarded_messages import Shown, Window
from app.core.history.prompt_layout import stride

Decided = tuple[Cut, str]
NOTHING = -1
"""A limit that every window is over."""


def give_way(window: Window, situation: Situation) -> None:
    """Cut outputs of earlier turns when it is due."""
    if is_due(window, situation):
        cut_earlier(window, situation)


def is_due(window: Window, situation: Situation, uncut: int = 0) -> bool:
    """Whether enough is to be gained: of a prompt that nobody has cached, a part of the budget; else what
    `app.core.history.prompt_layout.stride` says, beyond the ``uncut`` tokens that were shown when it was laid out."""
    rules, total = situation.rules, window.tokens
    if rules.mode is Mode.OFF or (rules.mode is Mode.CACHE_TTL and not situation.cold):
        return False
    if rules.mode is Mode.BUDGET and total <= int(situation.budget * rules.soft_ratio):
        return False
    if rules.mode is Mode.BUDGET and total > situation.budget:
        return True
    gain = sum(_about(one, situation, total) for one in _earlier(window, situation))
    if rules.mode is Mode.CACHE_TTL:
        return gain > 0
    if situation.cold:
        return gain >= situation.budget // LEAST_GAIN
    return gain - uncut >= stride(window.messages, situation.budget)


def uncut(window: Window, situation: Situation) -> int:
    """The tokens of outputs of earlier turns for which no line stands."""
    return sum(one.tokens for one in _earlier(window, situation) if not one.is_cleared)


def cut_earlier(window: Window, situation: Situation) -> None:
    """Trim outputs of earlier turns, oldest first, while the history is over `soft_ratio`; where the provider's cache
    is cold and the mode goes by that, all of them. Then put a line in their place while it is over `clear_ratio`."""
    rules, budget = situation.rules, situation.budget
    if rules.mode is Mode.OFF:
        return
    soft, clear = int(budget * rules.soft_ratio), int(budget * rules.clear_ratio)
    deeper = budget // DEEPER
    by_time = rules.mode is Mode.CACHE_TTL
    above, until = (NOTHING, NOTHING) if by_time else (soft, max(0, soft - deeper))
    _cut(window, situation, lambda one: window.trimmed(one, rules.soft_chars), above, until)
    _cut(window, situation, window.cleared, clear, max(0, min(clear - deeper, soft)))


def _about(one: Shown, situation: Situation, total: int) -> int:
    """About the tokens that cutting an output frees, without cutting it."""
    rules = situation.rules
    if one.is_cleared:
        return 0
    if total > situation.budget * rules.clear_ratio:
        return one.tokens
    if one.is_ours or (one.cut and one.cut.kind is not Kind.TRUNCATED):
        return 0
    chars = len(one.text)
    return one.tokens * max(0, chars - 2 * rules.soft_chars) // max(1, chars)


def _earlier(window: Window, situation: Situation) -> list[Shown]:
    return [one for one in window.outputs if one.output.turns_since >= situation.rules.keep_turns]


def _cut(
    window: Window, situation: Situation, decide: Callable[[Shown], Decided | None], above: int, until: int
) -> None:
    """Cut outputs of earlier turns when the window takes more than ``above`` tokens, until it takes ``until``."""
    total = window.tokens
    if total <= above:
        return
    for one in _earlier(window, situation):
        if total <= until:
            break
        if decided := decide(one):
            total -= window.gain(one, decided)
            window.apply(one, decided)
