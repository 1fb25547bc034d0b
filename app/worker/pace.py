"""When to try again."""

from collections.abc import Callable
from dataclasses import dataclass

from app.ports import BackendError

PATIENT_AFTER = 10
"""Failed extractions after which the longest wait grows: a model that can not do it should not be paid for for ever."""
PATIENT_FACTOR = 20


@dataclass(frozen=True, slots=True)
class Pace:
    """Waits between tries, in seconds. ``random`` gives numbers from 0 to 1."""

    first_s: float
    longest_s: float
    random: Callable[[], float]

    def after_failure(self, attempts: int, error: BackendError | None = None) -> float:
        """Exponential back-off with full jitter (no two workers knock at once), or longer if the backend says so."""
        wait = self.random() * min(self.longest_s, self.first_s * 2.0 ** min(attempts, 30))
        return max(wait, error.retry_after_s or 0.0) if error else wait

    def after_failed_extraction(self, attempts: int) -> float:
        """Back-off between extractions of one archive: each costs a model call."""
        longest = self.longest_s * (PATIENT_FACTOR if attempts >= PATIENT_AFTER else 1)
        return (0.5 + self.random() / 2) * min(longest, self.first_s * 2.0 ** min(attempts + 2, 30))

    def before_poll(self, age_s: float) -> float:
        """Between two looks at a task: often at first, for short ones, then seldom."""
        return min(5.0, 0.25 + age_s / 8)
