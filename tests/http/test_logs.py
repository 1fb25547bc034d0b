"""Logs tell what happened and to whom, and never what was said or which key was used."""

import io
import json

import pytest
from pytest_httpx import HTTPXMock

from tests.http.conftest import Start

SECRETS = ("hush-hush-token", "root-key-1", "sourdough", "Lisbon trip")


@pytest.mark.httpx_mock(assert_all_requests_were_expected=False, can_send_already_matched_responses=True)
def test_what_openviking_says_of_an_error_is_not_logged(
    start: Start, httpx_mock: HTTPXMock, capfd: pytest.CaptureFixture[str]
) -> None:
    said = {"status": "error", "error": {"code": "INVALID_ARGUMENT", "message": "bad text: my sourdough recipe"}}
    httpx_mock.add_response(status_code=400, json=said)
    client = start(log_level="info", backend="openviking", openviking={"url": "http://openviking.test"})
    turn = {"sessionId": "s-7", "messages": [{"role": "user", "content": "my sourdough recipe"}], "wait": True}
    assert client.post("/after-turn", json=turn).is_success
    [dead] = client.get("/deliveries?state=dead").json()["deliveries"]
    assert "sourdough" in dead["error"]
    text = capfd.readouterr().err
    assert "dead_letter" in text
    assert "sourdough" not in text


def test_logs_hold_codes_and_no_text(start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    client = start(
        log_level="info",
        backend="openviking",
        auth={"tokens": "hush-hush-token"},
        openviking={"url": "http://127.0.0.1:9", "api_key": "root-key-1"},
    )
    headers = {"Authorization": "Bearer hush-hush-token", "X-Request-ID": "req-42"}
    messages = [{"role": "user", "content": "Where is my sourdough recipe for the Lisbon trip?"}]
    body = {"sessionId": "s-7", "messages": messages}
    assert client.post("/after-turn", json=body, headers=headers).is_success
    assert client.post("/assemble", json=body, headers=headers).is_success
    assert client.post("/assemble", json={"sessionId": "s-7", "messages": [{}]}, headers=headers).status_code == 400
    assert client.post("/assemble", json=body, headers={"Authorization": "Bearer wrong"}).status_code == 401
    text = capfd.readouterr().err
    assert not [secret for secret in SECRETS if secret in text]
    lines = [json.loads(line) for line in text.splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in requests] == [200, 200, 400, 401]
    assert [line["reason"] for line in requests] == ["ok", "openviking_unavailable", "invalid_request", "unauthorized"]
    assert {line["request_id"] for line in requests[:3]} == {"req-42"}
    assert requests[1]["session"] == "s-7"
    assert any(line["event"] == "backend_does_not_answer" for line in lines)


def test_the_task_of_a_commit_stands_in_the_log(start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    client = start(log_level="info")
    turn = {"sessionId": "s-7", "messages": [{"role": "user", "content": "I prefer tea."}], "wait": True}
    assert client.post("/after-turn", json=turn).is_success
    task = client.post("/compact", json={"sessionId": "s-7"}).json()["taskId"]
    steps = [line for line in map(json.loads, capfd.readouterr().err.splitlines()) if line["event"] == "worker_step"]
    assert {line["step"] for line in steps if line.get("task_id") == task} == {"SendCommit", "FollowCommit"}


class Gone(io.StringIO):
    """The stream of a process whose reader has gone."""

    def write(self, _: str) -> int:
        raise BrokenPipeError


def test_a_log_that_nobody_takes_stops_no_request(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Gone())
    client = start(log_level="info")
    assert client.post("/assemble", json={"sessionId": "s-7", "messages": []}).status_code == 200


def test_a_bug_is_logged_with_its_traceback_and_the_logger_by_name(
    start: Start, capfd: pytest.CaptureFixture[str]
) -> None:
    client = start(log_level="info")
    client.app.state.services = None  # type: ignore[attr-defined]
    assert client.post("/assemble", json={"sessionId": "s-7", "messages": []}).status_code == 500
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    [bug] = [line for line in lines if line["event"] == "unexpected_error"]
    assert (bug["level"], bug["logger"]) == ("error", "app.request")
    assert "AttributeError" in bug["exception"]
