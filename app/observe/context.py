"""What belongs to one request and travels with it: its id and its trace, for logs and for calls made on its behalf.

What log lines say of it is one mapping in one context variable: structlog's own has a variable for each name, and every
line looks through all variables there are.
"""

import random
import re
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from app.core.memories.audit import name_of_token

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_MAX_STATE_CHARS = 512
_random = random.Random()  # noqa: S311 - ids only have to differ; the system's random numbers are a call each

_token: ContextVar[str | None] = ContextVar("token", default=None)
_logged: ContextVar[Mapping[str, Any]] = ContextVar("logged", default={})  # noqa: B039 - never mutated
_outgoing: ContextVar[Mapping[str, str]] = ContextVar("outgoing_headers", default={})  # noqa: B039 - never mutated


def begin(request_id: str | None, traceparent: str | None, tracestate: str | None = None) -> str:
    """Start a request's context; returns its id, a new one where the caller's is missing or not allowed.

    A trace that is none by the W3C's Trace Context is not carried on, and its state neither.
    """
    if not request_id or not _REQUEST_ID.fullmatch(request_id):
        request_id = f"{_random.getrandbits(96):024x}"
    headers = {"X-Request-ID": request_id}
    if traceparent and _TRACEPARENT.fullmatch(traceparent):
        headers["traceparent"] = traceparent
        if tracestate and len(tracestate) <= _MAX_STATE_CHARS:
            headers["tracestate"] = tracestate
    _outgoing.set(headers)
    _token.set(None)
    _logged.set({"request_id": request_id})
    return request_id


def note(**facts: Any) -> None:
    """Have every log line of the current request say this from now on."""
    _logged.set({**_logged.get(), **facts})


def noted() -> Mapping[str, Any]:
    """What the log lines of the current request say."""
    return _logged.get()


def go_on_with(noted: Mapping[str, Any]) -> None:
    """Work for a request of another process, of which this was `noted` there."""
    _logged.set(noted)


def request_id() -> str | None:
    """The id of the current request; None outside one."""
    return _outgoing.get().get("X-Request-ID")


def came_with(token: str | None) -> None:
    """The current request came with this token."""
    _token.set(token)


def token_name() -> str | None:
    """What the current request's token is called where it must not be told; None where it has none."""
    token = _token.get()
    return name_of_token(token) if token else None


def outgoing_headers() -> Mapping[str, str]:
    """The headers that a call made for the current request carries on; empty outside a request."""
    return _outgoing.get()
