"""Any body at all is answered, never with a 5xx: properties here, and schemathesis over the OpenAPI document."""

import json
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance
from starlette.testclient import TestClient

from app.factory import create_app
from app.settings import Settings
from app.tools import BY_NAME
from tests.contract.openviking import FakeOpenViking, served
from tests.http.test_errors import LIFECYCLE
from tests.postgres import new_database

QUICK = settings(suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest) -> str:
    """Where turns are kept; empty is SQLite in the data directory."""
    return "" if request.param == "sqlite" else new_database(request.getfixturevalue("postgres_url"))


@pytest.fixture(scope="module")
def shared(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    configured = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("any") / "data",
        log_level="error",
        store={"url": store_url},
        experience={"enabled": True},
        limits={"compact_ms": 2000, "wait_ms": 20_000},
    )
    with TestClient(create_app(configured)) as client:
        yield client


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=10), inner, max_size=5),
    max_leaves=20,
)
texts = st.text(max_size=200) | st.sampled_from(
    [
        "<openviking-context>",
        "</openviking-context>",
        "\ud83d",
        "\x00",
        "\u202e",
        "```",
        "hi",
        "记住我喜欢茶",
        "fix a.py",
    ]
)
kinds = (
    st.sampled_from(["text", "toolCall", "tool_use", "tool_result", "image", "thinking", "x", {"a": 1}]) | json_values
)
blocks = st.fixed_dictionaries(
    {"type": kinds},
    optional={
        "text": texts,
        "id": texts,
        "name": texts,
        "arguments": json_values,
        "input": json_values,
        "tool_use_id": texts,
        "content": texts | json_values | st.lists(st.fixed_dictionaries({"type": kinds, "text": texts}), max_size=2),
    },
)
messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "toolResult", "tool", "system", "compactionSummary", "custom"])
        | texts
    },
    optional={
        "content": texts | st.lists(blocks | texts, max_size=4) | json_values,
        "timestamp": json_values | st.integers(10**300, 10**310),
        "toolCallId": texts,
        "tool_calls": json_values,
        "summary": texts | json_values,
        "excludeFromContext": json_values,
    },
)
bodies = st.fixed_dictionaries(
    {"sessionId": st.sampled_from(["s1", "s2", "../../x", "会话"]) | texts},
    optional={
        "messages": st.lists(messages, max_size=6),
        "prompt": texts,
        "phase": st.sampled_from(["preflight", "transform", "full"]),
        "inject": st.sampled_from(["message", "block", "tool_call", "system"]),
        "tokenBudget": st.integers(1, 200_000),
        "prePromptMessageCount": st.integers(0, 8),
        "isHeartbeat": st.booleans(),
        "advancementKey": texts,
        "runtimeContext": st.dictionaries(texts, json_values, max_size=4),
        "deadlineMs": st.integers(1, 500),
    },
)


@QUICK
@given(path=st.sampled_from(LIFECYCLE), body=st.binary(max_size=400))
def test_any_bytes(shared: TestClient, path: str, body: bytes) -> None:
    assert shared.post(path, content=body, headers={"content-type": "application/json"}).status_code < 500


@QUICK
@given(path=st.sampled_from(LIFECYCLE), body=json_values)
def test_any_json(shared: TestClient, path: str, body: object) -> None:
    headers = {"content-type": "application/json"}
    assert shared.post(path, content=json.dumps(body), headers=headers).status_code < 500


@QUICK
@given(path=st.sampled_from(["/assemble", "/after-turn"]), body=bodies)
def test_any_conversation(shared: TestClient, path: str, body: dict) -> None:
    answer = shared.post(path, content=json.dumps(body), headers={"content-type": "application/json"})
    assert answer.status_code < 500, answer.text


