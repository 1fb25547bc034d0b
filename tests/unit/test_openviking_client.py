"""The OpenViking client against a scripted transport: what is sent, and what each kind of failure becomes."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from pytest_httpx import HTTPXMock

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.reasons import Reason
from app.openviking import gateway
from app.openviking.client import OpenVikingBackend
from app.openviking.recovery import retry_session
from app.ports import BackendError, CommitReceipt, CommitState, Target
from app.settings import OpenVikingSettings

pytestmark = [pytest.mark.anyio, pytest.mark.httpx_mock(assert_all_responses_were_requested=False)]

AT = "2026-03-04T05:06:07+00:00"
TURN = [
    CapturedMessage("user", (TextPart("Deploy it\nplease"),), AT, "t_one.0"),
    CapturedMessage(
        "assistant", (ToolPart("c1", "sh", {"cmd": "make"}, "boom", is_error=True),), AT, "t_one.1", "main"
    ),
]
CONTEXT = {"latest_archive_overview": "", "pre_archive_abstracts": [], "messages": [], "stats": {}}
Call = Callable[[OpenVikingBackend, Identity], Awaitable[Any]]


class Clock:
    now = 50.0

    def __call__(self) -> float:
        return self.now


def who(user: str | None = "alice", *, session: str = "s 1/ä", role: PeerRole = PeerRole.ASSISTANT) -> Identity:
    tenant = Tenant("acme", user) if user else Tenant()
    return Identity(tenant, session, None, "main", "bob" if role is PeerRole.PERSON else None, role)


def soon(ms: float = 5_000) -> Deadline:
    return Deadline.after_ms(ms)


def ok(result: Any, status_code: int = 200) -> dict[str, Any]:
    return {"status_code": status_code, "json": {"status": "ok", "result": result}}


def error(status_code: int, code: str = "X", **details: Any) -> dict[str, Any]:
    body = {"status": "error", "error": {"code": code, "message": "no", "details": details}}
    return {"status_code": status_code, "json": body}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def make(clock: Clock) -> AsyncIterator[Callable[..., OpenVikingBackend]]:
    made: list[OpenVikingBackend] = []

    def build(**values: Any) -> OpenVikingBackend:
        options = {name: values.pop(name) for name in ("outgoing_headers", "transport") if name in values}
        settings = OpenVikingSettings(**{"url": "http://ov:1933", "breaker_failures": 2, **values})
        made.append(OpenVikingBackend(settings, clock=clock, **options))
        return made[-1]

    yield build
    for backend in made:
        await backend.aclose()


@pytest.fixture
def backend(make: Callable[..., OpenVikingBackend]) -> OpenVikingBackend:
    return make()


async def failure(awaitable: Awaitable[Any]) -> BackendError:
    with pytest.raises(BackendError) as caught:
        await awaitable
    return caught.value


FIND: Call = lambda b, w: b.find(w, "tea", Target.MEMORIES, 5, soon())  # noqa: E731
APPEND: Call = lambda b, w: b.append(w, TURN, soon())  # noqa: E731
CALLS: dict[str, Call] = {
    "find": FIND,
    "append": APPEND,
    "commit": lambda b, w: b.commit(w, 2, soon()),
    "commit_status": lambda b, w: b.commit_status(w, "task", soon()),
    "past": lambda b, w: b.history(w, 100, soon()),
    "archived_messages": lambda b, w: b.archived_messages(w, "archive_001", soon()),
    "arrived": lambda b, w: b.arrived(w, "t_one", soon()),
    "re_extract": lambda b, w: b.re_extract(w, "archive_001", soon()),
}
WRITES = {"append", "commit"}
EACH_CALL = pytest.mark.parametrize("name", CALLS)


# What is sent


async def test_a_call_carries_the_identity_and_nothing_else(
    make: Callable[..., OpenVikingBackend], httpx_mock: HTTPXMock
) -> None:
    httpx_mock.add_response(**ok({"memories": []}))
    passed_on = {"traceparent": "00-a-b-01", "X-Request-ID": "r1", "Cookie": "no", "tracestate": "bad\nvalue"}
    await FIND(make(api_key="k", account="acme", user="alice", outgoing_headers=lambda: passed_on), who())
    headers = httpx_mock.get_requests()[0].headers
    assert headers["x-api-key"] == "k"
    assert headers["x-openviking-account"] == "acme"
    assert headers["x-openviking-user"] == "alice"
    assert headers["x-openviking-actor-peer"] == headers["x-openviking-agent"] == "main"
    assert (headers["traceparent"], headers["x-request-id"]) == ("00-a-b-01", "r1")
    assert not {"cookie", "tracestate", "authorization"} & set(headers)


async def test_answers_are_asked_for_uncompressed(backend: OpenVikingBackend, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(**ok({"memories": []}))
    await FIND(backend, who())
    (request,) = httpx_mock.get_requests()
    assert request.headers["accept-encoding"] == "identity"
    assert int(request.headers["content-length"]) == len(request.content) > 0


async def test_headers_without_a_value_are_left_out(backend: OpenVikingBackend, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(**ok({"memories": []}))
    await FIND(backend, who(None, role=PeerRole.NONE))
    sent = {name for name in httpx_mock.get_requests()[0].headers if name.startswith("x-")}
    assert sent == {"x-openviking-agent"}


async def test_the_configured_tenant_fills_in(make: Callable[..., OpenVikingBackend], httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(**ok({"memories": []}))
    await FIND(make(account="acme", user="carol"), who(None))
    assert httpx_mock.get_requests()[0].headers["x-openviking-user"] == "carol"


async def test_each_tenant_has_its_own_key(make: Callable[..., OpenVikingBackend], httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(**ok({"memories": []}), is_reusable=True)
    keys = json.dumps({"acme/alice": "alice-key", "acme/bob": "bob-key", "-/-": "nobody-key"})
    only_own, with_common = make(api_keys=keys), make(api_keys=keys, api_key="common")
    for name, expected in [("alice", "alice-key"), ("bob", "bob-key"), (None, "nobody-key")]:
        await FIND(only_own, who(name))
        assert httpx_mock.get_requests()[-1].headers["x-api-key"] == expected
    await FIND(with_common, who("eve"))
    assert httpx_mock.get_requests()[-1].headers["x-api-key"] == "common"
    sent = len(httpx_mock.get_requests())
    refused = await failure(FIND(only_own, who("eve")))
    assert (refused.reason, refused.retryable) == (Reason.OPENVIKING_REJECTED, True)
    assert len(httpx_mock.get_requests()) == sent


async def test_a_value_that_can_not_be_a_header_is_refused_unsent(
    make: Callable[..., OpenVikingBackend], httpx_mock: HTTPXMock
) -> None:
    for key in ("a\r\nX-Evil: 1", "schlüssel"):
        refused = await failure(FIND(make(api_key=key), who()))
        assert refused.reason is Reason.OPENVIKING_REJECTED
        assert key not in refused.detail
        assert not (await make(api_key=key).health(soon())).ok
    assert not httpx_mock.get_requests()


@pytest.mark.parametrize(
    ("target", "role", "places"),
    [
        (Target.MEMORIES, PeerRole.ASSISTANT, ["viking://~/memories", "viking://~/peers/main/memories"]),
        (Target.MEMORIES, PeerRole.PERSON, ["viking://~/memories", "viking://~/peers/bob/memories"]),
        (Target.MEMORIES, PeerRole.NONE, "viking://~/memories"),
        (Target.EXPERIENCES, PeerRole.ASSISTANT, "viking://~/memories/experiences"),
        (Target.RESOURCES, PeerRole.ASSISTANT, ["viking://resources", "viking://~/resources"]),
    ],
)
async def test_a_search_is_one_request(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock, target: Target, role: PeerRole, places: Any
) -> None:
    leaf = {"uri": "viking://x/y.md", "score": 0.5, "level": 2, "abstract": "whole body"}
    httpx_mock.add_response(**ok({"memories": [leaf] * 3, "resources": [leaf] * 3}))
    found = await backend.find(who(role=role), "tea", target, 2, soon())
    assert [hit.text for hit in found] == ["whole body"] * 2
    (request,) = httpx_mock.get_requests()
    assert json.loads(request.content) == {
        "query": "tea",
        "limit": 4 if target is Target.MEMORIES else 2,
        "level": 2,
        "target_uri": places,
    }


async def test_a_batch_is_one_request_to_the_escaped_session(backend: OpenVikingBackend, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(**ok({"message_count": 2, "pending_tokens": 9}))
    answer = await APPEND(backend, who())
    assert (answer.live_messages, answer.pending_tokens) == (2, 9)
    (request,) = httpx_mock.get_requests()
    assert request.url.raw_path == b"/api/v1/sessions/s%201%2F%C3%A4/messages/batch"
    first, second = json.loads(request.content)["messages"]
    assert first == {
        "role": "user",
        "parts": [{"type": "text", "text": "Deploy it\nplease"}],
        "created_at": AT,
        "source_message_ids": ["t_one.0"],
        "turn_id": "t_one",
    }
    assert second["peer_id"] == "main"
    assert second["parts"][0] == {
        "type": "tool",
        "tool_id": "c1",
        "tool_name": "sh",
        "tool_input": {"cmd": "make"},
        "tool_output": "boom",
        "tool_status": "error",
    }


@pytest.mark.parametrize("size", [0, 101])
async def test_a_batch_of_another_size_is_refused_unsent(backend: OpenVikingBackend, size: int) -> None:
    refused = await failure(backend.append(who(), TURN[:1] * size, soon()))
    assert refused.reason is Reason.OPENVIKING_REJECTED


@pytest.mark.parametrize(
    ("new_epoch", "body"),
    [
        (False, {"enable_working_memory": True, "keep_recent_count": 4}),
        (True, {"enable_working_memory": True, "reset_context": True}),
    ],
)
async def test_every_commit_asks_for_working_memory(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock, new_epoch: bool, body: dict[str, Any]
) -> None:
    httpx_mock.add_response(
        **ok({"status": "accepted", "task_id": "T", "archive_uri": "viking://user/a/sessions/s/history/archive_007"})
    )
    receipt = await backend.commit(who(), 4, soon(), new_epoch=new_epoch)
    assert receipt == CommitReceipt("T", "archive_007")
    assert json.loads(httpx_mock.get_requests()[0].content) == body


async def test_nothing_to_commit_is_said(backend: OpenVikingBackend, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(**ok({"status": "skipped", "task_id": None, "reason": "no_messages"}))
    assert await backend.commit(who(), 0, soon()) == CommitReceipt(None, None, "no_messages")


async def test_looking_for_a_turn_asks_for_every_line_of_it(backend: OpenVikingBackend, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(**ok({"matches": [{"content": json.dumps({"source_message_ids": ["t_one.1"]})}]}))
    assert await backend.arrived(who(), "t_one", soon()) == {"t_one.1"}
    body = json.loads(httpx_mock.get_requests()[0].content)
    assert (body["uri"], body["pattern"]) == ("viking://~/sessions/s 1/ä", "t_one")
    assert body["node_limit"] >= 10_000


async def test_what_does_not_exist_is_no_error_where_that_is_an_answer(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock
) -> None:
    httpx_mock.add_response(**error(404, "NOT_FOUND"), is_reusable=True)
    assert await backend.arrived(who(), "t_one", soon()) == frozenset()
    assert (await backend.commit_status(who(), "T", soon())).state is CommitState.LOST


async def test_redirects_are_not_followed(backend: OpenVikingBackend, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(status_code=307, headers={"Location": "http://evil/api"})
    assert (await failure(APPEND(backend, who()))).reason is Reason.OPENVIKING_UNAVAILABLE
    assert len(httpx_mock.get_requests()) == 1


# What failures become


@EACH_CALL
@pytest.mark.parametrize(
    ("response", "reason", "retryable", "uncertain_write"),
    [
        (error(400), Reason.OPENVIKING_REJECTED, False, False),
        (error(401), Reason.OPENVIKING_REJECTED, True, False),
        (error(403), Reason.OPENVIKING_REJECTED, True, False),
        (error(429), Reason.OPENVIKING_UNAVAILABLE, True, False),
        (error(500), Reason.OPENVIKING_UNAVAILABLE, True, True),
        (error(503), Reason.OPENVIKING_UNAVAILABLE, True, True),
        ({"status_code": 502, "text": "<html>"}, Reason.OPENVIKING_UNAVAILABLE, True, True),
        ({"text": "<html>"}, Reason.OPENVIKING_UNAVAILABLE, True, True),
        ({"content": b"\xff\xfe\x00"}, Reason.OPENVIKING_UNAVAILABLE, True, True),
        ({"content": b"[" * 100_000}, Reason.OPENVIKING_UNAVAILABLE, True, True),
        ({"json": [1]}, Reason.OPENVIKING_UNAVAILABLE, True, True),
        (ok(None), Reason.OPENVIKING_UNAVAILABLE, True, True),
        (ok({"memories": {}, "matches": 3, "stats": []}), Reason.OPENVIKING_UNAVAILABLE, True, True),
        (ok({"memories": [{"uri": "viking://x", "score": 10**400}]}), Reason.OPENVIKING_UNAVAILABLE, True, True),
    ],
)
async def test_every_answer_that_is_none(
    backend: OpenVikingBackend,
    httpx_mock: HTTPXMock,
    name: str,
    response: dict[str, Any],
    reason: Reason,
    retryable: bool,
    uncertain_write: bool,
) -> None:
    httpx_mock.add_response(**response)
    raised = await failure(CALLS[name](backend, who()))
    assert (raised.reason, raised.retryable) == (reason, retryable)
    assert raised.uncertain == (uncertain_write and name in WRITES)


@EACH_CALL
@pytest.mark.parametrize(
    ("problem", "reason", "uncertain_write"),
    [
        (httpx.ConnectError("refused"), Reason.OPENVIKING_UNAVAILABLE, False),
        (httpx.ReadError("reset"), Reason.OPENVIKING_UNAVAILABLE, True),
        (httpx.RemoteProtocolError("closed"), Reason.OPENVIKING_UNAVAILABLE, True),
        (httpx.ConnectTimeout("slow"), Reason.DEADLINE_EXCEEDED, False),
        (httpx.PoolTimeout("full"), Reason.DEADLINE_EXCEEDED, False),
        (httpx.WriteTimeout("slow"), Reason.DEADLINE_EXCEEDED, True),
        (httpx.ReadTimeout("slow"), Reason.DEADLINE_EXCEEDED, True),
    ],
)
async def test_every_broken_connection(
    backend: OpenVikingBackend,
    httpx_mock: HTTPXMock,
    name: str,
    problem: Exception,
    reason: Reason,
    uncertain_write: bool,
) -> None:
    httpx_mock.add_exception(problem)
    raised = await failure(CALLS[name](backend, who()))
    assert (raised.reason, raised.retryable) == (reason, True)
    assert raised.uncertain == (uncertain_write and name in WRITES)


@pytest.mark.parametrize(("status", "reason"), [(401, "x"), (429, "x"), (503, "x")])
async def test_trouble_of_the_embedding_model_is_not_the_callers(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock, status: int, reason: str
) -> None:
    httpx_mock.add_response(**error(status, upstream_error_type="ModelError"))
    raised = await failure(FIND(backend, who()))
    assert (raised.reason, raised.retryable) == (Reason.OPENVIKING_UNAVAILABLE, True)


@pytest.mark.parametrize("name", ["past", "commit"])
async def test_an_unknown_session_is_told_apart(backend: OpenVikingBackend, httpx_mock: HTTPXMock, name: str) -> None:
    httpx_mock.add_response(**error(404, "NOT_FOUND", type="session"))
    raised = await failure(CALLS[name](backend, who()))
    assert raised.not_found
    assert raised.reason is Reason.SESSION_NOT_FOUND


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("1e9", 600.0), ("nan", None), ("soon", None), (None, None)],
)
async def test_retry_after(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock, value: str | None, seconds: float | None
) -> None:
    httpx_mock.add_response(**error(429), headers={"Retry-After": value} if value else {})
    assert (await failure(APPEND(backend, who()))).retry_after_s == seconds


async def test_an_endless_answer_is_not_read(
    make: Callable[..., OpenVikingBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "MAX_RESPONSE_BYTES", 1000)

    async def forever() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 100

    endless = httpx.MockTransport(lambda _: httpx.Response(200, content=forever()))
    raised = await failure(FIND(make(transport=endless), who()))
    assert raised.reason is Reason.OPENVIKING_UNAVAILABLE


async def test_nothing_is_sent_when_no_time_is_left(backend: OpenVikingBackend, httpx_mock: HTTPXMock) -> None:
    raised = await failure(backend.append(who(), TURN, Deadline.after_ms(0)))
    assert (raised.reason, raised.uncertain) == (Reason.DEADLINE_EXCEEDED, False)
    assert not httpx_mock.get_requests()


class Hanging(httpx.AsyncBaseTransport):
    """Takes a request and never answers."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError


