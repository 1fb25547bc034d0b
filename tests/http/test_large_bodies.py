"""Large bodies are answered like small ones, but read in another process; nothing of them delays anybody else."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.api import large, wire
from app.api.wire import PIECE_BYTES, JsonInPieces
from app.core.deadline import Deadline
from app.core.json import encoding
from app.core.reasons import Reason
from app.factory import create_app
from app.offload.pool import ChildFailed, OffloadPool
from app.settings import Settings
from tests.http.conftest import Start
from tests.http.test_errors import problem
from tests.http.test_lifecycle import FACT, post, said, turn, user

JSON = {"content-type": "application/json"}
LONG = [user("x" * 30, 1), said("y", 2), user("Which tea do I prefer, and with what honey?", 100)]


@pytest.fixture
def client(start: Start) -> TestClient:
    """Time enough for a process to start on a busy machine."""
    return start(limits={"assemble_ms": 60_000})


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """`client` for several tests, so that one process is started for all of them."""
    data = tmp_path_factory.mktemp("patient") / "data"
    settings = Settings(_env_file=None, data_dir=data, log_level="error", limits={"assemble_ms": 60_000})
    with TestClient(create_app(settings)) as client:
        yield client


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every body is a large one."""
    monkeypatch.setattr(large, "AT_ONCE_VALUES", 0)


def answers(client: TestClient) -> list[dict[str, Any]]:
    """What the same conversation is answered, without what differs from run to run."""
    turn(client, FACT)
    post(client, "/compact", {"sessionId": "s1"})
    found = []
    for more in (
        {"inject": "message"},
        {"inject": "block"},
        {"inject": "tool_call"},
        {"inject": "system"},
        {"phase": "preflight"},
        {"phase": "full"},
        {"prompt": "Which tea?", "phase": "transform", "messages": LONG[:2]},
    ):
        answer = post(client, "/assemble", {"sessionId": "s1", "messages": [*FACT, *LONG], **more})
        recall = answer.pop("recall")
        found.append({**answer, "items": recall and recall["items"], "query": recall and recall["query"]})
    again = turn(client, FACT, advancementKey="k")
    found.append({key: again[key] for key in ("status", "reason", "captured", "delivery")})
    return found


