"""When to try again."""

from collections.abc import Callable
from dataclasses import dataclass

from app.ports import BackendError

PATIENT_AFTER = 10
"""Failed extractions after which the longest wait grows: a model that can not do it should not be paid for for ever."""
PATIENT_FACTOR = 20
EXTRACTION_FACTOR = 6
"""How much longer than the longest wait for a delivery that for an extraction is: each try costs a model call."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits between tries, in seconds. ``random`` gives numbers from 0 to 1."""

    first_s: float
    longest_s: float
    random: Callable[[], float]

    def after_failure(self, attempts: int, error: BackendError | None = None) -> float:
        """What the backend asks for, or else exponential back-off; with jitter, so that no two workers knock at once.

        A backend that says when is asked soon after that: so the end of an outage is noticed with the breaker's probe.
        """
        if error is not None and error.retry_after_s:
            return error.retry_after_s + self.random() * self.first_s
        return self.random() * min(self.longest_s, self.first_s * 2.0 ** min(attempts, 30))

    def after_failed_extraction(self, attempts: int) -> float:
        """Back-off between extractions of one archive."""
        longest = self.longest_s * EXTRACTION_FACTOR * (PATIENT_FACTOR if attempts >= PATIENT_AFTER else 1)
        return (0.5 + self.random() / 2) * min(longest, self.first_s * 2.0 ** min(attempts + 2, 30))

    def after_refused_commit(self, refusals: int) -> float:
        """Back-off after so many refusals in a row; what was refused for good may be taken once the cause is mended.

        No caller waits for these commits, so that they may wait much longer than a turn.
        """
        longest = self.longest_s * EXTRACTION_FACTOR * PATIENT_FACTOR
        return (0.5 + self.random() / 2) * min(longest, self.first_s * 2.0 ** min(refusals + 2, 30))

    def before_poll(self, age_s: float) -> float:
        """Between two looks at a task: often at first, for short ones, then seldom."""
        return min(5.0, 0.25 + max(0.0, age_s) / 8)
