"""The whole sidecar on an OpenViking that is a fake transport: what is sent, and what every failure becomes."""

import json
import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pytest_httpx import HTTPXMock
from starlette.testclient import TestClient

from tests.http.conftest import Start

pytestmark = pytest.mark.httpx_mock(
    assert_all_requests_were_expected=False,
    assert_all_responses_were_requested=False,
    can_send_already_matched_responses=True,
)

URL = "http://openviking.test"
QUESTION = {"role": "user", "content": "Which tea do I prefer in the morning?"}
SCOPE = {"sessionId": "s1", "sessionKey": "agent:ops:chat", "senderId": "mia"}


@pytest.fixture
def client(start: Start) -> TestClient:
    return start(
        backend="openviking",
        openviking={"url": URL, "api_key": "root", "account": "acme", "user": "mia", "timeout_ms": 2000},
        recall={"resources": True},
        experience={"enabled": True},
    )


def ok(result: Any) -> dict[str, Any]:
    return {"status": "ok", "result": result}


def memory(uri: str, text: str, score: float = 0.9) -> dict[str, Any]:
    return {"context_type": "memory", "uri": uri, "level": 2, "score": score, "abstract": text}


def requests_to(mock: HTTPXMock, path: str) -> list[httpx.Request]:
    return [request for request in mock.get_requests() if request.url.path == path]


def test_one_search_a_target_and_no_read(client: TestClient, httpx_mock: HTTPXMock) -> None:
    found = {"memories": [memory("viking://user/mia/memories/preferences/tea.md", "Likes green tea.")], "total": 1}
    httpx_mock.add_response(url=f"{URL}/api/v1/search/find", json=ok(found))
    task = {"role": "user", "content": "Please fix the failing login test in tests/test_login.py and run it."}
    answer = client.post("/assemble", json={**SCOPE, "messages": [task]}).json()
    assert answer["recall"]["gate"]["recall"] is True
    searches = requests_to(httpx_mock, "/api/v1/search/find")
    assert len(searches) == 3
    targets = [json.dumps(json.loads(request.content)["target_uri"]) for request in searches]
    assert sum("memories/experiences" in target for target in targets) == 1
    assert sum("viking://resources" in target for target in targets) == 1
    assert all(json.loads(request.content)["level"] == 2 for request in searches)
    read = [request for request in httpx_mock.get_requests() if "/content/" in request.url.path]
    assert read == []


def test_a_nine_message_turn_is_one_batch(client: TestClient, httpx_mock: HTTPXMock) -> None:
    appended = {"session_id": "x", "message_count": 5, "added": 5, "pending_tokens": 40}
    httpx_mock.add_response(method="POST", json=ok(appended))
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go", "timestamp": 1_795_298_000_000}]
    for number in range(4):
        call = {"type": "toolCall", "id": f"c{number}", "name": "ls", "arguments": {}}
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "toolResult", "toolCallId": f"c{number}", "toolName": "ls", "content": "a\nb"})
    answer = client.post("/after-turn", json={**SCOPE, "messages": messages, "prePromptMessageCount": 0, "wait": True})
    assert answer.json()["delivery"] == "delivered"
    sent = [request for request in httpx_mock.get_requests() if "/sessions/" in request.url.path]
    assert len(sent) <= 2
    batch = json.loads(sent[-1].content)["messages"]
    assert len({message["source_message_ids"][0] for message in batch}) == len(batch)
    assert all(answer.json()["turnId"] in message["source_message_ids"][0] for message in batch)


