"""``/mcp``: with the official client of the protocol, in each of its eras, and what no client would send."""

import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

from app.settings import Settings
from app.tools import TOOLS
from tests.http.conftest import Start
from tests.process import running

pytestmark = pytest.mark.anyio

ERAS = ["legacy", "2026-07-28", "auto"]
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@contextlib.contextmanager
def served(settings: Settings) -> Iterator[str]:
    """A sidecar on a port of its own: the client of the protocol speaks over a socket."""
    with running(settings) as server:
        yield f"http://127.0.0.1:{server.config.port}/mcp"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    tokens = json.dumps(
        {"a-token": {"account": "acme", "user": "alice"}, "b-token": {"account": "acme", "user": "bob"}}
    )
    data = tmp_path_factory.mktemp("mcp") / "data"
    with served(Settings(_env_file=None, data_dir=data, log_level="error", auth={"tokens": tokens})) as url:
        yield url


@contextlib.asynccontextmanager
async def connected(url: str, era: str = "auto", token: str = "a-token", **headers: str) -> AsyncIterator[Client]:
    sent = {"Authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    async with (
        httpx2.AsyncClient(headers=sent, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


def said(result: Any) -> str:
    return "".join(block.text for block in result.content)


# The official client


@pytest.mark.parametrize("era", ERAS)
async def test_every_tool_is_listed_with_its_hints(url: str, era: str) -> None:
    async with connected(url, era) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(listed) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        told = listed[tool.name]
        assert told.description == tool.description
        assert told.annotations is not None
        assert (told.annotations.read_only_hint, told.annotations.destructive_hint) == (
            tool.read_only,
            tool.destructive,
        )
    assert {tool.name for tool in TOOLS if tool.destructive} == {"memory_forget"}


@pytest.mark.parametrize("era", ERAS)
async def test_a_memory_is_stored_recalled_and_forgotten(url: str, era: str) -> None:
    fact = f"The {era.replace('-', '')} gate opens at seven."
    async with connected(url, era) as client:
        stored = await client.call_tool("memory_store", {"text": fact, "category": "notes"})
        assert not stored.is_error, said(stored)
        recalled = await client.call_tool("memory_recall", {"query": fact})
        assert fact in said(recalled)
        alias = await client.call_tool("search_memories", {"query": fact})
        assert fact in said(alias)
        memory_id = said(recalled).partition("[")[2].partition("]")[0]
        forgotten = await client.call_tool("memory_forget", {"id": memory_id})
        assert memory_id in said(forgotten)
        assert fact not in said(await client.call_tool("memory_recall", {"query": fact}))


@pytest.mark.parametrize("era", ERAS)
async def test_mistakes_are_told_to_the_model_and_unknown_tools_to_the_client(url: str, era: str) -> None:
    async with connected(url, era) as client:
        wrong = await client.call_tool("memory_recall", {"question": "x"})
        assert wrong.is_error
        assert "query is missing" in said(wrong)
        with pytest.raises(Exception, match="no tool"):
            await client.call_tool("rm_rf", {})
        with pytest.raises(Exception, match="no resource"):
            await client.read_resource("memory://secrets")
        with pytest.raises(Exception, match="takes a query"):
            await client.get_prompt("context", {"query": "  "})


@pytest.mark.parametrize("era", ERAS)
async def test_the_profile_is_a_resource(url: str, era: str) -> None:
    async with connected(url, era) as client:
        await client.call_tool("memory_store", {"text": "Alice is a ferry captain.", "category": "profile"})
        [resource] = (await client.list_resources()).resources
        assert str(resource.uri) == "memory://profile"
        [content] = (await client.read_resource("memory://profile")).contents
        assert "Alice is a ferry captain." in content.text
        assert (await client.list_resource_templates()).resource_templates == []
    async with connected(url, era, "b-token") as other:
        [content] = (await other.read_resource("memory://profile")).contents
        assert content.text == ""


@pytest.mark.parametrize("era", ERAS)
async def test_context_is_a_prompt(url: str, era: str) -> None:
    async with connected(url, era) as client:
        await client.call_tool("memory_store", {"text": "The blue boat leaves from pier nine.", "category": "notes"})
        [prompt] = (await client.list_prompts()).prompts
        assert [argument.name for argument in prompt.arguments or []] == ["query"]
        [message] = (await client.get_prompt("context", {"query": "Where does the blue boat leave from?"})).messages
        text = message.content.text
        assert text.startswith("<openviking-context>")
        assert "pier nine" in text
        assert text.endswith("Where does the blue boat leave from?")


async def test_the_token_chooses_the_tenant_and_the_header_the_session(url: str) -> None:
    base = url.removesuffix("/mcp")
    async with httpx2.AsyncClient(trust_env=False, headers={"Authorization": "Bearer a-token"}) as http:
        for session in ({"sessionId": "mcp-talk"}, {"sessionKey": "agent:main:mcp"}):
            turn = {"role": "user", "content": "The hidden word is walrus.", "timestamp": "2026-03-04T10:00:00Z"}
            await http.post(f"{base}/after-turn", json={**session, "messages": [turn], "wait": True})
            await http.post(f"{base}/compact", json={**session, "force": True})
    for session in ("mcp-talk", "agent:main:mcp"):
        async with connected(url, X_Sidecar_Session=session) as client:
            found = await client.call_tool("ov_archive_search", {"query": "hidden word"})
            assert "walrus" in said(found)
            page = await client.call_tool("ov_archive_expand", {"archiveId": "archive_001"})
            assert "The hidden word is walrus." in said(page)
        async with connected(url, token="b-token", X_Sidecar_Session=session) as client:
            assert "walrus" not in said(await client.call_tool("ov_archive_search", {"query": "hidden word"}))
    async with connected(url) as client:
        nowhere = await client.call_tool("ov_archive_search", {"query": "hidden word"})
        assert nowhere.is_error
        assert "no conversation" in said(nowhere)


def test_without_a_token_nothing_is_told(start: Start) -> None:
    client = start(auth={"tokens": "secret"})
    assert post(client, request("tools/list")).status_code == 401
    assert post(client, request("tools/list"), authorization="Bearer secret").status_code == 200


# What no client would send


def post(client: TestClient, message: object, **headers: str) -> Any:
    return client.post("/mcp", content=json.dumps(message), headers={**HEADERS, **headers})


def request(method: str, params: object = None, request_id: object = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, **({} if params is None else {"params": params})}


@pytest.mark.parametrize(
    "origin", ["https://evil.example.com", "null", "http://evil.example.com:8787", "ftp://localhost"]
)
def test_pages_of_other_sites_are_refused(client: TestClient, origin: str) -> None:
    answer = post(client, request("tools/list"), origin=origin)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:6274"])
def test_pages_of_this_machine_may_come(client: TestClient, origin: str) -> None:
    assert post(client, request("tools/list"), origin=origin).status_code == 200


def test_a_named_host_may_come_and_is_served(start: Start) -> None:
    client = start(auth={"allowed_hosts": ["*.example.org"]})
    assert post(client, request("ping"), origin="https://app.example.org").json()["result"] == {}
    assert post(client, request("ping"), origin="https://example.com").status_code == 403


@pytest.mark.parametrize(
    "message",
    [
        [],
        [request("ping")],
        "x",
        None,
        7,
        {},
        {"id": 1},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
    ],
)
def test_what_is_no_message_is_refused(client: TestClient, message: object) -> None:
    answer = post(client, message)
    assert answer.status_code == 400
    assert answer.json().get("error", {"code": -32600})["code"] == -32600


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (request("no/such"), -32601),
        (request("subscriptions/listen"), -32601),
        (request("tools/call"), -32602),
        (request("tools/call", {"name": "x" * 10_000}), -32602),
        (request("tools/call", {"name": "memory_recall", "arguments": []}), -32602),
        (request("resources/read", {"uri": "file:///etc/passwd"}), -32602),
        (request("initialize", {"protocolVersion": 7}), -32602),
    ],
)
def test_what_can_not_be_answered_is_an_error(client: TestClient, message: dict[str, Any], code: int) -> None:
    answer = post(client, message)
    assert (answer.status_code, answer.json()["error"]["code"], answer.json()["id"]) == (200, code, 1)
    assert len(answer.text) < 2_000


