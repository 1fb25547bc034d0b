"""A backend that is away is asked by one session after the other, not by all; when it answers again, all go on."""

from collections.abc import Callable

from app.core.reasons import REJECTED
from app.ports import BackendError
from app.store.work import Lease

ASK_EVERY_S = 1.0
"""About how often all sessions of a process together ask a backend that does not answer: each time costs some 8 ms."""
SELDOM_S = 10.0
"""Less often than that they never ask, whenever a circuit breaker says that it will let a call through."""
LONGEST_S = 600.0
"""Longest wait of a session; it ends as soon as another one gets through."""
LONGEST_OF_COMMIT_S = 30.0
"""Likewise of a commit, which waits to its end."""


class Outages:
    """Which sessions of which tenants wait for a backend that did not answer them. ``random`` is from 0 to 1."""

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random
        self._waiting: dict[str, set[int]] = {}
        self._every_s = ASK_EVERY_S
        self._got_through = False

    def wait_s(self, lease: Lease, error: BackendError, longest_s: float = LONGEST_S) -> float:
        """Seconds until the session may ask again after this error: the longer, the more there are that may.

        None of it for the first one, whose back-off is enough, and after an answer, whatever it is.
        """
        if error.answered or error.not_found or error.reason in REJECTED:
            return 0.0
        waiting = self._waiting.setdefault(lease.who.account_key, set())
        waiting.add(lease.session_id)
        if error.retry_after_s is not None:  # no call gets through before that
            self._every_s = max(self._every_s, min(error.retry_after_s, SELDOM_S))
        others = max(len(waiting), len(self._waiting)) - 1
        return min(longest_s, self._every_s * others) * (0.75 + self._random() / 4)

    def over(self, lease: Lease) -> set[int] | None:
        """The backend took something of the session: who need not wait any longer; None for all, where that is unknown.

        It is in a process that has just started: who waits was said by the one before.
        """
        self._every_s = ASK_EVERY_S
        if not self._got_through:
            self._got_through = True
            self._waiting.clear()
            return None
        if lease.who.account_key not in self._waiting:
            return set()
        freed = set().union(*self._waiting.values())
        self._waiting.clear()
        return freed
