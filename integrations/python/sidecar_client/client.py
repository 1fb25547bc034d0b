"""The three calls around a model's turn, and everything else that the sidecar can be asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

import httpx

from sidecar_client.answers import (
    Assembled,
    Committed,
    Compacted,
    Delivery,
    DeliveryPage,
    Message,
    RecallList,
    SessionEnded,
    SessionStarted,
    ToolAnswer,
)
from sidecar_client.connection import Connection, SidecarError, quoted
from sidecar_client.memories import Memories
from sidecar_client.resources import Resources


@dataclass(frozen=True)
class Session:
    """Who is calling. ``id`` names the conversation; ``sender`` the person, where several talk to one agent."""

    id: str
    agent: str = "main"
    sender: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def scope(self) -> dict[str, Any]:
        """The scope fields of a request body."""
        scope = {"sessionId": self.id, "agentId": self.agent, **self.extra}
        return scope | ({"senderId": self.sender} if self.sender else {})


class Sidecar:
    """A connection to the sidecar; use it as a context manager.

    ``account`` and ``user`` choose the tenant where the token may act for any. ``timeout`` is in seconds, for all
    calls that have none of their own; the sidecar is told to answer a little sooner. ``http`` may be your own httpx
    client, with its timeout.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8787",
        token: str | None = None,
        *,
        account: str | None = None,
        user: str | None = None,
        timeout: float = 5.0,
        http: httpx.Client | None = None,
    ) -> None:
        headers = {
            "Authorization": f"Bearer {token}" if token else None,
            "X-OpenViking-Account": account,
            "X-OpenViking-User": user,
        }
        given = {name: value for name, value in headers.items() if value}
        self._connection = Connection(base_url, given, http or httpx.Client(timeout=timeout))
        self.memories = Memories(self._connection)
        self.resources = Resources(self._connection, "resource")
        self.skills = Resources(self._connection, "skill")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.http.close()

    def assemble(
        self, session: Session, messages: Sequence[Message], *, token_budget: int = 128_000, **more: Any
    ) -> Assembled:
        """The messages for the model: summary of the archived past, live messages, recalled memories. Never raises
        for a sidecar that is away: then these are your own messages, with reason ``unreachable``. It does for what
        can not be sent at all (``unencodable``), such as NaN in a tool call's arguments.

        ``more`` are further fields of the request, such as ``inject`` or ``availableTools``.
        """
        body = {"phase": "full", "messages": list(messages), "tokenBudget": token_budget, **more}
        try:
            answer: Assembled = self._post("/assemble", session, body)
        except SidecarError as error:
            if error.is_final:
                raise
            return {"messages": list(messages), "estimatedTokens": 0, "status": "passthrough", "reason": error.code}
        return answer

    def after_turn(
        self, session: Session, key: str, turn: Sequence[Message], *, token_budget: int = 128_000, **more: Any
    ) -> Committed:
        """Stores one turn. ``key`` is unique to it: after a `SidecarError` that is not final, send the same again."""
        body = {"advancementKey": key, "messages": list(turn), "prePromptMessageCount": 0, "tokenBudget": token_budget}
        answer: Committed = self._post("/after-turn", session, {**body, **more})
        return answer

    def compact(self, session: Session, *, token_budget: int = 128_000, timeout: float = 120.0) -> Compacted:
        """Archives the session's past now and waits for its summary, at most ``timeout`` seconds."""
        body = {"tokenBudget": token_budget, "force": True}
        answer: Compacted = self._post("/compact", session, body, timeout)
        return answer

    def start(self, session: Session, *, token_budget: int = 128_000, **more: Any) -> SessionStarted:
        """What goes into the session's system prompt; `assemble` answers the same. ``more``: such as ``chatType``."""
        answer: SessionStarted = self._post("/sessions/start", session, {"tokenBudget": token_budget, **more})
        return answer

    def reset(self, session: Session) -> SessionEnded:
        """The person starts over under the same session id."""
        answer: SessionEnded = self._post("/sessions/reset", session, {})
        return answer

    def end(self, session: Session) -> SessionEnded:
        """The session is over: what it holds becomes long-term memory now."""
        answer: SessionEnded = self._post("/sessions/end", session, {})
        return answer

    def tools(self, style: Literal["openai", "anthropic", "mcp"] = "openai") -> list[dict[str, Any]]:
        """The tools that a model can call, in the way of its provider: give them to it as they are."""
        tools: list[dict[str, Any]] = self._connection.call("GET", "/tools", params={"style": style})["tools"]
        return tools

    def call_tool(self, name: str, arguments: Mapping[str, Any], session: Session | None = None) -> ToolAnswer:
        """Call a tool as the model asked. A mistake of the model is an answer too: give it ``content``."""
        body = {**(session.scope() if session else {}), "arguments": dict(arguments)}
        answer: ToolAnswer = self._connection.ask(f"/tools/{quoted(name)}", body)
        return answer

    def search_archives(self, session: Session, query: str, archive_id: str | None = None) -> ToolAnswer:
        """The archived messages of a session that hold the words of ``query``."""
        arguments = {"query": query} | ({"archiveId": archive_id} if archive_id else {})
        return self.call_tool("ov_archive_search", arguments, session)

    def read_archive(self, session: Session, archive_id: str, *, offset: int = 0, limit: int = 20) -> ToolAnswer:
        """The original messages of an archive; ``nextOffset`` in ``details`` says where to read on."""
        arguments = {"archiveId": archive_id, "offset": offset, "limit": limit}
        return self.call_tool("ov_archive_expand", arguments, session)

    def read_tool_output(self, session: Session, call_id: str, *, offset: int = 0, limit: int = 8_000) -> ToolAnswer:
        """A part of a tool output that was cut, by characters: ``details`` has it as ``text``, and ``nextOffset``."""
        arguments = {"callId": call_id, "offset": offset, "limit": limit}
        return self.call_tool("ov_tool_result", arguments, session)

    def turn(self, turn_id: str) -> Delivery:
        """Where a turn is on its way to the backend."""
        found: Delivery = self._connection.call("GET", f"/turns/{quoted(turn_id)}")
        return found

    def deliveries(
        self,
        *,
        state: Sequence[str] = (),
        session: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> DeliveryPage:
        """Turns, newest first; ``state=["dead"]`` are those that were set aside."""
        params = {"state": list(state), "session": session, "limit": limit, "cursor": cursor}
        page: DeliveryPage = self._connection.call("GET", "/deliveries", params=params)
        return page

    def retry(self, turn_id: str) -> Delivery:
        """Send an undelivered turn now."""
        return self._decide(turn_id, "retry")

    def discard(self, turn_id: str) -> Delivery:
        """Give an undelivered turn up; its text is deleted."""
        return self._decide(turn_id, "discard")

    def recalls(
        self, *, session: str | None = None, since: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> RecallList:
        """What was looked up, newest first."""
        params = {"session": session, "since": since, "limit": limit, "cursor": cursor}
        page: RecallList = self._connection.call("GET", "/recalls", params=params)
        return page

    def recall(self, trace_id: str) -> dict[str, Any]:
        """Why a recall came out as it did."""
        found: dict[str, Any] = self._connection.call("GET", f"/recalls/{quoted(trace_id)}")
        return found

    def _decide(self, turn_id: str, what: str) -> Delivery:
        decided: Delivery = self._connection.call("POST", f"/deliveries/{quoted(turn_id)}/{what}")
        return decided

    def _post(self, path: str, session: Session, body: dict[str, Any], timeout: float | None = None) -> Any:
        return self._connection.ask(path, session.scope() | body, timeout=timeout)
