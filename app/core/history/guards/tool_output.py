"""Guard 1: one tool output takes at most a share of the budget. Its head and tail stay, and what tells of failures."""

from app.core.history.guards.guard_rules import Situation
from app.core.history.guards.guarded_messages import Window


def truncate(window: Window, situation: Situation) -> None:
    """Cut each output that is larger than that."""
    limit = situation.output_tokens
    for one in window.outputs:
        if one.tokens > limit and (decided := window.truncated(one, limit) or window.cleared(one)):
            window.apply(one, decided)
