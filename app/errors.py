"""The errors of the HTTP surface, and the errors of backends and store that become them.

::

    SidecarError                 -> problem document with its code and status
    ├── InvalidRequest           400 invalid_request, one FieldProblem per field
    ├── Unauthorized             401 unauthorized
    ├── Forbidden                403 forbidden
    ├── NotFound                 404 not_found
    ├── Conflict                 409 conflict
    ├── Ambiguous                409 ambiguous, with candidates
    ├── VersionConflict          412 version_conflict
    ├── BodyTooLarge             413 body_too_large
    ├── UnsupportedType          415 unsupported_type
    ├── UrlNotFetched            400 url_refused
    ├── ResourceRefused          422 resource_refused
    ├── RequestTimeout           408 request_timeout
    ├── Overloaded               503 overloaded, with Retry-After
    ├── KeyReused                422 idempotency_key_reused
    ├── RefusedByPolicy          422 policy
    ├── OutboxFull               503 outbox_full, with Retry-After
    ├── StoreUnavailable         503 store_unavailable, with Retry-After
    ├── BackendTrouble           503 with the backend's reason and Retry-After; 422 for what it refuses for good
    └── Unexpected               500 internal_error
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.capture.policy_line import PolicyLine
from app.core.memories.memory import Memory
from app.core.reasons import Reason


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One thing wrong with a request: where (``messages.3.role``) and what."""

    field: str
    message: str


class SidecarError(Exception):
    """A failure that the caller is told about as a problem document."""

    code: Reason
    status: int
    retry_after_s: int | None = None

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class InvalidRequest(SidecarError):
    """The request is malformed."""

    code, status = Reason.INVALID_REQUEST, 400

    def __init__(self, *problems: FieldProblem) -> None:
        super().__init__("; ".join(f"{p.field}: {p.message}" for p in problems[:5]))
        self.problems = problems


class Unauthorized(SidecarError):
    """No token or a wrong one."""

    code, status = Reason.UNAUTHORIZED, 401


class Forbidden(SidecarError):
    """The token may not act for this tenant."""

    code, status = Reason.FORBIDDEN, 403


class NotFound(SidecarError):
    """There is no such thing."""

    code, status = Reason.NOT_FOUND, 404


class Conflict(SidecarError):
    """The thing is not in a state that allows this."""

    code, status = Reason.CONFLICT, 409


class Ambiguous(SidecarError):
    """More than one memory could be meant, so nothing was done."""

    code, status = Reason.AMBIGUOUS, 409

    def __init__(self, detail: str, candidates: Sequence[Memory]) -> None:
        super().__init__(detail)
        self.candidates = candidates


class VersionConflict(SidecarError):
    """The thing was changed since the version that the caller knows."""

    code, status = Reason.VERSION_CONFLICT, 412


class BodyTooLarge(SidecarError):
    """The body is over the limit."""

    code, status = Reason.BODY_TOO_LARGE, 413


class UnsupportedType(SidecarError):
    """What was sent is of no type that can be read."""

    code, status = Reason.UNSUPPORTED_TYPE, 415


class UrlNotFetched(SidecarError):
    """The URL is refused, or what it leads to."""

    code, status = Reason.URL_REFUSED, 400


class ResourceRefused(SidecarError):
    """What was sent can not be imported; nothing of it was kept."""

    code, status = Reason.RESOURCE_REFUSED, 422


class RequestTimeout(SidecarError):
    """The body took too long to arrive."""

    code, status = Reason.REQUEST_TIMEOUT, 408


class Overloaded(SidecarError):
    """As much is being read as may be, or reading takes too long."""

    code, status, retry_after_s = Reason.OVERLOADED, 503, 1


class KeyReused(SidecarError):
    """The same idempotency key came with another turn."""

    code, status = Reason.IDEMPOTENCY_KEY_REUSED, 422


class RefusedByPolicy(SidecarError):
    """The text holds what the rules say must not be stored; ``policy`` is what they found."""

    code, status = Reason.POLICY, 422

    def __init__(self, detail: str, policy: Sequence[PolicyLine] = ()) -> None:
        super().__init__(detail)
        self.policy = tuple(policy)


class OutboxFull(SidecarError):
    """The store holds as much undelivered text as it may."""

    code, status, retry_after_s = Reason.OUTBOX_FULL, 503, 30


class StoreUnavailable(SidecarError):
    """The store can not be written: disk full, locked, gone."""

    code, status, retry_after_s = Reason.STORE_UNAVAILABLE, 503, 5


class BackendTrouble(SidecarError):
    """The backend did not do what the caller waits for; ``refused``: and never will."""

    def __init__(self, reason: Reason, detail: str, *, refused: bool) -> None:
        super().__init__(detail)
        self.code = reason
        self.status, self.retry_after_s = (422, None) if refused else (503, 5)


class Unexpected(SidecarError):
    """A bug in the sidecar: neither the caller nor the backend is to blame, and trying again is not suggested."""

    code, status = Reason.INTERNAL_ERROR, 500


class CanNotStart(RuntimeError):
    """The service can not open what it needs; the message tells the operator which part, and why."""
