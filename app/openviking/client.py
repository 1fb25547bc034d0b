"""The context backend port over OpenViking's HTTP API (facts: OpenViking 0.5.2).

Each method is one request, but for `history` of a session with archives, `re_extract`, and writes to a torn session.
Nothing is retried here: the caller knows its deadline and whether a write may be repeated.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from anyio import CapacityLimiter, create_task_group

from app.core.capture.batches import batches
from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Clock, Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.recall.hits import Hit
from app.core.recall.recall_filter import ANY, RecallFilter
from app.documents.passage_ranking import CANDIDATES
from app.openviking import hit_answers, session_answers, task_answers
from app.openviking.breaker import State
from app.openviking.call_errors import Lane, Operation, rejected
from app.openviking.calls import Calls
from app.openviking.document_recall import DocumentRecall
from app.openviking.evolution import Evolution
from app.openviking.gateway import Gateway
from app.openviking.headers import common_key, effective_tenant, trace_headers
from app.openviking.health import Health
from app.openviking.recall import LedgerRecall
from app.openviking.recovery import beside
from app.openviking.search_places import asked_for, period, places
from app.openviking.session_archives import SessionArchives, session_path, session_uri
from app.openviking.session_messages import to_wire
from app.openviking.task_sessions import NOT_RESTRICTED, TaskSessions
from app.openviking.torn_sessions import TornSessions
from app.ports import (
    Appended,
    BackendError,
    BackendHealth,
    CommitReceipt,
    CommitState,
    CommitStatus,
    SessionHistory,
    Target,
)
from app.settings import OpenVikingSettings

T = TypeVar("T")

MAX_BATCH = 100
READS_AT_ONCE = 8
MAX_KEEP_RECENT = 10_000
MAX_MATCHES = 100_000
"""Lines that a grep may give; OpenViking's own default of 256 would hide part of a long turn."""

_FIND = Operation("find", lane=Lane.SEARCH, of_session=False)
_READ = Operation("read", of_session=False)
_APPEND = Operation("append", writes=True)
_ARRIVED = Operation("arrived")
_COMMIT = Operation("commit", writes=True)
_COMMIT_STATUS = Operation("commit_status", of_session=False)
_DISCARD = Operation("discard_side_session", writes=True)