async def test_the_deadline_ends_a_call_whatever_the_transport_does(make: Callable[..., OpenVikingBackend]) -> None:
    backend = make(transport=Hanging())
    raised = await failure(backend.append(who(), TURN, soon(20)))
    assert (raised.reason, raised.retryable, raised.uncertain) == (Reason.DEADLINE_EXCEEDED, True, True)


# The breaker around the calls


async def test_a_dead_server_is_left_alone_until_a_probe_succeeds(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock, clock: Clock
) -> None:
    for _ in range(2):
        httpx_mock.add_exception(httpx.ConnectError("refused"))
        assert (await failure(FIND(backend, who()))).outcome == "unreachable"
    assert backend.gauges() == {"breakers_open": 1.0}
    refused = await failure(FIND(backend, who()))
    assert (refused.reason, refused.retryable, refused.uncertain) == (Reason.OPENVIKING_UNAVAILABLE, True, False)
    assert (refused.outcome, refused.retry_after_s) == ("breaker_open", pytest.approx(5.0))
    assert len(httpx_mock.get_requests()) == 2
    assert backend.breaker_states() == {("acme/alice", "search"): "open"}
    clock.now += 5
    httpx_mock.add_response(**ok({"memories": []}))
    await FIND(backend, who())
    assert backend.breaker_states() == {}
    assert backend.gauges() == {"breakers_open": 0.0}


