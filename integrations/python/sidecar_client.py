"""A client of the OpenViking sidecar for any agent host: one file, httpx, typed.

Nothing here is needed to use the sidecar (``integrations/README.md`` does it with three curl commands); it saves
writing the error handling. What must not stop an agent does not: `assemble` gives your own messages when the sidecar
is away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, NotRequired, Self, TypedDict

import httpx

Message = Mapping[str, Any]
"""A message as your host has it: at least ``role`` and ``content``; OpenAI's, Anthropic's or OpenClaw's style."""


class Assembled(TypedDict):
    """What to send to the model."""

    messages: list[Message]
    estimatedTokens: int
    status: Literal["assembled", "passthrough"]
    reason: str
    systemPromptAddition: NotRequired[str]
    contextBlock: NotRequired[str]


class Committed(TypedDict):
    """What became of a turn; it is on disk unless it was ``skipped``."""

    status: Literal["committed", "duplicate", "skipped"]
    reason: str
    turnId: NotRequired[str]


class Compacted(TypedDict):
    """What became of a compaction; the next `assemble` is shorter when ``compacted`` is true."""

    ok: bool
    compacted: bool
    reason: str
    result: NotRequired[dict[str, Any]]


class SidecarError(Exception):
    """The sidecar refused or could not be reached. ``code`` is the problem's, ``unreachable`` without an answer."""

    def __init__(self, code: str, detail: str, status: int | None = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.status = code, status

    @property
    def is_final(self) -> bool:
        """True when sending the same again can not help."""
        return self.status is not None and 400 <= self.status < 500 and self.status != 429


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

    ``timeout`` is in seconds, for everything but `compact`. ``http`` may be your own httpx client.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8787",
        token: str | None = None,
        *,
        timeout: float = 5.0,
        http: httpx.Client | None = None,
    ) -> None:
        self._http = http or httpx.Client(timeout=timeout)
        self._base_url = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.close()

    def assemble(self, session: Session, messages: Sequence[Message], *, token_budget: int = 128_000) -> Assembled:
        """The messages for the model: summary of the archived past, live messages, recalled memories. Never raises
        for a sidecar that is away: then these are your own messages, with reason ``unreachable``."""
        body = {"phase": "full", "messages": list(messages), "tokenBudget": token_budget}
        try:
            answer: Assembled = self._post("/assemble", session, body)
        except SidecarError as error:
            if error.is_final:
                raise
            return {"messages": list(messages), "estimatedTokens": 0, "status": "passthrough", "reason": error.code}
        return answer

    def after_turn(
        self, session: Session, key: str, turn: Sequence[Message], *, token_budget: int = 128_000
    ) -> Committed:
        """Stores one turn. ``key`` is unique to it: after a `SidecarError` that is not final, send the same again."""
        body = {"advancementKey": key, "messages": list(turn), "prePromptMessageCount": 0, "tokenBudget": token_budget}
        answer: Committed = self._post("/after-turn", session, body)
        return answer

    def compact(self, session: Session, *, token_budget: int = 128_000, timeout: float = 120.0) -> Compacted:
        """Archives the session's past now and waits for its summary, at most ``timeout`` seconds."""
        body = {"tokenBudget": token_budget, "force": True, "deadlineMs": int(timeout * 950)}
        answer: Compacted = self._post("/compact", session, body, timeout=timeout)
        return answer

    def reset(self, session: Session) -> None:
        """The person starts over under the same session id."""
        self._post("/sessions/reset", session, {})

    def end(self, session: Session) -> None:
        """The session is over: what it holds becomes long-term memory now."""
        self._post("/sessions/end", session, {})

    def _post(self, path: str, session: Session, body: dict[str, Any], **options: Any) -> Any:
        try:
            response = self._http.post(
                self._base_url + path, json=session.scope() | body, headers=self._headers, **options
            )
            answer = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise SidecarError("unreachable", str(error) or type(error).__name__) from error
        if not isinstance(answer, dict):
            raise SidecarError("unreachable", "the answer is not a JSON object: is this the sidecar?")
        if not response.is_success:
            raise SidecarError(str(answer.get("code", "error")), str(answer.get("detail", "")), response.status_code)
        return answer
