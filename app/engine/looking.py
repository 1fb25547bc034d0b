"""Looking at sessions, for people: the list of them, and what was said, archived and summarised in one.

What the store and the backend have is shown under the policy: it may be from before a rule.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.history.archived import written
from app.core.identity import Identity, PeerRole, Tenant
from app.policy.policy import Policy
from app.ports import BackendError, ContextBackend, SessionHistory
from app.store.session_lists import CommitLine, SessionLine, SessionPage, TurnLine
from app.store.turns import SqlTurnStore

MAX_SHOWN_CHARS = 4_000
"""Of one message; a tool's output may have megabytes."""
MAX_READ_CHARS = 4 * MAX_SHOWN_CHARS
"""So much of it is looked through for what must not be shown, so that nothing is cut in two before it is found."""
MAX_MESSAGES = 40
"""Of one turn."""
SUMMARY_TOKENS = 100_000
"""Room for the summary of a session that is asked for."""


@dataclass(frozen=True, slots=True)
class SaidLine:
    """A message as it is shown. ``hidden`` is how many of its characters are not."""

    role: str
    at: str
    text: str
    hidden: int = 0
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn. ``said`` is None where the store has no text of it (any more); ``hidden`` messages are not shown."""

    turn: TurnLine
    said: tuple[SaidLine, ...] | None
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class ShownArchive:
    """An archive of a session; ``abstract`` is empty where the backend has none."""

    archive_id: str
    abstract: str = ""


@dataclass(frozen=True, slots=True)
class ShownSession:
    """Everything about a session. ``problem``: why the backend could not be asked; then its archives are missing."""

    session: SessionLine
    turns: tuple[ShownTurn, ...]
    older: str | None
    commits: tuple[CommitLine, ...]
    summary: str
    archives: tuple[ShownArchive, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LookAtSessions:
    """The use cases of the pages about sessions. Everything is one tenant's."""

    store: SqlTurnStore
    backend: ContextBackend
    policy: Policy

    async def sessions(self, tenant: Tenant, search: str, limit: int, cursor: str | None) -> SessionPage:
        """The list. Raises `StoreUnavailable`."""
        found = await self.store.sessions.page(tenant, search, limit=limit, cursor=cursor)
        return replace(found, sessions=tuple(map(self._named, found.sessions)))

    async def session(
        self, tenant: Tenant, session: str, limit: int, cursor: str | None, deadline: Deadline
    ) -> ShownSession:
        """One session. Raises `NotFound`, `StoreUnavailable`; never for a backend that is away."""
        line = await self.store.sessions.get(tenant, session)
        turns = await self.store.sessions.turns(tenant, session, limit=limit, cursor=cursor)
        commits = await self.store.sessions.commits(tenant, session)
        shown = await asyncio.to_thread(lambda: tuple(map(partial(_shown_turn, self.policy), turns.turns)))
        summary, archives, problem = await self._archived(tenant, line, deadline)
        return ShownSession(self._named(line), shown, turns.cursor, commits, summary, archives, problem)

    async def operator(self, tenant: Tenant, session: str) -> Identity:
        """Who looks into a session's archives: an identity that may see all that is the tenant's. Raises `NotFound`."""
        return _operator(tenant, await self.store.sessions.get(tenant, session))

    async def _archived(
        self, tenant: Tenant, line: SessionLine, deadline: Deadline
    ) -> tuple[str, tuple[ShownArchive, ...], str]:
        """The summary, the archives newest first, and what kept the backend from telling."""
        who, kept = _operator(tenant, line), self.policy.text(line.summary)
        try:
            names = await self.backend.archives(who, deadline)
            history = await self.backend.history(who, SUMMARY_TOKENS, deadline) if names else SessionHistory("", (), ())
        except BackendError as error:
            return kept, (), "" if error.not_found else str(error.reason)
        abstracts = dict(history.abstracts)
        archives = tuple(ShownArchive(name, abstracts.get(name, "")) for name in reversed(names))
        return history.overview or kept, archives, ""

    def _named(self, line: SessionLine) -> SessionLine:
        """Under the policy; its name stays, because addresses need it, and is masked where it is shown."""
        return replace(line, session_key=line.session_key and self.policy.text(line.session_key))


def _operator(tenant: Tenant, line: SessionLine) -> Identity:
    return Identity(tenant, line.session, line.session_key, line.agent, None, PeerRole.NONE)


def _shown_turn(policy: Policy, turn: TurnLine) -> ShownTurn:
    if turn.messages is None:
        return ShownTurn(turn, None)
    said = tuple(_said(policy, message) for message in turn.messages[:MAX_MESSAGES])
    return ShownTurn(replace(turn, messages=None), said, max(0, len(turn.messages) - MAX_MESSAGES))


def _said(policy: Policy, message: CapturedMessage) -> SaidLine:
    text = written(message)
    shown = policy.text(text[:MAX_READ_CHARS])
    tools: Sequence[str] = [part.name for part in message.parts if not isinstance(part, TextPart)]
    hidden = max(0, len(shown) - MAX_SHOWN_CHARS) + max(0, len(text) - MAX_READ_CHARS)
    return SaidLine(message.role, message.created_at, shown[:MAX_SHOWN_CHARS], hidden, tuple(tools))