async def test_searches_and_sessions_and_tenants_fail_apart(backend: OpenVikingBackend, httpx_mock: HTTPXMock) -> None:
    for _ in range(2):
        httpx_mock.add_response(**error(503, upstream_error_type="down"))
        await failure(FIND(backend, who()))
    httpx_mock.add_response(**ok({"message_count": 1, "pending_tokens": 1}))
    await APPEND(backend, who())
    httpx_mock.add_response(**ok({"memories": []}))
    await FIND(backend, who("bob"))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429])
async def test_answers_with_a_4xx_do_not_open_it(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock, status: int
) -> None:
    httpx_mock.add_response(**error(status), is_reusable=True)
    for _ in range(5):
        await failure(APPEND(backend, who()))
    assert backend.breaker_states() == {}


async def test_hurried_callers_do_not_open_it_and_patient_ones_do(
    make: Callable[..., OpenVikingBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = make(transport=Hanging())
    for _ in range(3):
        await failure(backend.find(who(), "tea", Target.MEMORIES, 5, soon(5)))
    assert backend.breaker_states() == {}
    monkeypatch.setattr(gateway, "PATIENCE_S", 0.004)
    for _ in range(2):
        await failure(backend.find(who(), "tea", Target.MEMORIES, 5, soon(10)))
    assert backend.breaker_states() == {("acme/alice", "search"): "open"}


async def test_short_deadlines_open_it_in_the_end(
    make: Callable[..., OpenVikingBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "PATIENCE_S", 0.02)
    backend = make(transport=Hanging())
    asked = 0
    while backend.breaker_states() != {("acme/alice", "search"): "open"}:
        await failure(backend.find(who(), "tea", Target.MEMORIES, 5, soon(5)))
        asked += 1
        assert asked < 100
    assert asked >= 8


class Back(httpx.AsyncBaseTransport):
    """A server that refuses until it is told to be back; then it answers each request when ``go`` is set."""

    def __init__(self) -> None:
        self.away = True
        self.go = asyncio.Event()
        self.asked: asyncio.Queue[str] = asyncio.Queue()
        self.requests = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        if self.away:
            raise httpx.ConnectError("refused")
        self.asked.put_nowait(request.url.path)
        await self.go.wait()
        return httpx.Response(**ok({"memories": []}))


@pytest.fixture
async def back(make: Callable[..., OpenVikingBackend], clock: Clock) -> tuple[OpenVikingBackend, Back]:
    """A client whose breaker is about to let its probe through."""
    server = Back()
    backend = make(transport=server)
    for _ in range(2):
        await failure(FIND(backend, who()))
    clock.now += 5
    server.away = False
    server.requests = 0
    return backend, server


async def test_the_first_two_searches_after_an_outage_both_work(back: tuple[OpenVikingBackend, Back]) -> None:
    backend, server = back
    together = asyncio.gather(
        *(backend.find(who(), "tea", target, 5, soon()) for target in (Target.EXPERIENCES, Target.MEMORIES))
    )
    await server.asked.get()
    assert server.requests == 1
    server.go.set()
    assert await together == [[], []]
    assert server.requests == 2
    assert backend.breaker_states() == {}


async def test_those_who_wait_for_a_probe_share_its_failure_and_are_not_sent(
    back: tuple[OpenVikingBackend, Back],
) -> None:
    backend, server = back
    server.away = True
    together = await asyncio.gather(*(failure(FIND(backend, who())) for _ in range(5)))
    assert {error.reason for error in together} == {Reason.OPENVIKING_UNAVAILABLE}
    assert server.requests == 1


async def test_a_hurried_probe_is_one_probe(back: tuple[OpenVikingBackend, Back]) -> None:
    backend, server = back
    for _ in range(5):
        await failure(backend.find(who(), "tea", Target.MEMORIES, 5, soon(5)))
    assert server.requests == 1
    assert backend.breaker_states() == {("acme/alice", "search"): "open"}


async def test_a_cancelled_probe_is_taken_over_by_one_of_those_who_wait(back: tuple[OpenVikingBackend, Back]) -> None:
    backend, server = back
    probe = asyncio.create_task(FIND(backend, who()))
    await server.asked.get()
    waiting = [asyncio.create_task(FIND(backend, who())) for _ in range(3)]
    await asyncio.sleep(0)
    probe.cancel()
    await server.asked.get()
    assert server.requests == 2
    server.go.set()
    assert await asyncio.gather(*waiting) == [[], [], []]


async def test_nobody_waits_for_a_probe_beyond_the_deadline_or_for_long(
    back: tuple[OpenVikingBackend, Back], clock: Clock
) -> None:
    backend, server = back
    probe = asyncio.create_task(FIND(backend, who()))
    await server.asked.get()
    refused = await failure(backend.find(who(), "tea", Target.MEMORIES, 5, soon(5)))
    assert refused.reason is Reason.OPENVIKING_UNAVAILABLE
    clock.now += gateway.PROBE_S
    assert (await failure(FIND(backend, who()))).reason is Reason.OPENVIKING_UNAVAILABLE
    server.go.set()
    assert await probe == []
    assert server.requests == 1


async def test_a_caller_that_gives_up_at_the_deadline_does_not_hide_the_timeout(
    make: Callable[..., OpenVikingBackend], clock: Clock
) -> None:
    backend = make(transport=Hanging())
    for _ in range(2):
        call = asyncio.create_task(backend.history(who(), 10, Deadline(clock.now + 1, clock)))
        await asyncio.sleep(0)
        clock.now += 1
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert backend.breaker_states() == {("acme/alice", "sessions"): "open"}


async def test_a_cancelled_call_says_nothing_about_the_server(make: Callable[..., OpenVikingBackend]) -> None:
    backend = make(transport=Hanging())
    task = asyncio.ensure_future(FIND(backend, who()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert backend.breaker_states() == {}


# The past and failed archives


async def test_a_session_without_archives_is_one_request(backend: OpenVikingBackend, httpx_mock: HTTPXMock) -> None:
    stats = {"totalArchives": 0, "failedArchives": 0}
    stored = {
        "role": "user",
        "parts": [{"type": "text", "text": "hi"}],
        "created_at": AT,
        "source_message_ids": ["t.0"],
    }
    httpx_mock.add_response(**ok({**CONTEXT, "messages": [stored, {"role": "robot"}], "stats": stats}))
    history = await backend.history(who(), 900, soon())
    assert history.messages == (CapturedMessage("user", (TextPart("hi"),), AT, "t.0"),)
    (request,) = httpx_mock.get_requests()
    assert request.url.params["token_budget"] == "900"


async def test_the_history_shows_what_is_left_of_a_failed_archive(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock
) -> None:
    session = who(session="s1")
    paths = [
        f"archive_00{n}/{file}" for n, end in ((1, ".done"), (2, ".failed.json")) for file in ("messages.jsonl", end)
    ]
    stats = {"totalArchives": 2, "failedArchives": 1}
    httpx_mock.add_response(
        url="http://ov:1933/api/v1/sessions/s1/context?token_budget=900",
        **ok({**CONTEXT, "stats": stats}),
        is_reusable=True,
    )
    httpx_mock.add_response(
        method="GET",
        **ok([{"rel_path": path} for path in paths]),
        is_reusable=True,
        url=httpx.URL(
            "http://ov:1933/api/v1/fs/tree",
            params={
                "uri": "viking://~/sessions/s1/history",
                "show_all_hidden": "true",
                "output": "original",
                "node_limit": "20000",
            },
        ),
    )
    httpx_mock.add_response(
        url="http://ov:1933/api/v1/sessions/s1/archives/archive_001", **ok({"overview": "older"}), is_reusable=True
    )
    side = f"http://ov:1933/api/v1/sessions/{retry_session('s1', 'archive_002')}/context?token_budget=1000000"
    httpx_mock.add_response(url=side, **error(404, "NOT_FOUND"))
    before = await backend.history(session, 900, soon())
    assert (before.overview, before.archives, before.failed_ids) == ("older", 2, ("archive_002",))
    recovered = {**CONTEXT, "latest_archive_overview": "newer", "stats": {"totalArchives": 1, "failedArchives": 0}}
    httpx_mock.add_response(url=side, **ok(recovered))
    after = await backend.history(session, 900, soon())
    assert after.overview == "older\n\n[Recovered from archive_002]\nnewer"
    assert (after.failed_archives, after.failed_ids) == (0, ())


async def test_a_long_live_tail_does_not_crowd_out_the_summary(
    make: Callable[..., OpenVikingBackend],
) -> None:
    def server(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/context"):
            return httpx.Response(**ok({**CONTEXT, "stats": {"totalArchives": 1, "failedArchives": 0}}))
        if request.url.path.endswith("/fs/tree"):
            return httpx.Response(**ok([{"rel_path": f"archive_001/{n}"} for n in (".done", "messages.jsonl")]))
        return httpx.Response(**ok({"overview": "summary"}))

    history = await make(transport=httpx.MockTransport(server)).history(who(), 10, soon())
    assert (history.overview, history.archives) == ("summary", 1)


class Server:
    """The part of OpenViking that a retry needs: an archive of four messages, and side sessions."""

    def __init__(self) -> None:
        line = {"role": "user", "parts": [{"type": "text", "text": "x"}], "created_at": "yesterday"}
        self.archive = "\n".join(json.dumps(line) for _ in range(4))
        self.sessions: dict[str, list[Any]] = {}
        self.committed: set[str] = set()
        self.failed: set[str] = set()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1/")
        if path == "content/read":
            return httpx.Response(**ok(self.archive))
        if path == "tasks":
            return httpx.Response(**ok([{"task_id": f"T-{request.url.params['resource_id']}"}]))
        _, session, *rest = path.split("/", 2)
        if rest == ["messages/batch"]:
            stored = self.sessions.setdefault(session, [])
            stored += json.loads(request.content)["messages"]
            return httpx.Response(**ok({"message_count": len(stored), "pending_tokens": 0}))
        if session not in self.sessions:
            return httpx.Response(**error(404, "NOT_FOUND"))
        if request.method == "DELETE":
            del self.sessions[session]
            self.committed.discard(session)
            self.failed.discard(session)
            return httpx.Response(**ok({}))
        if rest == ["context"]:
            stats = {"totalArchives": 1, "failedArchives": int(session in self.failed)}
            return httpx.Response(**ok({**CONTEXT, "stats": stats}))
        if rest == ["commit"]:
            if session in self.committed:
                return httpx.Response(**ok({"status": "skipped", "reason": "no_messages"}))
            self.committed.add(session)
            return httpx.Response(
                **ok({"status": "accepted", "task_id": f"T-{session}", "archive_uri": "x/archive_001"})
            )
        return httpx.Response(**ok({"total_message_count": len(self.sessions[session])}))


async def test_a_retry_goes_to_a_side_session_and_may_be_repeated(make: Callable[..., OpenVikingBackend]) -> None:
    server = Server()
    backend = make(transport=httpx.MockTransport(server))
    side = retry_session("s1", "archive_003")
    for _ in range(3):
        receipt = await backend.re_extract(who(session="s1"), "archive_003", soon())
        assert receipt == CommitReceipt(f"T-{side}", "archive_001")
    assert {name: len(stored) for name, stored in server.sessions.items()} == {side: 4}
    assert all(message["created_at"].startswith("1970") for message in server.sessions[side])


async def test_a_retry_that_broke_off_sends_only_the_rest(make: Callable[..., OpenVikingBackend]) -> None:
    server = Server()
    side = retry_session("s1", "archive_003")
    server.sessions[side] = [{}] * 3
    await make(transport=httpx.MockTransport(server)).re_extract(who(session="s1"), "archive_003", soon())
    assert len(server.sessions[side]) == 4


async def test_a_retry_that_failed_begins_anew(make: Callable[..., OpenVikingBackend]) -> None:
    server = Server()
    backend = make(transport=httpx.MockTransport(server))
    side = retry_session("s1", "archive_003")
    await backend.re_extract(who(session="s1"), "archive_003", soon())
    server.failed.add(side)
    assert (await backend.re_extract(who(session="s1"), "archive_003", soon())).task_id == f"T-{side}"
    assert len(server.sessions[side]) == 4


def test_side_sessions_are_short_and_never_shared() -> None:
    names = {
        retry_session(s, a) for s in ("x" * 60 + "1", "x" * 60 + "2", "字" * 200) for a in ("archive_1", "archive_11")
    }
    assert len(names) == 6
    assert max(len(name) for name in names) <= 80


@pytest.mark.parametrize("archive_id", ["", "../secret", "archive_", "archive_1/../..", "archive_001\n"])
async def test_only_archives_are_read(backend: OpenVikingBackend, httpx_mock: HTTPXMock, archive_id: str) -> None:
    refused = await failure(backend.archived_messages(who(), archive_id, soon()))
    assert refused.reason is Reason.OPENVIKING_REJECTED
    assert not httpx_mock.get_requests()


# Health, and whose key it is


def healthy(**facts: str) -> dict[str, Any]:
    return {"json": {"status": "ok", "healthy": True, "version": "0.5.2", **facts}}


async def test_health_tells_what_the_server_says(make: Callable[..., OpenVikingBackend], httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(**healthy(auth_mode="api_key", account_id="acme", user_id="alice", role="user"))
    health = await make(api_key="k").health(soon())
    assert health.ok
    assert health.facts == {
        "url": "http://ov:1933",
        "version": "0.5.2",
        "auth_mode": "api_key",
        "account": "acme",
        "user": "alice",
        "role": "user",
    }


async def test_another_tenant_than_the_keys_owner_is_refused_unsent(
    make: Callable[..., OpenVikingBackend], httpx_mock: HTTPXMock
) -> None:
    backend = make(api_key="k")
    httpx_mock.add_response(**healthy(auth_mode="api_key", account_id="acme", user_id="alice", role="user"))
    await backend.health(soon())
    httpx_mock.add_response(**ok({"memories": []}), is_reusable=True)
    await FIND(backend, who("alice"))
    await FIND(backend, who(None))
    sent = len(httpx_mock.get_requests())
    for call in CALLS.values():
        refused = await failure(call(backend, who("bob")))
        assert (refused.reason, refused.retryable) == (Reason.OPENVIKING_REJECTED, True)
    assert len(httpx_mock.get_requests()) == sent


async def test_in_trusted_mode_nobody_is_refused_unsent(
    make: Callable[..., OpenVikingBackend], httpx_mock: HTTPXMock
) -> None:
    backend = make(api_key="k")
    httpx_mock.add_response(**healthy(auth_mode="trusted"))
    await backend.health(soon())
    sent = len(httpx_mock.get_requests())
    refused = await failure(APPEND(backend, who(None)))
    assert (refused.reason, refused.retryable) == (Reason.OPENVIKING_REJECTED, True)
    assert len(httpx_mock.get_requests()) == sent


@pytest.mark.parametrize("mode", ["dev", "trusted"])
async def test_elsewhere_the_headers_are_the_tenant(
    make: Callable[..., OpenVikingBackend], httpx_mock: HTTPXMock, mode: str
) -> None:
    backend = make(api_key="k")
    httpx_mock.add_response(**healthy(auth_mode=mode, account_id="acme", user_id="alice"))
    await backend.health(soon())
    httpx_mock.add_response(**ok({"memories": []}))
    await FIND(backend, who("bob"))


@pytest.mark.parametrize(
    ("settings", "facts", "says"),
    [
        ({}, {"auth_mode": "api_key"}, "none is configured"),
        ({"api_key": "root"}, {"auth_mode": "api_key", "role": "root"}, "root key"),
        (
            {"api_keys": '{"acme/alice": "k"}'},
            {"auth_mode": "api_key", "account_id": "acme", "user_id": "bob"},
            "belongs to acme/bob",
        ),
    ],
)
async def test_keys_that_can_not_work_are_said(
    make: Callable[..., OpenVikingBackend],
    httpx_mock: HTTPXMock,
    settings: dict[str, str],
    facts: dict[str, str],
    says: str,
) -> None:
    httpx_mock.add_response(**healthy(**facts), is_reusable=True)
    health = await make(**settings).health(soon())
    assert not health.ok
    assert says in health.detail


@pytest.mark.parametrize("response", [{"json": [1]}, {"text": "hello"}, error(401), {"status_code": 500}])
async def test_health_never_raises(backend: OpenVikingBackend, httpx_mock: HTTPXMock, response: dict[str, Any]) -> None:
    httpx_mock.add_response(**response)
    assert not (await backend.health(soon())).ok


async def test_health_of_a_dead_server_does_not_touch_the_breaker(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock
) -> None:
    httpx_mock.add_exception(httpx.ConnectError("refused"), is_reusable=True)
    for _ in range(5):
        assert not (await backend.health(soon())).ok
    assert backend.breaker_states() == {}


async def test_second_copies_are_told_from_parts_of_a_message_and_from_one_on_its_way(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock
) -> None:
    def line(id_: str, text: str, source: str = "t_one.0") -> dict[str, str]:
        parts = [{"type": "text", "text": text}]
        return {"content": json.dumps({"id": id_, "parts": parts, "source_message_ids": [source]})}

    lines = [line("1", "a"), line("2", "b"), line("1", "a"), line("3", "c", "t_one.1"), line("9", "a", "t_two.0")]
    httpx_mock.add_response(**ok({"matches": lines}))
    assert await backend.copies(who(), "t_one", soon()) == 0
    httpx_mock.add_response(**ok({"matches": [*lines, line("4", "a"), line("5", "c", "t_one.1")]}))
    assert await backend.copies(who(), "t_one", soon()) == 2
    httpx_mock.add_response(**error(404, "NOT_FOUND"))
    assert await backend.copies(who(), "t_one", soon()) == 0


async def test_what_a_session_holds_twice_is_read_once(backend: OpenVikingBackend, httpx_mock: HTTPXMock) -> None:
    def message(text: str, source: str | None) -> dict[str, Any]:
        parts = [{"type": "text", "text": text}]
        return {"role": "user", "parts": parts, "created_at": AT, "source_message_ids": [source] if source else None}

    messages = [message("q", "t.0"), message("yes", None), message("yes", None), message("q", "t.0")]
    stats = {"totalArchives": 0, "failedArchives": 0}
    httpx_mock.add_response(**ok(CONTEXT | {"messages": messages, "stats": stats}))
    history = await backend.history(who(), 100, soon())
    assert [part.text for one in history.messages for part in one.parts] == ["q", "yes", "yes"]  # type: ignore[union-attr]
    httpx_mock.add_response(**ok("\n".join(map(json.dumps, messages))))
    archived = await backend.archived_messages(who(), "archive_001", soon())
    assert [part.text for one in archived for part in one.parts] == ["q", "yes", "yes"]  # type: ignore[union-attr]


# A session whose file is torn


@pytest.mark.parametrize("name", sorted(WRITES))
async def test_a_torn_session_is_mended_with_what_can_be_read(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock, name: str
) -> None:
    """A line a message, as observed; the last one was cut when the server was killed."""
    torn = {"code": "INVALID_ARGUMENT", "message": "Invalid live message JSONL at line 2: Unterminated string"}
    httpx_mock.add_response(status_code=400, json={"status": "error", "error": torn})
    line = {"role": "user", "parts": [{"type": "text", "text": "tea\u2028ok"}], "source_message_ids": ["t_zero.0"]}
    httpx_mock.add_response(**ok(json.dumps(line, ensure_ascii=False) + '\n{"role": "user", "pa'), method="GET")
    httpx_mock.add_response(**ok({}), method="DELETE")
    httpx_mock.add_response(**ok({"message_count": 1, "pending_tokens": 1}))
    caught = await failure(CALLS[name](backend, who()))
    assert (caught.retryable, caught.uncertain, caught.answered) == (True, True, True)
    _, _, deleted, written = httpx_mock.get_requests()
    assert deleted.url.params["uri"] == "viking://~/sessions/s 1/ä/messages.jsonl"
    [message] = json.loads(written.content)["messages"]
    assert (message["parts"][0]["text"], message["source_message_ids"]) == ("tea\u2028ok", ["t_zero.0"])


@pytest.mark.parametrize(
    ("said", "taken_for"), [("我住在成都。", "latin-1"), ("我住成都", "gbk"), ("café, já", "latin-1")]
)
async def test_what_was_cut_within_a_character_is_read_as_it_was_written(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock, said: str, taken_for: str
) -> None:
    """OpenViking takes a file that is no UTF-8 for GBK, and then for Latin-1 (observed)."""
    torn = {"code": "INVALID_ARGUMENT", "message": "Invalid live message JSONL at line 2: Unterminated string"}
    httpx_mock.add_response(status_code=400, json={"status": "error", "error": torn})
    line = {"role": "user", "parts": [{"type": "text", "text": said}], "source_message_ids": ["t_zero.0"]}
    half = (json.dumps(line, ensure_ascii=False) + '\n{"role": "user", "parts": [{"text": "火').encode()[:-1]
    httpx_mock.add_response(**ok(half.decode(taken_for)), method="GET")
    httpx_mock.add_response(**ok({}), method="DELETE")
    httpx_mock.add_response(**ok({"message_count": 1, "pending_tokens": 1}))
    await failure(APPEND(backend, who()))
    [message] = json.loads(httpx_mock.get_requests()[-1].content)["messages"]
    assert message["parts"][0]["text"] == said


async def test_a_torn_session_that_can_not_be_read_is_left_as_it_is(
    backend: OpenVikingBackend, httpx_mock: HTTPXMock
) -> None:
    torn = {"code": "INVALID_ARGUMENT", "message": "Invalid live message JSONL at line 2: Unterminated string"}
    httpx_mock.add_response(status_code=400, json={"status": "error", "error": torn})
    httpx_mock.add_response(**error(503))
    assert (await failure(APPEND(backend, who()))).retryable
    assert [request.method for request in httpx_mock.get_requests()] == ["POST", "GET"]
