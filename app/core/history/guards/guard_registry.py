"""The guards in their order, over the messages of one request. A new guard is a file here and a line in `GUARDS`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.core.history.guards.cuts import Decisions
from app.core.history.guards.earlier_outputs import give_way
from app.core.history.guards.fit import pinned_in
from app.core.history.guards.guard_rules import Situation
from app.core.history.guards.guarded_messages import Window
from app.core.history.guards.tool_output import truncate
from app.core.history.guards.turn_limits import drop_unavailable, limit_turns, turn_notes
from app.core.history.prompt_layout import Layout
from app.core.messages.host_message import HostMessage

Guard = Callable[[Window, Situation], None]

GUARDS: tuple[Guard, ...] = (limit_turns, drop_unavailable, truncate, give_way)
"""What leaves first costs the others nothing. That all of it fits, and that what is dropped is named, is seen to by
`app.core.history.guards.fit` and the digest, which know what else is in the prompt."""


@dataclass(slots=True)
class Guarding:
    """The guards for one request, with what was decided in the session before."""

    situation: Situation
    decisions: Decisions = field(default_factory=Decisions)
    guards: Sequence[Guard] = GUARDS
    layout: Layout | None = None
    """How the session's last prompt was laid out."""

    def prepare(self, messages: Sequence[HostMessage]) -> None:
        """Do the dear part ahead: excerpts of large outputs depend on nothing that is still waited for."""
        if truncate in self.guards:
            truncate(Window(list(messages), self.decisions), self.situation)

    def over(self, messages: Sequence[HostMessage]) -> Window:
        """The messages as they go into the prompt, as far as it does not depend on what else is in there."""
        window = self._begun(messages)
        for guard in self.guards:
            guard(window, self.situation)
        return window

    def as_before(self, messages: Sequence[HostMessage]) -> Window | None:
        """The messages as they were shown before, with new outputs cut to their share; None where the place is not
        found up to which turns had left."""
        if self.layout is None or self.layout.place_in(messages, pinned_in(messages)) is None:
            return None
        window = self._begun(messages)
        for guard in self.guards:
            if guard is not give_way:
                guard(window, self.situation)
        return window

    def _begun(self, messages: Sequence[HostMessage]) -> Window:
        """The window without the turns that had left before."""
        window = Window(list(messages), self.decisions)
        pinned = pinned_in(messages)
        place = self.layout.place_in(messages, pinned) if self.layout else None
        if place is not None and place > pinned:
            gone = messages[pinned:place]
            window.stay([*messages[:pinned], *messages[place:]], gone, turn_notes(gone))
        return window


def unguarded(budget: int) -> Guarding:
    """Nothing is cut but what does not fit."""
    return Guarding(Situation(budget), Decisions(), ())