@QUICK
@given(
    path=st.sampled_from(
        [
            *("/turns/{}", "/recalls/{}", "/ui/recalls/{}", "/deliveries/{}", "/memories/{}", "/{}"),
            *("/ui/memories/{}", "/ui/memories/{}/forget", "/ui/sessions/{}", "/ui/sessions/{}/archives/{}"),
            *("/ui/deliveries/{}", "/ui/deliveries/{}/discard", "/ui/{}"),
        ]
    ),
    name=st.text(min_size=1, max_size=70) | st.sampled_from(["\x00", "a\x00b", "..", "%", "\u2028"]),
)
def test_any_path(shared: TestClient, path: str, name: str) -> None:
    named = quote(name, safe="", errors="replace")
    assert shared.get(path.format(named, named)).status_code < 500


@QUICK
@given(
    path=st.sampled_from(
        ["/deliveries", "/recalls", "/ui/recalls", "/memories", "/ui/memories", "/ui/sessions", "/ui/deliveries"]
    ),
    query=st.dictionaries(
        st.sampled_from(
            ["session", "since", "until", "cursor", "limit", "state", "query", "category", "peer", "pinned"]
        ),
        texts | st.sampled_from(["0", "9" * 19, "9" * 32, "-1", "1e400", "dead", "2026-01-01T00:00:00Z", "0001-01-01"]),
        min_size=1,
    ),
)
def test_any_query(shared: TestClient, path: str, query: dict[str, str]) -> None:
    sent = urlencode(query, errors="replace")
    assert shared.get(f"{path}?{sent}").status_code < 500


memory_fields = {
    "text": texts,
    "category": st.sampled_from(["notes", "events", "experiences", "cases", "profile"]) | texts,
    "key": texts,
    "importance": st.sampled_from(["normal", "high"]),
    "ttlDays": st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1e-12, 36_500, None]),
    "sensitivity": st.sampled_from(["low", "medium", "high"]),
    "pinned": st.booleans(),
    "for": st.sampled_from(["user", "peer"]),
    "agentId": texts,
    "history": st.just([]) | json_values,
    "sources": st.just([]) | json_values,
    "createdAt": texts | st.sampled_from(["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:00", "2026-01-01T00:00:00Z"]),
    "updatedAt": texts | st.just("2026-01-01T00:00:00Z"),
    "uri": texts
    | st.sampled_from(["viking://user/default/memories/../../x.md", "viking://user/default/memories/a/b.md"]),
    "id": texts | st.sampled_from(["m_1", "m_2"]),
}


