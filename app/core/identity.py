"""Who is talking: one immutable identity, resolved once per request (contract, "Who is calling")."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

MAX_TOLD_CHARS = 500
"""Of what a scheduled run is told to be about so much joins a query."""
MAX_ID_CHARS = 1024
"""Longest session id, session key, agent or sender id taken from outside, in characters."""
NO_SESSION = "no-session"
"""The session of a request that belongs to none."""

_UNSET, _DASH = "-", "%2D"
"""In an `account_key`: what is unset, and what is called so. No id has a percent sign."""
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_UNSAFE_IN_PATH = frozenset(':<>"\\/|?*#%')
_OPENVIKING_ID = re.compile(r"[A-Za-z0-9_.@-]{1,128}")
_ESCAPED = re.compile(r"-[0-9a-f]{12}")


class PeerRole(StrEnum):
    """Whose peer a request acts as."""

    ASSISTANT = "assistant"
    PERSON = "person"
    NONE = "none"


class SessionKind(StrEnum):
    """What started the session; automation does not become long-term memory unless a setting says so."""

    CHAT = "chat"
    CRON = "cron"
    SUBAGENT = "subagent"
    HEARTBEAT = "heartbeat"


TASK_KINDS = frozenset({SessionKind.CRON, SessionKind.SUBAGENT})
"""Sessions that teach how tasks are done, although they say nothing of their user."""


@dataclass(frozen=True, slots=True)
class SessionNotes:
    """What else is known of a session, for people and their tools; nothing is decided by it. None: not told."""

    parent: str | None = None
    """The session that it was begun from, as the host names it."""
    chat_type: str | None = None
    flushed_at: str | None = None
    """When its host was last told to flush, ISO 8601."""
    flushed_compaction: int | None = None
    """How many compactions the host had asked for by then."""


NO_NOTES = SessionNotes()


@dataclass(frozen=True, slots=True)
class Scope:
    """What a request says about its caller, with ``runtimeContext`` already folded in; None where it says nothing."""

    session_id: str | None = None
    session_key: str | None = None
    agent_id: str | None = None
    sender_id: str | None = None
    is_cron: bool = False
    automation_kind: str | None = None
    parent_session: str | None = None
    chat_type: str | None = None
    automation_name: str | None = None
    last_error: str | None = None
    """How the scheduled run before this one failed, as far as the host says so."""

    @property
    def automation(self) -> str:
        """What is told of a scheduled run: its name, and its last error."""
        told = (self.automation_name, self.last_error)
        return "\n".join(text.strip()[:MAX_TOLD_CHARS] for text in told if text and text.strip())

    @property
    def names_agent(self) -> bool:
        """Whether the request itself says which agent it is about."""
        return bool(_clean(self.agent_id) or agent_of_key(self.session_key))


class Tenant(NamedTuple):
    """An account and a user of OpenViking; None means that the server decides (by key, or its default)."""

    account: str | None = None
    user: str | None = None

    @property
    def account_key(self) -> str:
        """``account/user`` with ``-`` for what is unset: names the tenant in the store and in breakers."""
        return "/".join(_UNSET if not name else _DASH if name == _UNSET else name for name in self)

    @classmethod
    def of_key(cls, key: str) -> "Tenant":
        """The tenant of an `account_key`."""
        account, _, user = key.partition("/")
        return cls(*(None if name == _UNSET else _UNSET if name == _DASH else name for name in (account, user)))

    def without(self, unnamed: str | None) -> "Tenant":
        """The tenant as everything knows it, where who names none is called ``unnamed``: both spellings are one."""
        return Tenant(*(None if name == unnamed else name for name in self))


@dataclass(frozen=True, slots=True)
class Identity:
    """Everything that routes a request. ``session`` is the backend's session id, a safe path segment."""

    tenant: Tenant
    session: str
    session_key: str | None
    agent: str
    sender: str | None
    peer_role: PeerRole
    kind: SessionKind = SessionKind.CHAT
    notes: SessionNotes = field(default=NO_NOTES, compare=False)

    @property
    def actor_peer(self) -> str | None:
        """The peer whose memories may be read: the agent, the sender, or nobody's."""
        match self.peer_role:
            case PeerRole.ASSISTANT:
                return self.agent
            case PeerRole.PERSON:
                return safe_peer_id(self.sender) if self.sender else None
            case PeerRole.NONE:
                return None

    @property
    def lacks_sender(self) -> bool:
        """True when recall would show one person's data to another: peer role ``person`` without a sender."""
        return self.peer_role is PeerRole.PERSON and not self.sender

    @property
    def account_key(self) -> str:
        """See `Tenant.account_key`."""
        return self.tenant.account_key


