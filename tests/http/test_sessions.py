"""The end, the reset and the compaction of a session that this sidecar never heard of, or that has nothing left."""

import json
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from app.openviking.client import OpenVikingBackend
from app.settings import OpenVikingSettings
from tests.http.conftest import Start
from tests.http.test_lifecycle import FACT, post, turn

REQUESTS = ["/sessions/end", "/sessions/reset", "/compact"]


@pytest.mark.parametrize("path", REQUESTS)
def test_a_session_that_nobody_knows_is_not_found_and_stays_so(client: TestClient, path: str) -> None:
    for again in (path, path, *REQUESTS):
        answer = post(client, again, {"sessionId": "never-seen"})
        assert (answer["ok"], answer["reason"], answer["taskId"]) == (True, "session_not_found", None), again


def test_what_has_nothing_live_left_has_no_archive(client: TestClient) -> None:
    turn(client, FACT)
    first = post(client, "/sessions/end", {"sessionId": "s1"})
    assert (first["ok"], first["reason"]) == (True, "ok")
    assert first["taskId"]
    assert post(client, "/compact", {"sessionId": "s1"})["taskId"] == first["taskId"]
    for path in ("/sessions/end", "/compact", "/sessions/reset", "/sessions/reset"):
        again = post(client, path, {"sessionId": "s1"})
        assert (again["ok"], again["reason"], again["taskId"]) == (True, "commit_no_archive", None), path


@pytest.mark.parametrize("path", ["/sessions/end", "/sessions/reset"])
def test_a_session_that_only_the_backend_knows_is_committed(start: Start, path: str) -> None:
    """Another sidecar may have served it, or the store was lost."""
    asked: list[dict[str, Any]] = []

    def server(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/v1/sessions/s1/commit":
            asked.append(json.loads(request.content))
            result = {
                "status": "accepted",
                "task_id": "t-1",
                "archive_uri": "viking://~/sessions/s1/history/archive_001",
            }
            return httpx.Response(200, json={"status": "ok", "result": result})
        return httpx.Response(404, json={"status": "error", "error": {"code": "NOT_FOUND", "message": "no"}})

    settings = OpenVikingSettings(url="http://openviking.test")
    backend = OpenVikingBackend(settings, transport=httpx.MockTransport(server))
    client = start(backend, backend="openviking", openviking=settings)
    answer = post(client, path, {"sessionId": "s1"})
    assert (answer["ok"], answer["reason"], answer["taskId"]) == (True, "ok", "t-1")
    assert [body.get("reset_context", False) for body in asked] == [path == "/sessions/reset"]


def test_a_commit_that_is_refused_for_good_is_not_ok(start: Start) -> None:
    def server(request: httpx.Request) -> httpx.Response:
        return httpx.Response(400, json={"status": "error", "error": {"code": "INVALID_ARGUMENT", "message": "no"}})

    settings = OpenVikingSettings(url="http://openviking.test")
    backend = OpenVikingBackend(settings, transport=httpx.MockTransport(server))
    client = start(backend, backend="openviking", openviking=settings)
    answer = post(client, "/sessions/end", {"sessionId": "s1"})
    assert (answer["ok"], answer["reason"]) == (False, "commit_error")
