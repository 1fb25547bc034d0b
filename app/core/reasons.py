"""Every reason code in one place: responses, log lines, metrics and the README's table use these and no others."""

from enum import StrEnum


class Reason(StrEnum):
    """Why an answer is what it is. The value is the code on the wire; ``meaning`` is the line in the README's table."""

    meaning: str

    def __new__(cls, code: str, meaning: str) -> "Reason":
        """A member whose value is ``code``."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    OK = "ok", "Everything that was asked for was done."

    # /assemble
    SESSION_BYPASSED = "session_bypassed", "A bypass pattern matches this session: nothing is recalled or captured."
    NON_USER_TAIL = "non_user_tail", "The last message is not from the user, so this is no moment to recall."
    RECALL_DISABLED = "recall_disabled", "Long-term and experience recall are both switched off."
    ALREADY_INJECTED = "already_injected", "The latest user message already carries an injected block."
    QUERY_TOO_SHORT = "query_too_short", "Nothing is left to search for: greeting, acknowledgement, or too short."
    NO_RECALL_HITS = "no_recall_hits", "The search worked and found nothing worth the space."
    DEADLINE_EXCEEDED = "deadline_exceeded", "The backend was too slow; the host's messages go on unchanged."
    OPENVIKING_UNAVAILABLE = "openviking_unavailable", "OpenViking refused, broke off, failed or talked nonsense."
    OPENVIKING_REJECTED = "openviking_rejected", "OpenViking refused the request for good: key, tenant or input."
    BACKEND_UNAVAILABLE = (
        "backend_unavailable",
        "The embedded backend (or a backend other than OpenViking) can not work: disk full, file damaged, no embedder.",
    )
    BACKEND_REJECTED = "backend_rejected", "A backend other than OpenViking refused the request for good."
    MISSING_SENDER = "missing_sender", "Peer role is person and no sender is known: no one's data is recalled."
    NO_SESSION_DATA = "no_session_data", "The backend knows no archived history for this session."
    SESSION_NOT_FOUND = "session_not_found", "The backend does not know this session yet."

    # /sessions/start
    NOTHING_TO_SAY = "nothing_to_say", "Nothing is known that a session could begin with, or `SIDECAR_START__*` is off."

    # the experience gate (recall.gate.reason)
    EXPERIENCE_DISABLED = "experience_disabled", "Experience recall is switched off."
    TASK_TOO_SHORT = "task_too_short", "The message is too short to tell whether it is a task."
    FORCED = "forced", "A trigger hint or a scheduled run asks for experiences without the gate."
    TASK = "task", "The message asks for something to be done."
    NOT_A_TASK = "not_a_task", "The message asks for nothing to be done, so no experience is looked up."

    # /after-turn
    HEARTBEAT = "heartbeat", "A heartbeat turn is not captured."
    CAPTURE_DISABLED = "capture_disabled", "Capture is switched off."
    NO_NEW_MESSAGES = "no_new_messages", "Everything in this turn is empty, noise, or known already."

    # /compact
    COMMIT_COMPLETED = "commit_completed", "The archive and its summary are ready."
    COMMIT_NO_ARCHIVE = "commit_no_archive", "There was nothing to archive."
    COMMIT_FAILED = "commit_failed", "Extraction failed; it will be tried again and the history stays visible."
    COMMIT_TIMEOUT = "commit_timeout", "The archive was not ready within the deadline; it goes on in the background."
    COMMIT_ERROR = "commit_error", "The backend could not be asked to commit; it will be tried again."

    # tools
    AMBIGUOUS = "ambiguous", "More than one thing could be meant; the answer lists them, and nothing was done."
    INVALID_ARGUMENTS = "invalid_arguments", "A model called a tool with arguments that it does not take."

    # documents and skills
    URL_REFUSED = "url_refused", "The URL is not fetched: scheme, host, address, redirect, size, time, or its answer."
    UNSUPPORTED_TYPE = "unsupported_type", "No document of this type can be read here."
    RESOURCE_REFUSED = (
        "resource_refused",
        "It can not be imported: damaged, empty, or made to do harm; nothing of it was kept.",
    )

    # errors (problem documents)
    INVALID_REQUEST = "invalid_request", "The request is malformed; errors names each field."
    UNAUTHORIZED = "unauthorized", "No token, or a wrong one."
    FORBIDDEN = "forbidden", "The token may not act for this tenant, or the request comes from a page of another site."
    NOT_FOUND = "not_found", "There is no such thing here."
    METHOD_NOT_ALLOWED = "method_not_allowed", "This path does not take this method."
    CONFLICT = "conflict", "The thing is not in a state that allows this."
    VERSION_CONFLICT = "version_conflict", "The thing was changed meanwhile; read it again."
    BODY_TOO_LARGE = "body_too_large", "The body is over the limit."
    REQUEST_TIMEOUT = "request_timeout", "The body took too long to arrive."
    OVERLOADED = "overloaded", "Too much is being read at once; try again after Retry-After."
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused", "The same key came with another turn."
    POLICY = "policy", "The text holds what SIDECAR_POLICY__RULES says must not be stored."
    OUTBOX_FULL = "outbox_full", "Too much is waiting for the backend; try again after Retry-After."
    INTERNAL_ERROR = (
        "internal_error",
        "A bug of the sidecar: look for `unexpected_error` under this request's id in the log.",
    )
    STORE_UNAVAILABLE = (
        "store_unavailable",
        "The turn store can not be used: nothing was accepted, or not read in time.",
    )


REJECTED = frozenset({Reason.OPENVIKING_REJECTED, Reason.BACKEND_REJECTED})
"""A backend that works and does not take the request, so that no older answer may stand in for its own."""
BACKEND_TROUBLE = REJECTED | {Reason.DEADLINE_EXCEEDED, Reason.OPENVIKING_UNAVAILABLE, Reason.BACKEND_UNAVAILABLE}
"""A backend that does not serve the request, whichever it is and for whatever reason."""
