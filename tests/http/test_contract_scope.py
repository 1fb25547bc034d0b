"""The table "Who is calling" of the contract against the requests that reach OpenViking."""

import hashlib
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from app.observe.context import outgoing_headers
from app.openviking.client import OpenVikingBackend
from app.settings import OpenVikingSettings
from tests.http.conftest import Start

QUESTION = {"role": "user", "content": "Which tea do I like in the morning?"}


class Server:
    """Takes down every request and answers a search with ``memories``; everything else it does not know."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.memories: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.path.endswith("/search/find"):
            return httpx.Response(200, json={"status": "ok", "result": {"memories": self.memories, "resources": []}})
        return httpx.Response(404, json={"status": "error", "error": {"code": "NOT_FOUND", "message": "no"}})

    def remembers(self, uri: str, text: str) -> None:
        self.memories.append({"context_type": "memory", "uri": uri, "level": 2, "score": 0.9, "abstract": text})


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def client(start: Start, server: Server) -> TestClient:
    settings = OpenVikingSettings(url="http://openviking.test", user="mia")
    backend = OpenVikingBackend(settings, transport=httpx.MockTransport(server), outgoing_headers=outgoing_headers)
    shown = {"score_threshold": 0, "relative_cut": 0}  # whose it is counts here, not whether it is relevant
    return start(backend, backend="openviking", openviking=settings, recall=shown)


def asked(client: TestClient, server: Server, **scope: Any) -> httpx.Request:
    """The request for the session's context that an `/assemble` with this scope makes."""
    answer = client.post("/assemble", json={"phase": "preflight", "messages": [QUESTION], **scope})
    assert answer.status_code == 200, answer.text
    return next(request for request in reversed(server.requests) if request.url.path.endswith("/context"))


@pytest.mark.parametrize("name", ["全　角", "non\u00a0breaking", "نمی\u200cدانم", "👨\u200d👩"])
def test_letters_of_any_script_and_inner_spaces_are_a_safe_session_id(
    client: TestClient, server: Server, name: str
) -> None:
    assert asked(client, server, sessionId=name).url.path == f"/api/v1/sessions/{name}/context"


@pytest.mark.parametrize("name", ["tab\there", "c1\u0085control"])
def test_control_characters_are_not(client: TestClient, server: Server, name: str) -> None:
    expected = hashlib.sha256(f"openclaw-session:{name}".encode()).hexdigest()
    assert asked(client, server, sessionId=name).url.path == f"/api/v1/sessions/{expected}/context"


def test_the_runtime_context_may_be_in_snake_case_too(client: TestClient, server: Server) -> None:
    request = asked(client, server, session_id="s1", runtime_context={"session_key": "agent:ops:chat"})
    assert request.headers["x-openviking-actor-peer"] == "ops"
    assert request.url.path == f"/api/v1/sessions/{hashlib.sha256(b'agent:ops:chat').hexdigest()}/context"


def test_the_agent_is_the_one_last_seen_in_the_session(client: TestClient, server: Server) -> None:
    """Whichever endpoint saw it."""

    def agent(**scope: Any) -> str:
        return asked(client, server, **scope).headers["x-openviking-actor-peer"]

    assert agent(sessionId="s1") == "main"
    assert agent(sessionId="s1", agentId="ops") == "ops"
    assert [agent(sessionId="s1"), agent(sessionId="s2")] == ["ops", "main"]
    turn = {"sessionId": "s1", "runtimeContext": {"agentId": "qa"}, "messages": [QUESTION]}
    assert client.post("/after-turn", json=turn).is_success
    assert agent(sessionId="s1") == "qa"
    assert agent(sessionId="s1", agentId="ops") == agent(sessionId="s1") == "ops"


def test_hits_may_name_the_users_home_without_the_user(client: TestClient, server: Server) -> None:
    server.remembers("viking://user/memories/preferences/tea.md", "Green tea.")
    server.remembers("viking://user/peers/main/memories/preferences/milk.md", "With milk.")
    server.remembers("viking://user/peers/other/memories/preferences/rum.md", "With rum.")
    server.remembers("viking://~/peers/other/memories/preferences/gin.md", "With gin.")
    server.remembers("viking://user/kim/memories/preferences/mate.md", "Mate.")
    block = client.post("/assemble", json={"sessionId": "s1", "messages": [QUESTION]}).json()["contextBlock"]
    shown = [line for line in block.splitlines() if line.startswith("- [")]
    assert sorted(shown) == ["- [preferences] Green tea.", "- [preferences] With milk."]


TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_the_trace_goes_on_with_its_state(client: TestClient, server: Server) -> None:
    client.headers.update({"traceparent": TRACE, "tracestate": "vendor=1,other=2"})
    sent = asked(client, server, sessionId="s1").headers
    assert (sent["traceparent"], sent["tracestate"]) == (TRACE, "vendor=1,other=2")


@pytest.mark.parametrize(
    "trace",
    [
        "",
        "nonsense",
        TRACE.upper(),
        f"{TRACE}-x",
        f"ff{TRACE[2:]}",
        f"00-{'0' * 32}{TRACE[35:]}",
        f"{TRACE[:36]}{'0' * 16}-01",
    ],
)
def test_a_trace_that_is_none_is_not_passed_on(client: TestClient, server: Server, trace: str) -> None:
    client.headers.update({"traceparent": trace, "tracestate": "vendor=1"})
    sent = asked(client, server, sessionId="s1").headers
    assert "traceparent" not in sent and "tracestate" not in sent


def test_a_key_is_not_used_for_somebody_else_although_openviking_was_away_at_the_start(start: Start) -> None:
    """In `api_key` mode the key is the user, whatever the headers say."""
    sent: list[str] = []
    away = True

    def server(request: httpx.Request) -> httpx.Response:
        if away:
            raise httpx.ConnectError("gone", request=request)
        if request.url.path == "/health":
            facts = {"status": "ok", "healthy": True, "auth_mode": "api_key", "account_id": "acme", "user_id": "mia"}
            return httpx.Response(200, json=facts)
        sent.append(request.headers["x-openviking-user"])
        return httpx.Response(200, json={"status": "ok", "result": {"memories": [], "resources": []}})

    settings = OpenVikingSettings(url="http://openviking.test", api_key="mias-key", account="acme", user="mia")
    backend = OpenVikingBackend(settings, transport=httpx.MockTransport(server))
    client = start(backend, backend="openviking", openviking=settings)
    away = False
    reasons = {}
    for user in ("kim", "mia"):
        body = {"sessionId": "s1", "messages": [QUESTION]}
        reasons[user] = client.post("/assemble", json=body, headers={"X-OpenViking-User": user}).json()["reason"]
    assert reasons == {"kim": "openviking_rejected", "mia": "no_recall_hits"}
    assert sent == ["mia"]
