"""What went wrong on the way to OpenViking, as the one error of the backend port.

================================  ==========================  =========  =========================  ================
what                              reason                      retryable  uncertain                  counts as failure
================================  ==========================  =========  =========================  ================
connection refused                openviking_unavailable      yes        no                         yes
connection lost, 5xx, garbage     openviking_unavailable      yes        for writes                 yes
time-out                          deadline_exceeded           yes        for writes, once sent      by its length
429; 409 that says it will pass   openviking_unavailable      yes        no                         no
find: 401/429/503 of the model    openviking_unavailable      yes        no                         503 only
401, 403, no or another's key      openviking_rejected         yes        no                         no
other 4xx                         openviking_rejected         no         no                         no
404 of a session                  session_not_found           no         no                         no
================================  ==========================  =========  =========================  ================
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

import httpx

from app.core.reasons import Reason
from app.openviking.breaker import BreakerOpen, Verdict
from app.ports import BackendError

MAX_RETRY_AFTER_S = 600.0
_MAX_DETAIL_CHARS = 300
_OF_A_PROXY = frozenset({502, 504})
"""What a proxy says when it has lost or given up a server that may still work on the request."""


class Lane(StrEnum):
    """Calls that fail together: a dead embedding model breaks searches and leaves sessions alone.

    Writing a memory waits until it is indexed, so that it fails when neither of the others does. Documents are many and
    large, and must not delay anything else.
    """

    SEARCH = "search"
    SESSIONS = "sessions"
    MEMORIES = "memories"
    RESOURCES = "resources"


@dataclass(frozen=True, slots=True)
class Operation:
    """A kind of call: its name in metrics, its breaker, whether it changes anything, whether 404 means the session."""

    name: str
    lane: Lane = Lane.SESSIONS
    writes: bool = False
    of_session: bool = True


class CallFailed(Exception):
    """A failed call: the error for the caller with its ``outcome`` for metrics, and what the breaker makes of it."""

    def __init__(self, error: BackendError, verdict: Verdict, outcome: str, weight: float = 1.0) -> None:
        super().__init__(error.detail)
        error.outcome = outcome
        self.error = error
        self.verdict = verdict
        self.weight = weight


class Garbage(ValueError):
    """An answer that does not have the shape it must have."""


def rejected(detail: str) -> BackendError:
    """A request that is not worth sending, or that was refused for good."""
    return BackendError(Reason.OPENVIKING_REJECTED, detail, retryable=False)


def unauthorized(detail: str) -> BackendError:
    """A call for which the credentials do not suffice: they can be mended, and until then no turn may be given up."""
    return BackendError(Reason.OPENVIKING_REJECTED, detail, retryable=True)


def from_open_breaker(operation: Operation, refusal: BreakerOpen) -> CallFailed:
    """A call that was not made because its circuit is open."""
    detail = f"OpenViking is failing; {operation.name} was not tried"
    error = BackendError(
        Reason.OPENVIKING_UNAVAILABLE, detail, retryable=True, retry_after_s=max(refusal.retry_after_s, 0.001)
    )
    return CallFailed(error, Verdict.UNKNOWN, "breaker_open")


def from_garbage(operation: Operation, problem: str) -> CallFailed:
    """An answer that can not be read; a write may have happened behind it."""
    detail = f"OpenViking answered {operation.name} with something unexpected: {problem}"[:_MAX_DETAIL_CHARS]
    return CallFailed(_unavailable(detail, uncertain=operation.writes), Verdict.FAILED, "garbage")


def from_timeout(operation: Operation, *, sent: bool, weight: float) -> CallFailed:
    """A call that ran out of time. ``weight`` says how far the server is to blame, 0 to 1: not for what never left."""
    error = BackendError(
        Reason.DEADLINE_EXCEEDED,
        f"OpenViking did not answer {operation.name} in time",
        retryable=True,
        uncertain=sent and operation.writes,
    )
    return CallFailed(error, Verdict.FAILED if weight else Verdict.UNKNOWN, "timeout", weight)


def from_transport(operation: Operation, problem: Exception, *, weight: float) -> CallFailed:
    """A connection that failed. Refused and unreachable are certain; anything later leaves a write uncertain."""
    match problem:
        case httpx.PoolTimeout():  # our own pool is exhausted, which says nothing about the server
            return from_timeout(operation, sent=False, weight=0)
        case httpx.ConnectTimeout():
            return from_timeout(operation, sent=False, weight=weight)
        case httpx.TimeoutException():
            return from_timeout(operation, sent=True, weight=weight)
    sent = not isinstance(problem, (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.InvalidURL))
    what = "broke off" if sent else "can not be reached"
    detail = f"OpenViking {what} ({type(problem).__name__}) at {operation.name}"
    return CallFailed(_unavailable(detail, uncertain=sent and operation.writes), Verdict.FAILED, "unreachable")


def from_status(operation: Operation, status: int, headers: Mapping[str, str], body: Any, now: datetime) -> CallFailed:
    """A response that is not a success. ``body`` is the parsed body or None."""
    detail = f"{operation.name}: {status} {_message(body)}".strip()[:_MAX_DETAIL_CHARS]
    retry_after_s = retry_after(headers.get("retry-after"), now)
    if status >= 500:
        error = _unavailable(detail, uncertain=operation.writes, retry_after_s=retry_after_s)
        error.answered = status not in _OF_A_PROXY
        return CallFailed(error, Verdict.FAILED, "server_error")
    passes = status == 429 or (status == 409 and _is_busy(body))
    if passes or (operation.lane is Lane.SEARCH and _is_upstream(body)):
        return CallFailed(_unavailable(detail, retry_after_s=retry_after_s), Verdict.ALIVE, "throttled")
    if status < 400 or status == 408:  # a redirect is never followed: whatever sent it is not OpenViking
        return CallFailed(_unavailable(detail, uncertain=operation.writes), Verdict.FAILED, "garbage")
    if status == 404:
        reason = Reason.SESSION_NOT_FOUND if operation.of_session else Reason.OPENVIKING_REJECTED
        return CallFailed(BackendError(reason, detail, retryable=False, not_found=True), Verdict.ALIVE, "not_found")
    if status in {401, 403}:
        return CallFailed(unauthorized(detail), Verdict.ALIVE, "rejected")
    return CallFailed(rejected(detail), Verdict.ALIVE, "rejected")


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a Retry-After header (a number or an HTTP date), at most ten minutes; None without one."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        seconds = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_S) if seconds == seconds else None


def _unavailable(detail: str, *, uncertain: bool = False, retry_after_s: float | None = None) -> BackendError:
    return BackendError(
        Reason.OPENVIKING_UNAVAILABLE, detail, retryable=True, uncertain=uncertain, retry_after_s=retry_after_s
    )


def _error_of(body: Any) -> Mapping[str, Any]:
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _message(body: Any) -> str:
    error = _error_of(body)
    return " ".join(text for key in ("code", "message") if isinstance(text := error.get(key), str))


def _is_busy(body: Any) -> bool:
    """True when another caller writes at the same place just now."""
    details = _error_of(body).get("details")
    return isinstance(details, dict) and details.get("retryable") is True


def _is_upstream(body: Any) -> bool:
    """True when a search failed for the embedding provider's key, quota or outage, not for the caller's."""
    details = _error_of(body).get("details")
    return isinstance(details, dict) and ("upstream_status_code" in details or "upstream_error_type" in details)
