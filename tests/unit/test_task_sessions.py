"""On OpenViking: sessions of scheduled runs and sub-agents teach experiences alone; and why experiences never come."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from app.core.identity import SessionKind
from app.openviking.client import OpenVikingBackend
from app.openviking.evolution import OFF, ON, UNKNOWN
from app.openviking.task_sessions import NOT_RESTRICTED
from app.ports import BackendError
from app.settings import OpenVikingSettings
from tests.unit.test_openviking_client import TURN, Clock, error, ok, soon, who

pytestmark = pytest.mark.anyio

TYPES = ["cases", "experiences", "trajectories"]
CRON = replace(who(), session="s1", kind=SessionKind.CRON)


class Server:
    """A server that gives scripted answers and remembers what it was asked, as (method, path, body)."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self.made: dict[str, Any] = ok({"session_id": "s1"})
        self.policy: Any = {"memory_types": TYPES}
        self.tasks: Any = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1")
        self.asked.append((request.method, path, json.loads(request.content or b"null")))
        answers = {
            ("POST", "/sessions"): self.made,
            ("POST", "/sessions/s1/messages/batch"): ok({"message_count": 2, "pending_tokens": 9}),
            ("GET", "/sessions/s1"): ok({"memory_policy": self.policy}),
            ("POST", "/sessions/s1/commit"): ok({"task_id": "t1", "archive_uri": "viking://x/archive_001"}),
            ("GET", "/tasks"): ok(self.tasks),
            ("GET", "/health"): {"status_code": 200, "json": {"status": "ok", "healthy": True}},
        }
        return httpx.Response(**answers[request.method, path])

    def paths(self) -> list[str]:
        return [f"{method} {path}" for method, path, _ in self.asked]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def make(server: Server, clock: Clock) -> AsyncIterator[Callable[..., OpenVikingBackend]]:
    made: list[OpenVikingBackend] = []

    def build(**options: Any) -> OpenVikingBackend:
        settings = OpenVikingSettings(url="http://ov:1933")
        made.append(OpenVikingBackend(settings, transport=httpx.MockTransport(server), clock=clock, **options))
        return made[-1]

    yield build
    for backend in made:
        await backend.aclose()


@pytest.mark.parametrize("kind", [SessionKind.CRON, SessionKind.SUBAGENT])
async def test_such_a_session_is_made_for_experiences_alone_before_its_first_message(
    make: Callable[..., OpenVikingBackend], server: Server, kind: SessionKind
) -> None:
    backend, asks = make(automation_teaches=True), replace(CRON, kind=kind)
    for _ in range(2):
        await backend.append(asks, TURN, soon())
    assert server.paths() == ["POST /sessions", *["POST /sessions/s1/messages/batch"] * 2]
    assert server.asked[0][2]["memory_policy"]["memory_types"] == TYPES
    receipt = await backend.commit(asks, 0, soon())
    assert receipt.task_id == "t1" and server.paths()[-2:] == ["GET /sessions/s1", "POST /sessions/s1/commit"]


@pytest.mark.parametrize("policy", [None, {"self": {"enabled": True}}, {"memory_types": [*TYPES, "preferences"]}])
async def test_one_that_was_made_without_is_never_committed(
    make: Callable[..., OpenVikingBackend], server: Server, policy: Any
) -> None:
    server.made, server.policy = error(409, "ALREADY_EXISTS"), policy
    backend = make(automation_teaches=True)
    await backend.append(CRON, TURN, soon())
    receipt = await backend.commit(CRON, 0, soon())
    assert (receipt.task_id, receipt.skipped) == (None, NOT_RESTRICTED)
    assert "POST /sessions/s1/commit" not in server.paths()


async def test_nothing_is_sent_to_a_session_that_could_not_be_made_yet(
    make: Callable[..., OpenVikingBackend], server: Server
) -> None:
    server.made = error(503, "UNAVAILABLE")
    backend = make(automation_teaches=True)
    with pytest.raises(BackendError):
        await backend.append(CRON, TURN, soon())
    assert server.paths() == ["POST /sessions"]


async def test_chats_and_a_setting_that_is_off_change_nothing(
    make: Callable[..., OpenVikingBackend], server: Server
) -> None:
    for backend, asks in ((make(), CRON), (make(automation_teaches=True), replace(CRON, kind=SessionKind.CHAT))):
        server.asked.clear()
        await backend.append(asks, TURN, soon())
        await backend.commit(asks, 0, soon())
        assert server.paths() == ["POST /sessions/s1/messages/batch", "POST /sessions/s1/commit"]


def done(**result: Any) -> list[dict[str, Any]]:
    return [{"task_id": "t1", "task_type": "session_commit", "status": "completed", "result": result}]


@pytest.mark.parametrize(
    ("tasks", "told"),
    [
        (done(agent_evolution_enabled=False, agent_memory_skip_reason="agent_evolution_disabled"), OFF),
        (done(agent_evolution_enabled=True, agent_memory_skip_reason=None), ON),
        ([], UNKNOWN),
        (done(), UNKNOWN),
        ("garbage", UNKNOWN),
    ],
)
async def test_health_tells_whether_experiences_are_learnt(
    make: Callable[..., OpenVikingBackend], server: Server, clock: Clock, tasks: Any, told: str
) -> None:
    server.tasks = tasks
    backend = make(experiences=True)
    for _ in range(2):
        health = await backend.health(soon())
        assert health.ok and health.facts["agent_evolution"] == told
    known = tasks != "garbage"
    assert server.paths().count("GET /tasks") == (1 if known else 2), "it is not asked about with each probe"
    server.tasks = done(agent_evolution_enabled=True)
    clock.now += 61
    assert (await backend.health(soon())).facts["agent_evolution"] == ON


async def test_nobody_is_asked_where_experiences_are_not_wanted(
    make: Callable[..., OpenVikingBackend], server: Server
) -> None:
    assert "agent_evolution" not in (await make().health(soon())).facts
    assert server.paths() == ["GET /health"]
