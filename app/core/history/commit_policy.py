"""When a session's live turns are archived, how many of them, and which ones the prompt may lose. Pure decisions.

Two boundaries, both always between turns, so that no tool call is parted from its result:

- *through*: the last turn that goes into the archive. From there on its memories can be extracted.
- *clear_through*: the last turn that the prompt no longer shows once the archive is ready. It may lie before *through*:
  a fact that the user asked to remember is archived at once, but the conversation at hand stays in sight.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.core.identity import TASK_KINDS, SessionKind


class Cause(StrEnum):
    """Why a commit was asked for."""

    THRESHOLD = "threshold"
    REMEMBER = "remember"
    IDLE = "idle"
    SWEEP = "sweep"
    """The session was left uncommitted by a process that is gone."""
    END = "end"
    RESET = "reset"
    COMPACT = "compact"


ASKED_FOR = frozenset({Cause.END, Cause.RESET, Cause.COMPACT})
"""Causes of commits that a host asked for, and may wait for."""


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """A turn that the prompt still shows: its place in the session, its captured messages and their tokens."""

    position: int
    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class CommitRules:
    """The settings that decide; names and units are those of ``SIDECAR_CAPTURE__*``."""

    threshold_ratio: float = 0.5
    clear_ratio: float = 0.7
    keep_recent: int = 10
    idle_seconds: float = 600.0
    remember_interval_seconds: float = 60.0
    automation_memory: bool = False
    automation_experiences: bool = False

    def archives(self, kind: SessionKind) -> bool:
        """Whether sessions of this kind are archived: those that become long-term memory, which scheduled runs would
        fill with repetitions, and those that teach experiences."""
        remembers = kind is SessionKind.CHAT or self.automation_memory
        return remembers or (self.automation_experiences and kind in TASK_KINDS)


@dataclass(frozen=True, slots=True)
class Boundary:
    """Both boundaries of a commit, as positions."""

    through: int
    clear_through: int


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a session's archives are: positions, 0 for nothing."""

    stored: int
    """Everything up to here is in an archive of the backend, extracted or not."""
    finished: int
    """Up to here extraction has finished: it worked, or failed and the history is shown without a model's summary."""


def before_newest(turns: Sequence[LiveTurn], keep_messages: int) -> int:
    """The position up to which turns go when the newest ``keep_messages`` stay, rounded up to turns; 0 if none goes."""
    kept = 0
    for turn in reversed(turns):
        if kept >= keep_messages:
            return turn.position
        kept += turn.messages
    return 0


def at_threshold(turns: Sequence[LiveTurn], archived: int, token_budget: int, rules: CommitRules) -> Boundary | None:
    """The commit that is due because pending tokens reached the threshold, or None.

    ``turns`` are all that the prompt shows, oldest first; those up to position ``archived`` have their commit already.
    The newest messages stay live, but no more of them than half the threshold: otherwise a few large ones would ask
    for a commit after every single turn.
    """
    threshold = rules.threshold_ratio * token_budget
    pending = [turn for turn in turns if turn.position > archived]
    if not pending or sum(turn.tokens for turn in pending) < threshold:
        return None
    through = _before_tail(pending, rules.keep_recent, threshold / 2)
    return Boundary(through, min(through, in_sight(turns, token_budget, rules))) if through else None


def on_idle(turns: Sequence[LiveTurn], archived: int, rules: CommitRules) -> Boundary | None:
    """The commit of a session that went quiet: everything, while the newest messages stay in sight."""
    if not turns or turns[-1].position <= archived:
        return None
    return Boundary(turns[-1].position, before_newest(turns, rules.keep_recent))


def on_remember(turns: Sequence[LiveTurn], archived: int) -> Boundary | None:
    """The commit after "remember this": everything is archived, nothing leaves the prompt."""
    return Boundary(turns[-1].position, 0) if turns and turns[-1].position > archived else None


def cleared(turns: Sequence[LiveTurn], reached: Reached, token_budget: int, rules: CommitRules) -> int:
    """The position up to which the prompt is relieved of archived turns now; 0 for none.

    From the first threshold on, of what is finished; from the second on, of everything that the backend has stored
    (at the second threshold messages are cleared even if their extraction is not complete). The newest turn stays.
    """
    tokens = sum(turn.tokens for turn in turns)
    limit = in_sight(turns, token_budget, rules)
    if tokens >= rules.clear_ratio * token_budget:
        return min(reached.stored, limit)
    if tokens >= rules.threshold_ratio * token_budget:
        return min(reached.finished, limit)
    return 0


def in_sight(turns: Sequence[LiveTurn], token_budget: int, rules: CommitRules) -> int:
    """The position after which the prompt keeps its turns under pressure: recent messages, the newest turn at least."""
    room = rules.threshold_ratio * token_budget / 2
    return min(_before_tail(turns, max(1, rules.keep_recent), room), before_newest(turns, 1))


def _before_tail(turns: Sequence[LiveTurn], keep_messages: int, keep_tokens: float) -> int:
    messages, tokens = 0, 0
    for turn in reversed(turns):
        if messages >= keep_messages or tokens + turn.tokens > keep_tokens:
            return turn.position
        messages += turn.messages
        tokens += turn.tokens
    return 0
