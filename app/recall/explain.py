"""The words behind a trace, for people who may see them: found where they are kept anyway, and never kept for this.

A query is in memory for a while, and later among the session's turns: in the store, or in the archive that the backend
made of them. A memory is read from the backend.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Protocol

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.memories.forget_selection import Redactor
from app.core.recall.query import fingerprint
from app.core.recall.trace import RecallTrace, Verdict
from app.engine.policy.applying import under
from app.engine.policy.names import shown_uri
from app.policy.policy import Policy
from app.ports import BackendError, ContextBackend, StoredTurn

MAX_QUERIES = 1_000
MAX_QUERY_CHARS = 2_000
"""Together about what one large turn takes."""
MAX_TEXTS = 60
"""Memories read for one trace: those that were injected, and the best of the others."""


class RecentQueries:
    """The queries of the newest recalls of this process, by trace id."""

    def __init__(self, most: int = MAX_QUERIES) -> None:
        self._most = most
        self._queries: OrderedDict[str, str] = OrderedDict()

    def keep(self, trace_id: str, query: str) -> None:
        """Keep a query, in memory only, until enough others have come."""
        self._queries[trace_id] = query[:MAX_QUERY_CHARS]
        while len(self._queries) > self._most:
            self._queries.popitem(last=False)

    def forget(self, redactor: Redactor) -> None:
        """Let go of the queries that say what is forgotten; of all where whole turns are."""
        if redactor.forgetting.takes_turns:
            self._queries.clear()
        for trace_id, query in list(self._queries.items()):
            if redactor.derived(query) != query:
                del self._queries[trace_id]

    def of(self, trace: RecallTrace) -> str | None:
        """The query of a trace, if it is known without asking anybody."""
        return trace.query if trace.query is not None else self._queries.get(trace.trace_id)


class Turns(Protocol):
    """Where turns are kept; see `app.store`."""

    async def turns_since(self, tenant: Tenant, session: str, moment: float) -> Sequence[StoredTurn]:
        """The first few turns of the session that came after the moment (epoch seconds), oldest first."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What could be found: the query, memories by their URI, and why some could not be asked for."""

    query: str | None = None
    memories: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


Meant = Callable[[Tenant, Sequence[str], Deadline], Awaitable[Mapping[str, str]]]
"""By URIs that may be masked, those that they are for."""


async def _themselves(_tenant: Tenant, uris: Sequence[str], _deadline: Deadline) -> Mapping[str, str]:
    return {uri: uri for uri in uris}


@dataclass(frozen=True, slots=True)
class Explain:
    """The use case of looking at a recall."""

    queries: RecentQueries
    turns: Turns
    backend: ContextBackend
    policy: Policy = field(default_factory=Policy)
    meant: Meant = _themselves

    async def shown(self, trace: RecallTrace) -> RecallTrace:
        """The trace with everything masked that is not allowed: it may be from before a rule."""
        texts = [trace.query, [[candidate.uri, candidate.text] for candidate in trace.candidates]]
        return await under(self.policy, partial(_shown, self.policy, trace), texts)

    async def run(self, trace: RecallTrace, tenant: Tenant, deadline: Deadline) -> Texts:
        """The texts behind a trace of this tenant. Raises `StoreUnavailable`; never for a backend that is away."""
        # Whose peer asked then does not matter: the operator of a tenant may see all that is the tenant's.
        trace = await self.shown(trace)
        who = Identity(tenant, trace.session, trace.session_key, trace.agent, None, PeerRole.NONE)
        query = self.queries.of(trace)
        if query is None and trace.asked:
            query = await _stored_query(trace, who, self.turns, self.backend, deadline)
            query = query and await under(self.policy, partial(self.policy.text, query), query)
        memories = {candidate.uri: candidate.text for candidate in trace.candidates if candidate.text is not None}
        order = sorted(trace.candidates, key=lambda candidate: candidate.verdict is not Verdict.KEPT)
        missing = [uri for uri in dict.fromkeys(candidate.uri for candidate in order) if uri not in memories]
        problem = ""
        if missing:
            try:
                meant = await self.meant(tenant, missing[:MAX_TEXTS], deadline)
                read = await self.backend.read(who, list(meant.values()), deadline)
                memories |= {uri: read[own] for uri, own in meant.items() if own in read}
            except BackendError as error:
                problem = str(error.reason)
        return Texts(query, memories, problem)


def _shown(policy: Policy, trace: RecallTrace) -> RecallTrace:
    rule = policy.text
    candidates = tuple(
        replace(one, uri=shown_uri(rule, one.uri), text=None if one.text is None else rule(one.text))
        for one in trace.candidates
    )
    query = None if trace.query is None else rule(trace.query)
    return replace(trace, query=query, candidates=candidates)


async def _stored_query(
    trace: RecallTrace, who: Identity, turns: Turns, backend: ContextBackend, deadline: Deadline
) -> str | None:
    """The message that was asked about, from the turn that it became part of."""
    asked_at = datetime.fromisoformat(trace.at).timestamp()
    for turn in await turns.turns_since(who.tenant, who.session, asked_at):
        messages: Sequence[CapturedMessage] = turn.messages
        if not messages and turn.archive_id:
            try:
                archived = await backend.archived_messages(who, turn.archive_id, deadline)
            except BackendError:
                continue
            messages = [message for message in archived if message.source_id.startswith(f"{turn.turn_id}.")]
        for message in messages:
            said = "\n".join(part.text for part in message.parts if isinstance(part, TextPart))
            if message.role == "user" and fingerprint(said) == trace.asked:
                return said
    return None