@lru_cache(maxsize=1024)
def resolve_identity(
    scope: Scope,
    session: str,
    tenant: Tenant,
    *,
    agent_prefix: str = "",
    peer_role: PeerRole = PeerRole.ASSISTANT,
    last_agent: str | None = None,
) -> Identity:
    """The identity of a request for ``session`` (see `session_name`).

    ``last_agent`` is the (already resolved) agent last seen for this session; it is used when the request names none.
    The latest are kept: a session's requests say the same of their caller each time.
    """
    named = _clean(scope.agent_id) or agent_of_key(scope.session_key)
    agent = agent_name(named, agent_prefix) if named else (last_agent or agent_name("main", agent_prefix))
    return Identity(
        tenant=tenant,
        session=session,
        session_key=_clean(scope.session_key),
        agent=agent,
        sender=_clean(scope.sender_id),
        peer_role=peer_role,
        kind=session_kind(scope),
        notes=SessionNotes(_clean(scope.parent_session), _clean(scope.chat_type)),
    )


@lru_cache(maxsize=1024)
def session_name(session_id: str | None, session_key: str | None) -> str | None:
    """The backend's session id: a UUID, a hash, or a safe name; None when nothing is given."""
    plain = _clean(session_id)
    if plain and _UUID.fullmatch(plain):
        return plain.lower()
    key = _clean(session_key)
    if key:
        return _sha256(key)
    if not plain:
        return None
    return plain if is_safe_segment(plain) else _sha256(f"openclaw-session:{plain}")


def is_safe_segment(text: str) -> bool:
    """True for 1 to 200 characters that can stand in a path on any system (contract, session id).

    Joiners and spaces of any script may; controls may not, nor half a surrogate pair, which no URL can carry.
    """
    return (
        0 < len(text) <= 200
        and text[0] != "."
        and text[-1] != "."
        and not any(c in _UNSAFE_IN_PATH or unicodedata.category(c) in {"Cc", "Cs"} for c in text)
    )


def agent_of_key(session_key: str | None) -> str | None:
    """``<id>`` of a session key ``agent:<id>:...``."""
    parts = (session_key or "").split(":", 2)
    return parts[1].strip() or None if len(parts) == 3 and parts[0] == "agent" else None


def agent_name(agent: str, prefix: str) -> str:
    """The agent as OpenViking may see it: prefixed where a prefix is configured, and a legal peer id."""
    prefix = prefix.strip()
    return safe_peer_id(f"{prefix}_{agent}" if prefix and prefix != "default" else agent)


def safe_peer_id(name: str) -> str:
    """``name`` as a legal OpenViking id (``A-Z a-z 0-9 _ . @ -``, at most one ``@``); different names stay different.

    A name that is not legal gets its illegal characters replaced and twelve hex digits of its SHA-256 put behind.
    A legal name that looks as if that had been done to it is treated likewise, so that it is not taken for another.
    """
    legal = _OPENVIKING_ID.fullmatch(name) and name.count("@") <= 1 and name not in {".", ".."}
    if legal and not _ESCAPED.fullmatch(name[-13:]):
        return name
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in name[:64]).strip(".") or "id"
    return f"{stem}-{_sha256(name)[:12]}"


def is_openviking_id(text: str) -> bool:
    """True for a legal account or user id."""
    return bool(_OPENVIKING_ID.fullmatch(text)) and text.count("@") <= 1 and text not in {".", ".."}


def session_kind(scope: Scope) -> SessionKind:
    """Cron by flag or by a ``cron`` part of the key, sub-agent and heartbeat by theirs, else a chat."""
    parts = (scope.session_key or "").split(":")[1:]
    if scope.is_cron or scope.automation_kind == "cron" or "cron" in parts:
        return SessionKind.CRON
    if "subagent" in parts:
        return SessionKind.SUBAGENT
    if scope.automation_kind == "heartbeat" or "heartbeat" in parts:
        return SessionKind.HEARTBEAT
    return SessionKind.CHAT


def is_bypassed(scope: Scope, patterns: Sequence[str]) -> bool:
    """True when a pattern matches the session key or the session id as the host wrote them."""
    names = [name for name in (scope.session_key, scope.session_id) if name]
    return any(matches_pattern(name, pattern) for pattern in patterns for name in names)


def matches_pattern(name: str, pattern: str) -> bool:
    """Whether ``pattern`` covers all of ``name``: ``*`` stays within a ``:``-separated part, ``**`` goes across.

    Time is the product of the two lengths at most.
    """
    states = {0}
    symbols = re.findall(r"\*\*|\*|[^*]", pattern)
    states = _skip_stars(states, symbols)
    for char in name:
        following: set[int] = set()
        for state in states:
            if state == len(symbols):
                continue
            symbol = symbols[state]
            if symbol == "**" or (symbol == "*" and char != ":"):
                following.add(state)
            elif symbol == char:
                following.add(state + 1)
        states = _skip_stars(following, symbols)
        if not states:
            return False
    return len(symbols) in states


def _skip_stars(states: set[int], symbols: Sequence[str]) -> set[int]:
    closed = set(states)
    for state in states:
        while state < len(symbols) and symbols[state] in {"*", "**"}:
            state += 1
            closed.add(state)
    return closed


def _clean(text: str | None) -> str | None:
    return (text or "").strip() or None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
