"""Circuit breakers: a backend that is down is left alone instead of costing every caller a time-out.

A pure state machine with an injected clock. ``closed`` -> N failures in a row -> ``open`` -> after the reset time
``half_open``, where exactly one call, the probe, goes through -> its success closes the breaker, its failure opens it
for another reset time. Only what says "the server is not well" is a failure: an answer with a 4xx status is an answer.
A call that was given little time and got no answer is a part of a failure; a probe without an answer is a whole one.
"""

from dataclasses import dataclass
from enum import StrEnum

from app.core.deadline import Clock

MAX_KEYS = 10_000
"""Breakers remembered at once. Only keys with recent failures are kept, so this bounds a flood of made-up tenants."""


_ROUNDING = 1e-9
"""Tenths of a failure do not add up to whole ones exactly."""

Circuit = tuple[str, str]
"""What fails together: a tenant and a lane of operations."""


class Verdict(StrEnum):
    """What a finished call says about the backend."""

    ALIVE = "alive"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """Cancelled, or never sent."""


class State(StrEnum):
    """Where a breaker stands."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class BreakerOpen(Exception):
    """No call is let through now; ``retry_after_s`` is the time to the next probe, unless that is under way."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__("circuit breaker open")
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Ticket:
    """Permission for one call; hand it back with the verdict, whatever happens to the call."""

    probe: bool


_ORDINARY = Ticket(probe=False)


class Breaker:
    """One circuit."""

    def __init__(self, failures_to_open: int, reset_s: float, clock: Clock) -> None:
        self._limit = failures_to_open
        self._reset_s = reset_s
        self._clock = clock
        self._failures = 0.0
        self._opened_at: float | None = None
        self._probe: Ticket | None = None

    @property
    def state(self) -> State:
        """The state at this moment."""
        if self._opened_at is None:
            return State.CLOSED
        return State.OPEN if self._clock() < self._opened_at + self._reset_s else State.HALF_OPEN

    @property
    def troubled(self) -> bool:
        """True when it is not closed, or has at least one whole failure behind it."""
        return self._opened_at is not None or self._failures >= 1

    @property
    def pristine(self) -> bool:
        """True when nothing would be lost by forgetting this breaker."""
        return self._opened_at is None and self._failures == 0

    def admit(self) -> Ticket:
        """Permission to call. Raises `BreakerOpen` while the breaker is open or its probe is on the way."""
        state = self.state
        if state is State.CLOSED:
            return _ORDINARY
        if state is State.HALF_OPEN and self._probe is None:
            self._probe = Ticket(probe=True)
            return self._probe
        assert self._opened_at is not None  # noqa: S101 - only a breaker that opened is not closed
        until_probe = self._opened_at + self._reset_s - self._clock()
        raise BreakerOpen(until_probe if until_probe > 0 else self._reset_s)

    def record(self, ticket: Ticket, verdict: Verdict, weight: float = 1.0) -> None:
        """Take back a ticket. Late failures of calls that began before the breaker opened do not extend it.

        ``weight``: how much of a failure it is, above 0 and up to 1.
        """
        mine = ticket is self._probe
        if mine:
            self._probe = None
        if verdict is Verdict.ALIVE:
            self._failures, self._opened_at = 0.0, None
        elif verdict is Verdict.FAILED and (mine or self._opened_at is None):
            self._failures += weight
            is_probe = mine and self._opened_at is not None  # a late answer to an earlier call may have closed it
            if is_probe or self._failures >= self._limit - _ROUNDING:
                self._opened_at = self._clock()


class Breakers:
    """A breaker per key, each made at its first failure and forgotten when all is well again."""

    def __init__(self, failures_to_open: int, reset_s: float, clock: Clock) -> None:
        self._limits = (failures_to_open, reset_s, clock)
        self._troubled: dict[Circuit, Breaker] = {}

    def admit(self, key: Circuit) -> Ticket:
        """Permission for a call under ``key``. Raises `BreakerOpen`."""
        breaker = self._troubled.get(key)
        return breaker.admit() if breaker else _ORDINARY

    def record(self, key: Circuit, ticket: Ticket, verdict: Verdict, weight: float = 1.0) -> None:
        """Take back the ticket of a call under ``key``; see `Breaker.record`."""
        if verdict is Verdict.ALIVE and key not in self._troubled:
            return
        breaker = self._troubled.pop(key, None) or Breaker(*self._limits)
        breaker.record(ticket, verdict, weight)
        if not breaker.pristine:
            self._troubled[key] = breaker
            if len(self._troubled) > MAX_KEYS:
                del self._troubled[next(iter(self._troubled))]

    def states(self) -> dict[Circuit, State]:
        """The state of every breaker that is not simply closed, and of those with failures behind them."""
        return {key: breaker.state for key, breaker in self._troubled.items() if breaker.troubled}