class OpenVikingBackend:
    """`ContextBackend` on an OpenViking server in ``dev``, ``api_key`` or ``trusted`` mode.

    ``outgoing_headers`` gives the trace headers of the request that is being served. ``experiences``: they are wanted,
    and `health` tells whether they are learnt; ``automation_teaches``: also of scheduled runs and sub-agents. A call
    for another tenant than the owner of the key is refused unsent.
    """

    name = "openviking"

    def __init__(
        self,
        settings: OpenVikingSettings,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock = time.monotonic,
        outgoing_headers: Callable[[], Mapping[str, str]] = dict,
        experiences: bool = False,
        automation_teaches: bool = False,
    ) -> None:
        self._settings = settings
        self._passed_on = outgoing_headers
        self._gateway = Gateway(settings, transport=transport, clock=clock)
        self._health = Health(self._gateway, settings.keys(), common_key(settings))
        self.calls = self._calls = Calls(settings, self._gateway, self._health, outgoing_headers)
        self._archives = SessionArchives(self._calls)
        self._torn = TornSessions(self._calls)
        self._task_sessions = TaskSessions(self._calls, teaches=automation_teaches)
        self._evolution = Evolution(settings, self._calls, clock) if experiences else None
        self.recall: LedgerRecall | None = None
        """Knows what is not to be shown as the server has it; None where no memories are kept one by one."""
        self.documents: DocumentRecall | None = None
        """The same of documents; None where none are imported."""
        self._url = _shown(settings.url)
        self.place = f"{self.name} {self._url}"
        self.call_s = settings.timeout_ms / 1000

    def move_to(self, url: str) -> None:
        """Send what is asked from now on to another base URL: a server that was started again may get another port."""
        self._gateway.move_to(url)
        self._url = _shown(url)

    async def find(
        self,
        who: Identity,
        query: str,
        target: Target,
        limit: int,
        deadline: Deadline,
        only: RecallFilter = ANY,
    ) -> list[Hit]:
        """See `ContextBackend.find`. An actor peer's memories lie beside the user's own, so both are searched."""
        if target is Target.MEMORIES and only.admits_nothing:  # the server refuses a period that ends before it begins
            return []
        tenant = effective_tenant(self._settings, who.tenant)
        body: dict[str, Any] = {
            "query": query,
            "limit": asked_for(target, limit, only),
            "level": hit_answers.LEAF,
            "target_uri": places(target, who.actor_peer, only),
        }
        documents = self.documents if target is Target.RESOURCES else None
        if documents:
            body |= {"read_content": True, "limit": max(limit, CANDIDATES)}
        if target is Target.MEMORIES and not only.is_open:
            body |= period(only._replace(until=None) if self.recall else only)

        def parse(result: Any) -> list[Hit]:
            found = hit_answers.hits(result, target, tenant.user, who.actor_peer)
            if target is not Target.MEMORIES or only.is_open:
                return found if documents else found[:limit]
            return [hit for hit in found if only.admits_category(hit.category)]

        hits = await self._calls.make(_FIND, who, "POST", "/api/v1/search/find", parse, deadline, body=body)
        if target is Target.MEMORIES and only.has_period and self.recall:
            hits = await self.recall.within(tenant, hits, only)
        if documents:
            return await documents.best(tenant, query, hits, limit)
        recall = None if target is Target.RESOURCES else self.recall
        return hits[:limit] if recall is None else await recall.shown(tenant, hits[:limit])

    async def find_below(
        self, tenant: Tenant, query: str, folders: Sequence[str], limit: int, deadline: Deadline
    ) -> list[Hit]:
        """The best files below these folders, whichever peer they belong to."""
        who = Identity(tenant, "", None, "", None, PeerRole.NONE)
        body = {"query": query, "limit": max(1, limit), "level": hit_answers.LEAF, "target_uri": list(folders)}
        path = "/api/v1/search/find"
        return await self._calls.make(_FIND, who, "POST", path, hit_answers.files_found, deadline, body=body)

    def tenant_of(self, tenant: Tenant) -> Tenant:
        """The tenant that a request means: what it does not name is configured."""
        return effective_tenant(self._settings, tenant)

    async def read(self, who: Identity, uris: Sequence[str], deadline: Deadline) -> dict[str, str]:
        """See `ContextBackend.read`. One request a URI, a few at a time."""
        slots = CapacityLimiter(READS_AT_ONCE)
        tenant = self.tenant_of(who.tenant)
        found: dict[str, str] = {}
        failures: list[BackendError] = []

        async def read_one(uri: str) -> None:
            async with slots:
                try:
                    at = await self.documents.remote(tenant, uri) if self.documents else uri
                    path, params = "/api/v1/content/read", {"uri": at}
                    text = await self._calls.optional(_READ, who, path, hit_answers.text, deadline, params=params)
                except BackendError as error:
                    failures.append(error)
                else:
                    found.update({uri: text} if text is not None else {})

        async with create_task_group() as reads:
            for uri in uris:
                reads.start_soon(read_one, uri)
        if failures and len(failures) == len(uris):
            raise failures[0]
        if self.recall is None:
            return found
        hits = [Hit(uri, text, 0.0) for uri, text in found.items()]
        return {hit.uri: hit.text for hit in await self.recall.shown(tenant, hits)}

    async def append(self, who: Identity, messages: Sequence[CapturedMessage], deadline: Deadline) -> Appended:
        """See `ContextBackend.append`. Use `capture.batches` to cut a turn into what one call takes."""
        if not 1 <= len(messages) <= MAX_BATCH:
            raise rejected(f"a batch has 1 to {MAX_BATCH} messages")
        if self.recall:
            await self.recall.heard(self.tenant_of(who.tenant), messages)
        if self._task_sessions.has(who):
            await self._task_sessions.make(who, deadline)
        body = {"messages": [to_wire(message) for message in messages]}
        path = session_path(who, "/messages/batch")
        try:
            return await self._calls.make(_APPEND, who, "POST", path, session_answers.appended, deadline, body=body)
        except BackendError as error:
            raise await self._torn.mended(who, error, _APPEND, deadline) from error

    async def arrived(self, who: Identity, turn_id: str, deadline: Deadline) -> frozenset[str]:
        """See `ContextBackend.arrived`. A grep over the session's files, live and archived."""
        return await self._grep(who, turn_id, session_answers.source_ids, frozenset(), deadline)

    async def copies(self, who: Identity, turn_id: str, deadline: Deadline) -> int:
        """See `ContextBackend.copies`. A write that comes late is carried out, although its turn was sent again."""
        return await self._grep(who, turn_id, session_answers.copies, 0, deadline)

    async def _grep(
        self, who: Identity, turn_id: str, parse: Callable[[Any, str], T], nothing: T, deadline: Deadline
    ) -> T:
        body = {"uri": session_uri(who), "pattern": re.escape(turn_id), "node_limit": MAX_MATCHES}
        path = "/api/v1/search/grep"
        try:
            return await self._calls.make(
                _ARRIVED, who, "POST", path, lambda result: parse(result, turn_id), deadline, body=body
            )
        except BackendError as error:
            if error.not_found:
                return nothing
            raise

    async def commit(
        self,
        who: Identity,
        keep_recent: int,
        deadline: Deadline,
        *,
        new_epoch: bool = False,
        instructions: str = "",  # noqa: ARG002
    ) -> CommitReceipt:
        """See `ContextBackend.commit`. Working memory is off in OpenViking unless each commit asks for it.

        ``reset_context`` takes no messages to keep, works on a session without live messages too (the receipt then says
        ``no_messages``), empties the context at once, and keeps the old summary out of all later ones. Version
        0.5.2 takes no instructions for its model.
        """
        if self._task_sessions.has(who) and not await self._task_sessions.may_commit(who, deadline):
            return CommitReceipt(None, None, skipped=NOT_RESTRICTED)
        body: dict[str, Any] = {"enable_working_memory": True}
        body |= (
            {"reset_context": True} if new_epoch else {"keep_recent_count": min(max(keep_recent, 0), MAX_KEEP_RECENT)}
        )
        path = session_path(who, "/commit")
        try:
            return await self._calls.make(_COMMIT, who, "POST", path, task_answers.receipt, deadline, body=body)
        except BackendError as error:
            raise await self._torn.mended(who, error, _COMMIT, deadline) from error

    async def commit_status(self, who: Identity, task_id: str, deadline: Deadline) -> CommitStatus:
        """See `ContextBackend.commit_status`. OpenViking forgets tasks after a while."""
        path = f"/api/v1/tasks/{quote(task_id, safe='', errors='replace')}"
        try:
            return await self._calls.make(_COMMIT_STATUS, who, "GET", path, task_answers.commit_status, deadline)
        except BackendError as error:
            if error.not_found:
                return CommitStatus(CommitState.LOST)
            raise

    async def history(self, who: Identity, token_budget: int, deadline: Deadline) -> SessionHistory:
        """See `ContextBackend.history`."""
        return await self._archives.history(who, token_budget, deadline)

    async def archives(self, who: Identity, deadline: Deadline) -> tuple[str, ...]:
        """See `ContextBackend.archives`."""
        return await self._archives.ids(who, deadline)

    async def archived_messages(self, who: Identity, archive_id: str, deadline: Deadline) -> list[CapturedMessage]:
        """See `ContextBackend.archived_messages`. Secrets are placeholders and long tool outputs previews by then."""
        return await self._archives.messages(who, archive_id, deadline)

    async def re_extract(self, who: Identity, archive_id: str, deadline: Deadline) -> CommitReceipt:
        """See `ContextBackend.re_extract` and `app.openviking.recovery`. The task belongs to the side session.

        Safe to repeat: what the side session has is not sent again, a commit under way is answered with its task, and a
        side session whose own extraction failed is thrown away and begun anew.
        """
        messages = await self.archived_messages(who, archive_id, deadline)
        side = beside(who, archive_id)
        stored = await self._archives.total_messages(side, deadline)
        if stored and (await self._archives.context(side, 0, deadline)).failed_archives:
            await self._calls.make(_DISCARD, side, "DELETE", session_path(side), lambda _: None, deadline)
            stored = 0
        for batch in batches(messages[stored:]):
            await self.append(side, batch, deadline)
        if not messages:
            return CommitReceipt(None, None, skipped="no_messages")
        receipt = await self.commit(side, 0, deadline)
        if receipt.task_id:
            return receipt
        params = {"resource_id": side.session, "task_type": "session_commit"}
        task_id = await self._calls.make(
            _COMMIT_STATUS, side, "GET", "/api/v1/tasks", task_answers.newest_task, deadline, params=params
        )
        return CommitReceipt(task_id, "archive_001" if task_id else None, None if task_id else receipt.skipped)

    async def health(self, deadline: Deadline) -> BackendHealth:
        """See `ContextBackend.health`. Facts: the url, version, auth_mode; a key's account, user, role; and whether
        experiences are learnt, where they are wanted."""
        found = await self._health.check(deadline, trace_headers(self._passed_on()))
        evolution = await self._evolution.look(deadline) if self._evolution and found.ok else ""
        told = {"agent_evolution": evolution} if evolution else {}
        return replace(found, facts={"url": self._url, **found.facts, **told})

    def gauges(self) -> Mapping[str, float]:
        """``breakers_open``: the circuits that let no call through, or one to see whether OpenViking is back."""
        return {"breakers_open": float(sum(state is not State.CLOSED for state in self.breaker_states().values()))}

    def breaker_states(self) -> dict[tuple[str, str], State]:
        """``(account/user, lane)`` to state, for those that are not well; see `Lane`."""
        return self._gateway.breakers.states()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._gateway.aclose()


def _shown(url: str) -> str:
    """A URL without the password that may stand in it."""
    return str(httpx.URL(url).copy_with(userinfo=b""))