def test_they_are_answered_like_small_ones(start: Start, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    small = answers(start(data_dir=tmp_path / "small"))
    monkeypatch.setattr(large, "AT_ONCE_VALUES", 0)
    assert answers(start(data_dir=tmp_path / "large")) == small
    assert any(answer.get("contextBlock") for answer in small)


def test_they_are_not_parsed_here(start: Start, all_large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    decode = encoding._DECODER.decode

    def noted(text: str) -> Any:
        if threading.current_thread() is not threading.main_thread():
            parsed.append(len(text))
        return decode(text)

    client = start()
    body = json.dumps({"sessionId": "s", "messages": [user("z" * 100_000)]}).encode()
    with monkeypatch.context() as patched:
        patched.setattr(encoding._DECODER, "decode", noted)
        assert client.post("/assemble", content=body, headers=JSON).json()["messages"][0]["content"] == "z" * 100_000
        assert client.post("/after-turn", content=body, headers=JSON).json()["captured"] == 1
    assert parsed and max(parsed) < 10_000


def test_late_ones_come_back_byte_for_byte(start: Start, all_large: None) -> None:
    messages = b'[ {"role" : "user", "content": "\\u0068i \\ud83d", "x": 1.50} ]'
    body = b'{"sessionId": "s", "deadlineMs": 1, "messages": ' + messages + b', "phase": "preflight"}'
    answer = start().post("/assemble", content=body, headers=JSON)
    assert answer.status_code == 200 and messages in answer.content
    told = answer.json()
    assert (told["status"], told["reason"], told["recall"]) == ("passthrough", "deadline_exceeded", None)
    assert told["estimatedTokens"] > 0


def test_a_process_that_dies_costs_the_recall_and_not_the_messages(
    start: Start, all_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def died(*_: object, **__: object) -> None:
        raise ChildFailed("killed")

    client = start()
    monkeypatch.setattr(OffloadPool, "run", died)
    body = {"sessionId": "s", "messages": LONG}
    answer = post(client, "/assemble", body)
    assert (answer["messages"], answer["reason"]) == (LONG, "internal_error")
    problem(client.post("/after-turn", json=body), 503, Reason.OVERLOADED)


def test_a_process_that_was_killed_while_idle_is_replaced(client: TestClient, all_large: None) -> None:
    body = {"sessionId": "s", "messages": LONG}
    assert post(client, "/after-turn", body)["status"] == "committed"
    app: Any = client.app
    for child in list(app.state.services.offload._all):
        child._process.kill()
        child._process.wait()
    assert post(client, "/after-turn", {**body, "sessionId": "t"})["status"] == "committed"


def test_a_turn_whose_reading_hangs_is_to_be_sent_again(
    start: Start, all_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(*_: object, deadline: Deadline | None = None, **__: object) -> None:
        assert deadline is not None and 0 < deadline.remaining <= 90
        raise TimeoutError

    client = start(limits={"large_turn_ms": 90_000})
    body = {"sessionId": "s", "messages": LONG}
    with monkeypatch.context() as patched:
        patched.setattr(OffloadPool, "run", hangs)
        answer = client.post("/after-turn", json=body)
        problem(answer, 503, Reason.OVERLOADED)
        assert int(answer.headers["Retry-After"]) > 0
    assert post(client, "/after-turn", body)["captured"] == len(LONG)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"sessionId": "s", "messages": [{"role": "user"}, {"role": 7}]}', "messages.1.role"),
        (b'{"sessionId": "s", "messages": [{"role": "user", "content": [{"type": {}}]}]}', "messages.0.content.0.type"),
        (b'{"sessionId": "s", "messages": [{"role" "user"}]}', "body"),
        (b'{"sessionId": "s", "messages": [{"role": "user"}]', "body"),
        (b'{"sessionId": "s", "messages": {"a": [1]}}', "messages"),
        (b'{"sessionId": 7, "messages": [{"role": "user"}]}', "sessionId"),
        (b'{"sessionId": "s", "messages": [{"role": "user", "x": ' + b"[" * 600 + b"]" * 600 + b"}]}", "body"),
    ],
)
@pytest.mark.parametrize("path", ["/assemble", "/after-turn"])
def test_what_is_wrong_with_them_is_named(
    patient: TestClient, all_large: None, path: str, body: bytes, field: str
) -> None:
    answer = patient.post(path, content=body, headers=JSON)
    assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == field


def test_next_to_nothing_is_parsed_of_what_nobody_reads() -> None:
    texts = {"model": "\n" * 600_000, "else": "\u20ac" * 600_000, "emoji": "x" + "\U0001f600" * 600_000}
    for ascii_only in (True, False):
        body = json.dumps({"sessionId": "s", **texts}, ensure_ascii=ascii_only).encode()
        rest, _ = large.divide(body)
        assert len(rest) < 100_000
        kept = json.loads(rest)
        assert kept["sessionId"] == "s"
        assert all(kept[name] and text.startswith(kept[name]) for name, text in texts.items())


def test_a_text_of_many_brackets_is_left_whole() -> None:
    body = json.dumps({"sessionId": "s", "model": "{" * 6_000, "messages": LONG}).encode()
    rest, _ = large.divide(body)
    assert json.loads(rest)["model"] == "{" * 6_000


def test_large_messages_are_not_copied() -> None:
    body = json.dumps({"messages": [user("x" * 600_000, 1)], "prompt": "y" * 600_000}).encode()
    _, divided = large.divide(body)
    assert divided
    for value, start in ((divided.messages, b"[{"), (divided.prompt, b'"y')):
        assert isinstance(value, memoryview)
        assert value.obj is body, "it stands in the body that came"
        assert bytes(value[:2]) == start


@pytest.mark.anyio
async def test_a_large_answer_goes_out_in_pieces() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    parts = (b"[", memoryview(b"x" * (2 * PIECE_BYTES + 7)), b"]")
    await JsonInPieces(parts)({"type": "http"}, receive=None, send=send)  # type: ignore[arg-type]
    start, *pieces, end = sent
    assert max(len(piece["body"]) for piece in pieces) == PIECE_BYTES
    assert b"".join(piece["body"] for piece in pieces) == b"".join(parts)
    assert all(piece["more_body"] for piece in pieces)
    assert not end.get("more_body")
    assert (b"content-length", str(2 * PIECE_BYTES + 9).encode()) in start["headers"]
    assert (b"content-type", b"application/json") in start["headers"]


def test_the_messages_of_a_large_answer_are_never_joined(
    patient: TestClient, all_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(wire, "PIECE_BYTES", 16)
    original = JsonInPieces.__call__

    async def watched(self: JsonInPieces, scope: Any, receive: Any, send: Any) -> None:
        async def counting(message: Any) -> None:
            sizes.append(len(message.get("body", b"")))
            await send(message)

        await original(self, scope, receive, counting)

    monkeypatch.setattr(JsonInPieces, "__call__", watched)
    answer = post(patient, "/assemble", {"sessionId": "pieces", "messages": LONG, "inject": "block"})
    assert answer["messages"] == LONG
    assert max(sizes) == 16


def test_a_text_that_is_too_long_is_refused_however_long(client: TestClient) -> None:
    answer = client.post("/assemble", json={"sessionId": "s" * 600_000, "messages": LONG})
    assert problem(answer, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == "sessionId"


def test_large_members_that_nobody_reads_are_left_out_and_the_context_is_bounded(client: TestClient) -> None:
    tools = [{"name": "x"}] * 6000
    body = {"sessionId": "s", "messages": LONG, "availableTools": tools, "else": tools, "model": "m" * 600_000}
    answer = post(client, "/assemble", body)
    assert (answer["messages"], answer["recall"]) == (LONG, None), "preflight, because there are tools"
    refused = client.post("/assemble", json={**body, "runtimeContext": {"x": "y" * 1_100_000}})
    assert problem(refused, 400, Reason.INVALID_REQUEST)["errors"][0]["field"] == "runtimeContext"
    assert client.post("/compact", json={**body, "deadlineMs": 2000}).status_code == 200
