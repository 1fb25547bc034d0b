"""Texts of one request under the policy, with what was done to them for its answer."""

from dataclasses import dataclass, field

from app.core.capture.captured_message import CapturedMessage, Part
from app.core.capture.guarding import guarded_message, guarded_parts
from app.core.capture.policy_line import PolicyLine
from app.policy.policy import Applied, Policy, total


@dataclass(slots=True)
class Texts:
    """Applies the policy and remembers what it did."""

    policy: Policy
    _applied: list[Applied] = field(default_factory=list)
    _dropped: bool = False

    def rule(self, text: str) -> str:
        """What may be kept of ``text``. See `dropped`."""
        outcome = self.policy.apply(text)
        self._applied += outcome.applied
        self._dropped |= outcome.dropped
        return outcome.text

    @property
    def dropped(self) -> bool:
        """Whether any text so far must not be kept at all."""
        return self._dropped

    def guard(self, parts: list[Part]) -> list[Part]:
        """What may be kept of a message's parts: none of them where one must be dropped."""
        one = Texts(self.policy)
        kept = guarded_parts(parts, one.rule)
        self._applied += one._applied
        return [] if one.dropped else kept

    def lines(self) -> tuple[PolicyLine, ...]:
        """What was done, a line for each class and action."""
        return tuple(
            PolicyLine(line.kind, "drop" if line.action == "drop" else "mask", line.count)
            for line in total(self._applied)
        )


def shown_message(policy: Policy, message: CapturedMessage) -> CapturedMessage:
    """A stored message with everything masked that is not allowed: a rule that is new hides what was stored before."""
    return guarded_message(message, policy.text)
