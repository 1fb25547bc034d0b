"""Who did what with which memory, and when. Never a text."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from app.core.identity import Tenant

TOKEN_CHARS = 8


class Action(StrEnum):
    """What was done with a memory."""

    RECALLED = "recalled"
    """It was put into a prompt."""
    READ = "read"
    STORED = "stored"
    CHANGED = "changed"
    FORGOTTEN = "forgotten"
    EXPORTED = "exported"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it: a token by its name, an agent, a session, as far as the request named them."""

    token: str | None = None
    agent: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that was done with one memory. ``at`` is ISO 8601 in UTC."""

    at: str
    action: Action
    memory_id: str
    actor: Actor = Actor()
    request_id: str | None = None
    trace_id: str | None = None


class Written(NamedTuple):
    """What an engine wrote by itself: learnt from a session, or taken in from a page that a person edited."""

    stored: Sequence[str] = ()
    """Ids of the memories that are new."""
    changed: Sequence[str] = ()
    """Ids of those that say something else, or hold no more."""
    session: str | None = None


OnWritten = Callable[[Tenant, Written], None]
"""Is told of it, from any thread."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are asked for; None of a field asks for any."""

    since: str | None = None
    until: str | None = None
    memory_id: str | None = None
    action: Action | None = None


def name_of_token(token: str) -> str:
    """By what a token is called where it must not be told."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()[:TOKEN_CHARS]
