"""Saying once what happens a thousand times."""

import time
from collections.abc import Callable, Hashable

QUIET_S = 30.0
"""What happens again after this much silence is a new burst."""


class Bursts:
    """Tells the first event of a burst from the others, by kind."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: dict[Hashable, float] = {}

    def begins(self, kind: Hashable) -> bool:
        """Note an event; whether it is the first of its kind after `QUIET_S` without one."""
        now = self._clock()
        last = self._last.get(kind)
        self._last[kind] = now
        return last is None or now - last > QUIET_S