def test_each_request_carries_the_identity(client: TestClient, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(url=f"{URL}/api/v1/search/find", json=ok({"memories": [], "total": 0}))
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    headers = {"X-OpenViking-User": "kim", "X-Request-ID": "req-7", "traceparent": trace}
    client.post("/assemble", json={**SCOPE, "messages": [QUESTION]}, headers=headers)
    [request] = [r for r in requests_to(httpx_mock, "/api/v1/search/find") if "resources" not in r.content.decode()]
    sent = request.headers
    assert (sent["x-api-key"], sent["x-openviking-account"], sent["x-openviking-user"]) == ("root", "acme", "kim")
    assert (sent["x-openviking-actor-peer"], sent["x-openviking-agent"]) == ("ops", "ops")
    assert (sent["x-request-id"], sent["traceparent"]) == ("req-7", trace)


def refused(_: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("connection refused")


def reset(_: httpx.Request) -> httpx.Response:
    raise httpx.ReadError("connection reset")


def hanging(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("no answer", request=request)


def answering(status: int, body: bytes = b'{"status":"error","error":{"code":"X","message":"y"}}') -> Any:
    return lambda _: httpx.Response(status, content=body)


FAILURES: dict[str, tuple[Callable[[httpx.Request], httpx.Response], str]] = {
    "refused": (refused, "openviking_unavailable"),
    "reset": (reset, "openviking_unavailable"),
    "hanging": (hanging, "deadline_exceeded"),
    "500": (answering(500), "openviking_unavailable"),
    "503": (answering(503), "openviking_unavailable"),
    "401": (answering(401), "openviking_rejected"),
    "403": (answering(403), "openviking_rejected"),
    "429": (answering(429), "openviking_unavailable"),
    "not json": (answering(200, b"<html>"), "openviking_unavailable"),
    "wrong json": (answering(200, b'{"status":"ok","result":{"memories":7}}'), "openviking_unavailable"),
    "empty": (answering(200, b""), "openviking_unavailable"),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("phase", ["transform", "preflight", "full"])
def test_whatever_openviking_does_the_host_gets_its_messages(
    client: TestClient, httpx_mock: HTTPXMock, failure: str, phase: str
) -> None:
    behaviour, reason = FAILURES[failure]
    httpx_mock.add_callback(behaviour)
    body = {**SCOPE, "phase": phase, "messages": [QUESTION], "deadlineMs": 3000}
    answer = client.post("/assemble", json=body)
    assert answer.status_code == 200
    assert answer.json()["messages"] == [QUESTION]
    assert (answer.json()["status"], answer.json()["reason"]) == ("passthrough", reason)


@pytest.mark.httpx_mock(should_mock=lambda request: False)
@pytest.mark.parametrize("phase", ["transform", "preflight", "full"])
def test_a_backend_that_never_answers_costs_no_more_than_the_deadline(start: Start, phase: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        client = start(backend="openviking", openviking={"url": url, "timeout_ms": 600_000})
        body = {**SCOPE, "phase": phase, "messages": [QUESTION], "deadlineMs": 300}
        answer = client.post("/assemble", json=body).json()
    assert answer["messages"] == [QUESTION]
    assert answer["reason"] == "deadline_exceeded"


def test_after_turn_does_not_need_openviking(client: TestClient, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_callback(refused)
    answer = client.post("/after-turn", json={**SCOPE, "messages": [QUESTION]})
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["delivery"]) == ("committed", "queued")
    listed = client.get("/deliveries", params={"state": ["pending", "sending"]}).json()["deliveries"]
    assert [one["turnId"] for one in listed] == [answer.json()["turnId"]]


def test_readiness_says_plainly_that_nothing_answers(client: TestClient, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_callback(refused)
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["backend"]["ok"] is False
    assert ready.json()["backend"]["url"] == URL
    assert "can not be reached" in ready.json()["backend"]["detail"]


def test_a_period_begins_at_the_server_and_ends_here_as_categories_do(
    client: TestClient, httpx_mock: HTTPXMock
) -> None:
    home = "viking://user/mia/memories"
    hits = [
        memory(f"{home}/preferences/tea.md", "Mia likes green tea."),
        memory(f"{home}/notes/n.md", "Green tea is out."),
    ]
    httpx_mock.add_response(url=f"{URL}/api/v1/search/find", json=ok({"memories": hits, "total": 2}), is_reusable=True)
    narrowed = {"excludedCategories": ["Notes"], "since": "2026-03-01", "until": "2026-04-01T00:00:00+02:00"}
    question = {"role": "user", "content": "Which green tea does Mia like?"}
    answer = client.post("/assemble", json={**SCOPE, "messages": [question], "recallFilter": narrowed}).json()
    assert {item["category"] for item in answer["recall"]["items"]} <= {"preferences"}
    asked = [json.loads(request.content) for request in requests_to(httpx_mock, "/api/v1/search/find")]
    [one] = [body for body in asked if "~/memories" in str(body["target_uri"]) and "experiences" not in str(body)]
    assert one["since"] == "2026-03-01T00:00:00+00:00"
    assert "until" not in one, "an import is new to the server: the ledger knows when it was said"
    assert one["time_field"] == "created_at" and one["limit"] >= 200
    assert all("since" not in body for body in asked if body is not one)


@pytest.mark.parametrize("narrowed", [{"since": "2026-03-02", "until": "2026-03-01"}, {"categories": []}])
def test_a_filter_that_admits_nothing_finds_nothing(
    client: TestClient, httpx_mock: HTTPXMock, narrowed: dict[str, Any]
) -> None:
    """OpenViking answers 400 to a period that ends before it begins."""
    nothing = ok({"memories": [], "resources": [], "total": 0})
    httpx_mock.add_response(url=f"{URL}/api/v1/search/find", json=nothing, is_reusable=True)
    question = {"role": "user", "content": "Which green tea does Mia like?"}
    answer = client.post("/assemble", json={**SCOPE, "messages": [question], "recallFilter": narrowed}).json()
    assert answer["reason"] == "no_recall_hits" and answer["recall"]["degraded"] == []
    asked = [json.loads(request.content)["target_uri"] for request in requests_to(httpx_mock, "/api/v1/search/find")]
    assert all("resources" in str(target) for target in asked)


def test_wanted_categories_are_searched_in_their_own_places(client: TestClient, httpx_mock: HTTPXMock) -> None:
    httpx_mock.add_response(url=f"{URL}/api/v1/search/find", json=ok({"memories": [], "total": 0}), is_reusable=True)
    question = {"role": "user", "content": "Which green tea does Mia like?"}
    for wanted in (["profile", "Preferences"], ["../resources"]):
        client.post("/assemble", json={**SCOPE, "messages": [question], "recallFilter": {"categories": wanted}})
    asked = [json.loads(request.content)["target_uri"] for request in requests_to(httpx_mock, "/api/v1/search/find")]
    plain, unsafe = [targets for targets in asked if "resources" not in str(targets)]
    home = "viking://~/memories"
    names = ("preferences", "preferences.md", "profile", "profile.md")
    assert [target for target in plain if target.startswith(home)] == [f"{home}/{name}" for name in names]
    assert not any(".." in target for target in unsafe) and home in unsafe
