"""Any body at all is answered, never with a 5xx: properties here, and schemathesis over the OpenAPI document."""

import json
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance
from starlette.testclient import TestClient

from app.factory import create_app
from app.settings import Settings
from tests.http.test_errors import LIFECYCLE

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    configured = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("any") / "data",
        log_level="error",
        experience={"enabled": True},
        limits={"compact_ms": 2000, "wait_ms": 500},
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
blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "toolCall", "tool_use", "tool_result", "image", "thinking", "x"])},
    optional={
        "text": texts,
        "id": texts,
        "name": texts,
        "arguments": json_values,
        "input": json_values,
        "tool_use_id": texts,
        "content": texts | json_values,
    },
)
messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "toolResult", "tool", "system", "compactionSummary", "custom"])
        | texts
    },
    optional={
        "content": texts | st.lists(blocks | texts, max_size=4) | json_values,
        "timestamp": json_values,
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


UNTOLD = [positive_data_acceptance, ignored_auth]
"""A schema can not say that an id must be more than white space, nor that no tokens are configured."""


def test_the_openapi_document_tells_the_truth(shared: TestClient) -> None:
    schema = schemathesis.openapi.from_dict(shared.get("/openapi.json").json())
    tried = 0
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(parent=QUICK, max_examples=15)
        @given(case=operation.as_strategy())
        def check(case: schemathesis.Case) -> None:
            sent = case.as_transport_kwargs(base_url=str(shared.base_url))
            sent.pop("cookies", None)
            answer = shared.request(**sent)
            case.validate_response(schemathesis.Response.from_httpx(answer, verify=True), excluded_checks=UNTOLD)

        check()
        tried += 1
    assert tried >= 12
