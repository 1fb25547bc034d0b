"""The guards in their order, over the messages of one request. A new guard is a file here and a line in `GUARDS`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.core.history.guards.cuts import Cut, Decisions
from app.core.history.guards.earlier_outputs import hard_clear, soft_trim
from app.core.history.guards.fit import leave_out_again
from app.core.history.guards.guard_rules import Situation
from app.core.history.guards.guarded_messages import Window
from app.core.history.guards.tool_output import truncate
from app.core.history.guards.turn_limits import drop_unavailable, limit_turns
from app.core.messages.host_message import HostMessage

Guard = Callable[[Window, Situation], None]

GUARDS: tuple[Guard, ...] = (leave_out_again, limit_turns, drop_unavailable, truncate, soft_trim, hard_clear)
"""What leaves first costs the others nothing. That all of it fits, and that what is dropped is named, is seen to by
`app.core.history.guards.fit` and the digest, which know what else is in the prompt."""


@dataclass(slots=True)
class Guarding:
    """The guards for one request, with what was decided in the session before."""

    situation: Situation
    decisions: Decisions = field(default_factory=Decisions)
    guards: Sequence[Guard] = GUARDS

    def prepare(self, messages: Sequence[HostMessage]) -> None:
        """Do the dear part ahead: excerpts of large outputs depend on nothing that is still waited for."""
        if truncate in self.guards:
            truncate(Window(list(messages), self.decisions), self.situation)

    def over(self, messages: Sequence[HostMessage]) -> Window:
        """The messages as they go into the prompt, as far as it does not depend on what else is in there."""
        window = Window(list(messages), self.decisions)
        for guard in self.guards:
            guard(window, self.situation)
        return window


def unguarded(budget: int) -> Guarding:
    """Nothing is cut but what does not fit."""
    return Guarding(Situation(budget), Decisions(), ())


def edge_of(decisions: Decisions) -> Sequence[Cut]:
    """The cuts of whole turns that were decided now."""
    return [cut for key, cut in decisions.made.items() if key in decisions.edges()]
