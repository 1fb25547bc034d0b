"""One deadline per request, made at the door and handed down to every call that is made for it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]
"""Monotonic seconds. Tests pass their own."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time on a monotonic clock; never extended, only tightened."""

    at: float
    clock: Clock = time.monotonic

    @classmethod
    def after_ms(cls, ms: float, clock: Clock = time.monotonic) -> "Deadline":
        """The deadline that lies ``ms`` milliseconds ahead."""
        return cls(clock() + ms / 1000, clock)

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - self.clock())

    @property
    def expired(self) -> bool:
        """True once nothing is left."""
        return self.remaining <= 0

    def within_ms(self, ms: float) -> "Deadline":
        """The sooner of this deadline and one ``ms`` milliseconds ahead."""
        return Deadline(min(self.at, self.clock() + ms / 1000), self.clock)
