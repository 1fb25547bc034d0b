"""How a session's prompt is laid out: what had left it when it was last cut, and the summary that stands for that.

A layout stays until the prompt does not fit any more, or enough is to be gained by a new one. Until then nothing
changes in front of the newest messages, whatever is archived meanwhile and whether the backend is there or not: a
provider's cached prefix breaks once for all that has come together, and not for each of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.messages.host_message import HostMessage, Messages, Role, tokens_of

OUTGROWN = 2
"""Where the budget is so many times what it was, what had left the prompt may come back."""
TURNS = 16
"""A prompt that has to be cut is cut so deep that so many turns like the last ones fit before the next cut."""
_LEAST, _MOST = 0.25, 0.75
"""Of the budget: what a cut makes room for."""
_STEPS = 8


@dataclass(frozen=True, slots=True)
class Layout:
    """A prompt's beginning, as it was shown."""

    edge: str
    """Fingerprint of the first message behind the summary."""
    before: int
    """How many of the host's messages that are not archived stood in front of it."""
    archived: int
    """How many archived messages had left the prompt; what is archived after them is still shown."""
    last_archived: str
    """Fingerprint of the last of them."""
    body: str
    """The summary's text."""
    of_cut: bool
    """See `app.core.history.summary_message.stands_for_cut`."""
    of_archives: bool
    """Whether there were archives that a model can read."""
    budget: int
    """Tokens."""
    uncut: int = 0
    """Tokens of outputs of earlier turns that were shown then."""

    def holds(self, budget: int, archived: Sequence[str]) -> bool:
        """Whether a prompt of this budget may still begin so, in a session with these archived messages."""
        if budget >= OUTGROWN * self.budget or self.archived > len(archived):
            return False
        return not self.archived or archived[self.archived - 1] == self.last_archived

    def place_in(self, messages: Messages, pinned: int) -> int | None:
        """Where the first message behind the summary stands, in messages of which the first ``pinned`` always stay.

        None where more stands in front of it than did then: the summary does not tell that.
        """
        if self.before < len(messages) and messages[self.before].fingerprint == self.edge:
            return self.before  # equal words may stand in front of it
        front = range(pinned, min(self.before, len(messages)))
        return next((index for index in front if messages[index].fingerprint == self.edge), None)


def stride(messages: Sequence[HostMessage], budget: int) -> int:
    """How many tokens a cut has to make room for: what `TURNS` turns like the last ones take."""
    starts = [index for index, message in enumerate(messages) if message.role is Role.USER][-TURNS:]
    taken = tokens_of(messages[starts[0] :]) * TURNS // len(starts) if starts else 0
    step = max(1, budget // _STEPS)  # turns differ a little, and a prompt of which nobody keeps the layout stays alike
    return max(1, min(max(-(-taken // step) * step, int(budget * _LEAST)), int(budget * _MOST)))