@pytest.fixture(scope="module")
def openviking(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The service on OpenViking, which leaves what it has no field for to the store."""
    with served(FakeOpenViking()) as server:
        configured = Settings(
            _env_file=None,
            data_dir=tmp_path_factory.mktemp("openviking") / "data",
            log_level="error",
            store={"url": store_url},
            backend="openviking",
            openviking={"url": server},
        )
        with TestClient(create_app(configured)) as client:
            yield client


@QUICK
@given(body=st.fixed_dictionaries({}, optional=memory_fields))
def test_any_memory(shared: TestClient, body: dict) -> None:
    _keep(shared, body)


@QUICK
@given(body=st.fixed_dictionaries({}, optional=memory_fields))
def test_any_memory_on_openviking(openviking: TestClient, body: dict) -> None:
    _keep(openviking, body)


def _keep(shared: TestClient, body: dict) -> None:
    sent = {"content": json.dumps(body), "headers": {"content-type": "application/json"}}
    stored = shared.post("/memories", **sent)
    assert stored.status_code < 500, stored.text
    memory_id = stored.json()["id"] if stored.status_code in {200, 201} else "m_1"
    for answer in (
        shared.patch(f"/memories/{memory_id}", **sent),
        shared.get(f"/memories/{memory_id}"),
        shared.delete(f"/memories/{memory_id}"),
    ):
        assert answer.status_code < 500, answer.text


memory_lines = st.lists(
    st.fixed_dictionaries({}, optional=memory_fields).map(lambda line: json.dumps(line).encode())
    | st.binary(max_size=60),
    max_size=4,
)


@QUICK
@given(lines=memory_lines)
def test_any_import(shared: TestClient, lines: list[bytes]) -> None:
    _import(shared, lines)


@QUICK
@given(lines=memory_lines)
def test_any_import_on_openviking(openviking: TestClient, lines: list[bytes]) -> None:
    _import(openviking, lines)


def _import(shared: TestClient, lines: list[bytes]) -> None:
    headers = {"content-type": "application/x-ndjson"}
    answer = shared.post("/memories/import", content=b"\n".join(lines), headers=headers)
    assert answer.status_code < 500, answer.text
    assert shared.get("/memories/export").status_code == 200


@schemathesis.serializer("application/x-ndjson")
def lines(_context: object, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


scopes = st.fixed_dictionaries({}, optional={"sessionId": texts, "senderId": texts, "deadlineMs": st.integers(1, 500)})
arguments = st.dictionaries(
    st.sampled_from(
        ["query", "text", "category", "key", "since", "until", "limit", "id", "uri", "kinds", "archiveId", "offset"]
    )
    | texts,
    texts | json_values | st.sampled_from(["archive_001", "m_1", "viking://~/memories", "2026-01-01", "9999-12-31"]),
    max_size=6,
)


@QUICK
@given(name=st.sampled_from(sorted(BY_NAME)), scope=scopes, arguments=arguments)
def test_any_call_of_a_tool(shared: TestClient, name: str, scope: dict, arguments: dict) -> None:
    _call(shared, name, scope, arguments)


@QUICK
@given(name=st.sampled_from(sorted(BY_NAME)), scope=scopes, arguments=arguments)
def test_any_call_of_a_tool_on_openviking(openviking: TestClient, name: str, scope: dict, arguments: dict) -> None:
    _call(openviking, name, scope, arguments)


def _call(shared: TestClient, name: str, scope: dict, arguments: dict) -> None:
    sent = json.dumps({**scope, "arguments": arguments})
    answer = shared.post(f"/tools/{name}", content=sent, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400), answer.text


@QUICK
@given(
    method=st.sampled_from(["initialize", "tools/call", "resources/read", "prompts/get", "server/discover"]) | texts,
    params=st.fixed_dictionaries(
        {},
        optional={"name": st.sampled_from(sorted(BY_NAME)), "arguments": arguments, "uri": texts, "_meta": json_values},
    )
    | json_values,
    request_id=st.integers() | texts | json_values,
    version=st.sampled_from(["2025-03-26", "2025-11-25", "2026-07-28", "x"]),
)
def test_any_message_of_the_model_context_protocol(
    shared: TestClient, method: str, params: object, request_id: object, version: str
) -> None:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    headers = {"content-type": "application/json", "mcp-protocol-version": version}
    answer = shared.post("/mcp", content=json.dumps(message), headers=headers)
    assert answer.status_code < 500, answer.text


@QUICK
@given(message=json_values)
def test_any_json_to_the_model_context_protocol(shared: TestClient, message: object) -> None:
    answer = shared.post("/mcp", content=json.dumps(message), headers={"content-type": "application/json"})
    assert answer.status_code < 500, answer.text


UNTOLD = [positive_data_acceptance, ignored_auth]
"""A schema can not say that an id must be more than white space, nor that no tokens are configured."""


def leaves(value: object) -> list[object]:
    """What stands in lists, tuples and objects, but for nothing."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for one in value for leaf in leaves(one)]
    return [] if value is None else [value]


def test_the_openapi_document_tells_the_truth(shared: TestClient) -> None:
    schema = schemathesis.openapi.from_dict(shared.get("/openapi.json").json())
    tried = 0
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(parent=QUICK, max_examples=settings.default.max_examples // 5)
        @given(case=operation.as_strategy())
        def check(case: schemathesis.Case) -> None:
            sent = case.as_transport_kwargs(base_url=str(shared.base_url))
            sent.pop("cookies", None)
            if isinstance(sent.get("data"), bytes):
                sent["content"] = sent.pop("data")
            assume(all(isinstance(part, (str, bytes)) for part in leaves(sent.get("files"))))  # others can not be sent
            answer = shared.request(**sent)
            answer.request.read()  # a form is sent as a stream
            case.validate_response(schemathesis.Response.from_httpx(answer, verify=True), excluded_checks=UNTOLD)

        check()
        tried += 1
    assert tried >= 12
