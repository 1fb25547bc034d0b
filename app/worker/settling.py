"""How long a write of unknown outcome may still happen: the backend can not be told to forget it, only waited for."""

from app.core.deadline import Deadline
from app.core.reasons import Reason
from app.ports import BackendError

SLOW = 3
"""How many times as long as usual a server is waited for that was given all the time there is and said nothing."""


def longest_s(call_s: float, settle_s: float) -> float:
    """Seconds after an answer of the backend by which every write that was begun before has happened or never will."""
    return max(call_s, (SLOW - 1) * settle_s) + settle_s


def settles_in(error: BackendError, deadline: Deadline, settle_s: float) -> float:
    """Seconds from now until the write that failed with ``error`` has happened or never will.

    ``deadline`` was that of the call. A server that has answered is done with the request. One whose connection broke
    may go on for as long as the call could have taken.
    """
    if error.answered:
        return settle_s
    if error.reason is Reason.DEADLINE_EXCEEDED:
        return longest_s(deadline.remaining, settle_s)
    return deadline.remaining + settle_s