def test_notifications_and_replies_are_taken_note_of(client: TestClient) -> None:
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ):
        answer = post(client, message)
        assert (answer.status_code, answer.content) == (202, b"")


def test_versions_are_negotiated(client: TestClient) -> None:
    hello = {"capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    for asked, given in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")):
        answer = post(client, request("initialize", {**hello, "protocolVersion": asked})).json()["result"]
        assert answer["protocolVersion"] == given
        assert answer["serverInfo"]["name"] == "openviking-sidecar"
        assert answer["instructions"]
    unknown = post(client, request("ping"), **{"mcp-protocol-version": "1999-01-01"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (400, -32022)
    assert "2025-11-25" in unknown.json()["error"]["data"]["supported"]


def test_a_modern_request_has_to_agree_with_its_headers(client: TestClient) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"_meta": meta, "name": "memory_recall", "arguments": {"query": "tea"}}
    good = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "memory_recall"}
    answer = post(client, request("tools/call", params), **good)
    assert (answer.status_code, answer.json()["result"]["isError"]) == (200, False)
    for wrong in ({"mcp-method": "tools/list"}, {"mcp-name": "memory_store"}, {"mcp-name": "=?base64?!?="}):
        answer = post(client, request("tools/call", params), **{**good, **wrong})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)
    bare = {name: value for name, value in params.items() if name != "_meta"}
    assert post(client, request("tools/call", bare), **good).json()["error"]["code"] == -32020
    gone = {**good, "mcp-method": "ping"}
    assert post(client, request("ping", {"_meta": meta}), **gone).status_code == 404


def test_there_is_no_stream_to_listen_to(client: TestClient) -> None:
    assert client.get("/mcp", headers={"accept": "text/event-stream"}).status_code == 405
    assert client.delete("/mcp").status_code == 405


def test_the_session_header_is_bounded(client: TestClient) -> None:
    answer = post(client, request("ping"), **{"x-sidecar-session": "x" * 2_000})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "headers.X-Sidecar-Session")


def test_it_is_loaded_with_the_first_request(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from app.factory import create_app; from app.settings import Settings;"
        f"create_app(Settings(_env_file=None, data_dir={str(tmp_path)!r}));"
        "sys.exit('mcp_types' in sys.modules or 'mcp' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
