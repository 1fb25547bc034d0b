"""Every way an error can arise has the same shape and names what is wrong."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.reasons import Reason
from app.store.delivery_rows import SqlDeliveries
from tests.http.conftest import Start

LIFECYCLE = ["/assemble", "/after-turn", "/compact", "/sessions/end", "/sessions/reset"]


@pytest.fixture
def client(person: TestClient) -> TestClient:
    return person


def problem(response: Any, status: int, code: Reason) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body["status"] == status
    assert body["code"] == code
    assert body["type"].endswith(code)
    assert body["title"]
    assert body["requestId"] == response.headers["x-request-id"]
    return body


@pytest.mark.parametrize("path", LIFECYCLE)
@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", "body"),
        (b"{nope", "body"),
        (b"[]", "body"),
        (b'"text"', "body"),
        (b"null", "body"),
        (b"\xff\xfe{}", "body"),
        (b'{"sessionId": NaN}', "body"),
        (b'{"sessionId": 1e999}', "body"),
        (b'{"sessionId": ' + b"9" * 5000 + b"}", "body"),
        (b"[" * 100_000, "body"),
        (b"{}", "sessionId"),
        (b'{"sessionId": 7}', "sessionId"),
        (b'{"sessionId": " "}', "sessionId"),
        (b'{"sessionId": "s", "runtimeContext": 7}', "runtimeContext"),
    ],
)
def test_a_bad_body_names_the_field(client: TestClient, path: str, body: bytes, field: str) -> None:
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == field


@pytest.mark.parametrize(
    ("path", "more", "field"),
    [
        ("/assemble", {"messages": [{"content": "x"}]}, "messages.0.role"),
        ("/assemble", {"messages": [{"role": "user"}, {"role": 7}]}, "messages.1.role"),
        ("/assemble", {"messages": ["x"]}, "messages.0"),
        ("/assemble", {"messages": {}}, "messages"),
        ("/assemble", {"tokenBudget": 0}, "tokenBudget"),
        ("/assemble", {"token_budget": -1}, "token_budget"),
        ("/assemble", {"phase": "later"}, "phase"),
        ("/assemble", {"inject": "everywhere"}, "inject"),
        ("/assemble", {"triggerHint": "boredom"}, "triggerHint"),
        ("/assemble", {"deadlineMs": 0}, "deadlineMs"),
        ("/after-turn", {"prePromptMessageCount": -1}, "prePromptMessageCount"),
        ("/after-turn", {"advancementKey": ""}, "advancementKey"),
        ("/after-turn", {"messages": [{"role": None}]}, "messages.0.role"),
        ("/assemble", {"messages": [{"role": "user", "content": [{"type": {"a": 1}}]}]}, "messages.0.content.0.type"),
        ("/after-turn", {"messages": [{"role": "user", "content": ["x", {"type": 7}]}]}, "messages.0.content.1.type"),
        (
            "/after-turn",
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": [{"type": [1]}]}]}]},
            "messages.0.content.0.content.0.type",
        ),
        ("/compact", {"keepRecentCount": "many"}, "keepRecentCount"),
        ("/assemble", {"tokenBudget": True}, "tokenBudget"),
        ("/assemble", {"tokenBudget": "4000"}, "tokenBudget"),
        ("/assemble", {"tokenBudget": 1.5}, "tokenBudget"),
        ("/after-turn", {"isHeartbeat": "yes"}, "isHeartbeat"),
        ("/after-turn", {"wait": 1}, "wait"),
        ("/after-turn", {"prePromptMessageCount": False}, "prePromptMessageCount"),
        ("/compact", {"force": "true"}, "force"),
        ("/compact", {"currentTokenCount": "7"}, "currentTokenCount"),
        ("/sessions/end", {"deadlineMs": -1}, "deadlineMs"),
    ],
)
def test_a_bad_field_is_named(client: TestClient, path: str, more: dict[str, Any], field: str) -> None:
    answer = client.post(path, json={"sessionId": "s", **more})
    assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == field


def test_what_is_left_out_may_be_null_and_a_whole_number_may_have_a_point(client: TestClient) -> None:
    absent = dict.fromkeys(
        ["prompt", "tokenBudget", "model", "phase", "inject", "triggerHint", "deadlineMs", "agentId"]
    )
    assert client.post("/assemble", json={"sessionId": "s", "messages": [], **absent}).is_success
    absent = dict.fromkeys(["prePromptMessageCount", "advancementKey", "isHeartbeat", "wait", "runtimeContext"])
    assert client.post("/after-turn", json={"sessionId": "s", "messages": [], **absent}).is_success
    absent = dict.fromkeys(["currentTokenCount", "force", "compactionTarget", "customInstructions", "keepRecentCount"])
    assert client.post("/compact", json={"sessionId": "s", "deadlineMs": 2000.0, **absent}).is_success


def test_a_block_without_a_type_goes_through(client: TestClient) -> None:
    messages = [{"role": "user", "content": [{"text": "x"}, {"type": None}, {"type": "new"}]}]
    assert client.post("/assemble", json={"sessionId": "s", "messages": messages}).json()["messages"] == messages


@pytest.mark.parametrize("path", ["/turns/%00", "/turns/a%00b"])
def test_a_zero_byte_in_a_path_names_it(client: TestClient, path: str) -> None:
    problem_ = problem(client.get(path), 400, Reason.INVALID_REQUEST)
    assert problem_["errors"][0]["field"] == "path.turnId"


def test_a_bug_of_ours_blames_nobody_else(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise TypeError("unhashable type: 'dict'")

    monkeypatch.setattr(SqlDeliveries, "get", broken)
    answer = client.get("/turns/t_1")
    problem(answer, 500, Reason.INTERNAL_ERROR)
    assert "retry-after" not in answer.headers
    assert "store" not in answer.text


@pytest.mark.parametrize("path", LIFECYCLE)
def test_more_than_enough_is_enough(client: TestClient, path: str) -> None:
    """Hosts say "no limit" with the largest number that they have."""
    body = {"sessionId": "s", "tokenBudget": 2**63, "deadlineMs": 2**53, "currentTokenCount": 2**64}
    assert client.post(path, json=body).status_code == 200


def test_another_content_type_is_named(client: TestClient) -> None:
    answer = client.post("/assemble", content=b'{"sessionId": "s"}', headers={"content-type": "text/plain"})
    assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == "headers.Content-Type"
    answer = client.post("/assemble", content=b'{"sessionId": "s"}')
    assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == "headers.Content-Type"


def test_both_spellings_of_a_key_must_agree(client: TestClient) -> None:
    answer = client.post(
        "/after-turn", json={"sessionId": "s", "advancementKey": "a"}, headers={"Idempotency-Key": "b"}
    )
    assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == "headers.Idempotency-Key"


@pytest.mark.parametrize("key", ["", "k" * 513])
def test_a_bad_key_in_the_header_is_named_like_any_header(client: TestClient, key: str) -> None:
    answer = client.post("/after-turn", json={"sessionId": "s"}, headers={"Idempotency-Key": key})
    assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == "headers.Idempotency-Key"


def test_unknown_paths_and_methods(client: TestClient) -> None:
    problem(client.get("/nope"), 404, Reason.NOT_FOUND)
    answer = client.get("/assemble")
    problem(answer, 405, Reason.METHOD_NOT_ALLOWED)
    assert answer.headers["allow"] == "POST"
    problem(client.get("/turns/t_nope"), 404, Reason.NOT_FOUND)


def test_a_large_body_is_refused_announced_or_not(start: Start) -> None:
    client = start(limits={"max_body_bytes": 2000})
    client.headers["content-type"] = "application/json"
    body = json.dumps({"sessionId": "s", "messages": [{"role": "user", "content": "x" * 3000}]}).encode()
    problem(client.post("/assemble", content=body), 413, Reason.BODY_TOO_LARGE)
    problem(client.post("/assemble", content=iter([body[:1500], body[1500:]])), 413, Reason.BODY_TOO_LARGE)


@pytest.mark.parametrize("header", ["X-OpenViking-Account", "X-OpenViking-User"])
def test_tenant_headers_are_validated(client: TestClient, header: str) -> None:
    for bad in ("tg:1", "a b", "a@b@c", "..", "x/y"):
        answer = client.post("/assemble", json={"sessionId": "s"}, headers={header: bad})
        assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == f"headers.{header}"


class TestTokens:
    def test_a_token_is_needed(self, start: Start) -> None:
        client = start(auth={"tokens": "alpha,beta"})
        for headers in (
            {},
            {"Authorization": "Bearer gamma"},
            {"Authorization": "Basic alpha"},
            {"Authorization": "x"},
        ):
            answer = client.post("/assemble", json={"sessionId": "s"}, headers=headers)
            problem(answer, 401, Reason.UNAUTHORIZED)
            assert answer.headers["www-authenticate"] == "Bearer"
        assert client.post("/assemble", json={"sessionId": "s"}, headers={"Authorization": "Bearer beta"}).is_success

    def test_a_bound_token_stays_with_its_tenant(self, start: Start) -> None:
        client = start(auth={"tokens": json.dumps({"tok": {"account": "acme", "user": "alice"}})})
        own = {"Authorization": "Bearer tok", "X-OpenViking-User": "alice"}
        assert client.post("/assemble", json={"sessionId": "s"}, headers=own).is_success
        for header, value in (("X-OpenViking-User", "bob"), ("X-OpenViking-Account", "other")):
            other = {"Authorization": "Bearer tok", header: value}
            problem(client.post("/assemble", json={"sessionId": "s"}, headers=other), 403, Reason.FORBIDDEN)

    def test_a_stranger_is_told_nothing_about_the_body(self, start: Start) -> None:
        client = start(auth={"tokens": "alpha"})
        json_type = {"content-type": "application/json"}
        for path in LIFECYCLE:
            for content, headers in (
                (b"", {}),
                (b"{nope", json_type),
                (b"{}", json_type),
                (b"x", {"X-OpenViking-User": "?"}),
            ):
                problem(client.post(path, content=content, headers=headers), 401, Reason.UNAUTHORIZED)

    @pytest.mark.anyio
    async def test_a_strangers_body_is_not_even_read(self, start: Start) -> None:
        app = start(auth={"tokens": "alpha"}).app
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            raise AssertionError("the body was read")

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        for path in LIFECYCLE:
            headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
            scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}
            await app(scope, receive, send)  # type: ignore[operator]
            assert sent[0]["status"] == 401
            sent.clear()

    def test_pages_take_the_token_as_a_password(self, start: Start) -> None:
        client = start(auth={"tokens": "alpha"})
        asked = client.get("/ui/recalls")
        assert (asked.status_code, asked.headers["www-authenticate"].split()[0]) == (401, "Basic")
        assert client.get("/ui/recalls", auth=("anyone", "alpha")).status_code == 200
        assert client.get("/ui/recalls", auth=("alpha", "beta")).status_code == 401
        assert client.get("/ui/recalls", headers={"Authorization": "Basic !"}).status_code == 401
        assert client.get("/recalls", auth=("anyone", "alpha")).status_code == 401

    def test_every_route_but_the_open_ones_asks_for_it(self, start: Start) -> None:
        client = start(auth={"tokens": "alpha"})
        open_paths = {"/healthz", "/readyz", "/metrics"}
        for path, operations in client.get("/openapi.json").json()["paths"].items():
            for method in operations:
                url = path.replace("{turnId}", "t").replace("{traceId}", "r")
                status = client.request(method, url, json={"sessionId": "s"} if method == "post" else None).status_code
                assert (status == 401) is (path not in open_paths), (method, path, status)


class TestRequestId:
    def test_a_good_one_comes_back(self, client: TestClient) -> None:
        assert client.get("/healthz", headers={"X-Request-ID": "a:B-1._"}).headers["x-request-id"] == "a:B-1._"

    @pytest.mark.parametrize("bad", ["", "a b", "x" * 129, "ü", "a\tb"])
    def test_a_bad_one_is_replaced(self, client: TestClient, bad: str) -> None:
        answer = client.get("/healthz", headers={"X-Request-ID": bad.encode()})
        assert answer.headers["x-request-id"] not in {"", bad}
