"""The guards over HTTP: a prompt fits whatever its tools put out, and all of that can be read again."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.messages.host_message import tokens_of
from tests.http.conftest import Start
from tests.http.test_lifecycle import post
from tests.messages import typed

BUDGET = 100_000
LAST = "FAILED tests/test_pay.py::test_refund - AssertionError: 40 != 41"
HUGE = "\n".join([f"line {n}: the worker has handled request {n * 7919 % 100_003}" for n in range(60_000)])
HUGE = f"{HUGE}\n{LAST}\n1 failed, 59999 passed in 80.2s\n(Command exited with code 1)"


@pytest.fixture
def client(start: Start) -> TestClient:
    """Time enough for a process to start on a busy machine."""
    return start(limits={"assemble_ms": 60_000})


def session(output: str, call_id: str = "call_1") -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "Run the tests.", "timestamp": 1_770_000_000_000},
        {
            "role": "assistant",
            "content": [{"type": "toolCall", "id": call_id, "name": "exec", "arguments": {"command": "pytest"}}],
            "timestamp": 1_770_000_001_000,
        },
        {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": "exec",
            "content": [{"type": "text", "text": output}],
            "timestamp": 1_770_000_002_000,
        },
    ]


def preflight(client: TestClient, messages: list[Any], budget: int = BUDGET, **more: Any) -> dict[str, Any]:
    body = {"sessionId": "s1", "phase": "preflight", "messages": messages, "tokenBudget": budget, **more}
    return post(client, "/assemble", body)


def text_of(message: dict[str, Any]) -> str:
    return str(message["content"][0]["text"])


def read(client: TestClient, **arguments: Any) -> dict[str, Any]:
    return post(client, "/tools/ov_tool_result", {"sessionId": "s1", "arguments": arguments})


def read_all(client: TestClient, call_id: str) -> str:
    pages, offset = [], 0
    while offset is not None:
        answer = read(client, callId=call_id, offset=offset, limit=32_000)
        assert answer["ok"], answer
        pages.append(answer["details"]["text"])
        offset = answer["details"]["nextOffset"]
    return "".join(pages)


@pytest.mark.long
def test_of_three_megabytes_both_ends_and_the_error_are_shown_and_the_rest_is_read_byte_for_byte(
    client: TestClient,
) -> None:
    answer = preflight(client, session(HUGE))
    assert (answer["status"], answer["reason"]) == ("assembled", "ok")
    assert answer["estimatedTokens"] <= BUDGET and tokens_of(typed(answer["messages"])) <= BUDGET
    shown = text_of(answer["messages"][-1])
    assert shown.startswith("line 0: ") and shown.endswith("(Command exited with code 1)") and LAST in shown
    notice = next(line for line in shown.splitlines() if "ov_tool_result" in line)
    assert f"{len(HUGE):,}" in notice and '"callId": "call_1"' in notice
    (note,) = answer["guards"]
    assert (note["kind"], note["callId"]) == ("truncated", "call_1")
    assert len(HUGE) - len(shown) - 300 < note["chars"] < len(HUGE)
    offset = json.loads(notice[notice.index("{") : notice.rindex("}") + 1])["offset"]
    assert shown.startswith(HUGE[: offset - 1]) and not shown.startswith(HUGE[: offset + 1])
    assert read_all(client, "call_1") == HUGE
    found = read(client, callId="call_1", query="test_refund")
    assert LAST in found["content"][0]["text"] and HUGE[found["details"]["matches"][0]["offset"] :].startswith(LAST)


def test_what_was_cut_stays_the_same_bytes_over_turns_and_a_restart(start: Start, tmp_path: Any) -> None:
    history = session(HUGE[:400_000])
    first = start(data_dir=tmp_path / "one")
    before = preflight(first, history)["messages"][-1]
    history += [{"role": "assistant", "content": "One failed."}, {"role": "user", "content": "Which?"}]
    assert preflight(first, history)["messages"][2] == before
    second = start(data_dir=tmp_path / "one")
    assert preflight(second, history, budget=BUDGET + 5_000)["messages"][2] == before
    assert read_all(second, "call1") == HUGE[:400_000]  # a host may drop the underscore


def test_its_own_answer_comes_back_as_it_went(client: TestClient) -> None:
    answer = preflight(client, session(HUGE[:600_000]))
    again = preflight(client, answer["messages"])
    assert again["messages"] == answer["messages"] and again["guards"] == answer["guards"]
    assert read_all(client, "call_1") == HUGE[:600_000]


def test_outputs_of_another_tenant_or_session_are_not_there(client: TestClient) -> None:
    preflight(client, session(HUGE[:400_000]))
    body = {"sessionId": "s1", "arguments": {"callId": "call_1"}}
    other = client.post("/tools/ov_tool_result", json=body, headers={"X-OpenViking-User": "bob"}).json()
    assert not other["ok"] and "line 0" not in json.dumps(other)
    assert not post(client, "/tools/ov_tool_result", {**body, "sessionId": "s2"})["ok"]
    assert not post(client, "/tools/ov_tool_result", {"arguments": {"callId": "call_1"}})["ok"]


def test_mistakes_of_the_model_are_answered(client: TestClient) -> None:
    assert "No output" in read(client, callId="nope")["content"][0]["text"]
    preflight(client, session(HUGE[:400_000]))
    assert "call_1" in read(client, callId="nope")["content"][0]["text"]
    assert "smaller offset" in read(client, callId="call_1", offset=400_000)["content"][0]["text"]
    assert read(client, callId="call_1", limit=10**6)["details"]["count"] == 32_000
    assert read(client, callId="call_1")["details"]["count"] == 8_000
    assert read(client, callId="call_1", query="xyzzy")["details"]["matches"] == []


def test_a_secret_in_an_output_is_masked_where_it_is_kept(client: TestClient, tmp_path: Any) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    preflight(client, session(f"{HUGE[:200_000]}\nGITHUB_TOKEN={secret}\n{HUGE[200_000:400_000]}"))
    kept = read_all(client, "call_1")
    assert secret not in kept and "GITHUB_TOKEN" in kept


@pytest.mark.parametrize("selection", [{"everything": True}, {"session": "s1"}])
def test_forgetting_erases_originals_and_a_prompt_does_not_bring_them_back(
    client: TestClient, selection: dict[str, Any]
) -> None:
    preflight(client, session(HUGE[:400_000]))
    receipt = post(client, "/memories/forget", {**selection, "dryRun": False})
    assert receipt["kept"] == []
    assert not read(client, callId="call_1")["ok"]
    preflight(client, session(HUGE[:400_000]))
    assert "not kept any more" in read(client, callId="call_1")["content"][0]["text"]


def test_a_forgotten_statement_is_taken_out_of_originals(client: TestClient) -> None:
    fact = "The north tower is looked after by Orsino 73."
    assert client.post("/memories", json={"text": fact}).status_code == 201
    preflight(client, session(f"{HUGE[:200_000]}\n{fact}\n{HUGE[200_000:400_000]}"))
    memory = client.get("/memories").json()["memories"][0]
    assert fact in read_all(client, "call_1")
    receipt = post(client, "/memories/forget", {"id": memory["id"], "dryRun": False})
    assert receipt["kept"] == []
    left = read_all(client, "call_1")
    assert "Orsino 73" not in left and len(left) > 390_000


TOWER = "The north tower is looked after by Orsino 73."
TELLING = f"{HUGE[:200_000]}\n{TOWER}\n{HUGE[200_000:400_000]}"


def captured(client: TestClient, messages: list[Any], **more: Any) -> None:
    """A turn that no prompt was cut for yet."""
    answer = post(client, "/after-turn", {"sessionId": "s1", "messages": messages, "wait": True, **more})
    assert answer["status"] == "committed"


def untimed(messages: list[Any]) -> list[Any]:
    """The messages of a host that says no times."""
    return [{name: value for name, value in one.items() if name != "timestamp"} for one in messages]


@pytest.mark.parametrize("style", [list, untimed], ids=["timed", "untimed"])
@pytest.mark.parametrize("by", ["session", "person", "everything", "lastDays"])
def test_a_later_prompt_does_not_bring_back_an_output_of_a_forgotten_turn(
    client: TestClient, by: str, style: Callable[[list[Any]], list[Any]]
) -> None:
    messages = style(session(TELLING))
    captured(client, messages, senderId="mallory")
    selection = {"session": "s1", "person": "mallory", "everything": True, "lastDays": 100_000 / 24}[by]
    assert post(client, "/memories/forget", {by: selection, "dryRun": False})["kept"] == []
    answer = preflight(client, messages)
    assert [note["callId"] for note in answer["guards"]] == ["call_1"], "it is cut all the same"
    assert "not kept any more" in read(client, callId="call_1")["content"][0]["text"]
    again = style(session(TELLING.replace("handled", "seen"), "call_2"))
    later = [{**one, "timestamp": 4_000_000_000_000} if "timestamp" in one else one for one in again]
    preflight(client, [*messages, *later])
    assert TOWER in read_all(client, "call_2"), "what is put out since is kept"


@pytest.mark.parametrize("style", [list, untimed], ids=["timed", "untimed"])
def test_a_later_prompt_does_not_bring_back_what_was_forgotten(
    client: TestClient, style: Callable[[list[Any]], list[Any]]
) -> None:
    messages = style(session(TELLING))
    captured(client, messages)
    memory = client.post("/memories", json={"text": TOWER}).json()
    assert post(client, "/memories/forget", {"id": memory["id"], "dryRun": False})["kept"] == []
    preflight(client, messages)
    left = read_all(client, "call_1")
    assert "Orsino 73" not in left and len(left) > 390_000
    assert "Orsino 73" not in read(client, callId="call_1", query="Orsino")["content"][0]["text"]


def test_a_reset_begins_anew(client: TestClient) -> None:
    preflight(client, session(HUGE[:400_000]))
    post(client, "/sessions/reset", {"sessionId": "s1"})
    assert not read(client, callId="call_1")["ok"]


def test_what_was_cut_is_in_the_trace_and_on_the_page(client: TestClient) -> None:
    preflight(client, session(HUGE[:400_000]))
    (line,) = client.get("/recalls", params={"session": "s1"}).json()["recalls"]
    trace = client.get(f"/recalls/{line['traceId']}").json()
    assert [note["kind"] for note in trace["guards"]] == ["truncated"]
    assert "truncated" in client.get(f"/ui/recalls/{line['traceId']}").text


def test_in_full_the_recalls_trace_has_it(client: TestClient) -> None:
    history = [*session(HUGE[:400_000]), {"role": "assistant", "content": "Done."}]
    history.append({"role": "user", "content": "Which test of the payments failed, and why did it?"})
    answer = preflight(client, history, phase="full")
    trace = client.get(f"/recalls/{answer['recall']['traceId']}").json()
    assert trace["guards"] == answer["guards"] != []


@pytest.mark.parametrize(
    ("name", "value"), [("TOOL_OUTPUT_SHARE", "0"), ("MODE", "sometimes"), ("KEEP_TURNS", "-1"), ("SOFT_RATIO", "0.9")]
)
def test_a_bad_setting_keeps_the_service_from_starting(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from app.cli import main

    monkeypatch.setenv(f"SIDECAR_GUARDS__{name}", value)
    assert main(["doctor"]) != 0
    assert name.lower() in capsys.readouterr().err.lower()


def test_the_start_of_a_session_decides_nothing(start: Start) -> None:
    client = start(limits={"assemble_ms": 60_000})
    for number in range(6):
        messages = [
            {"role": "user", "content": f"{number} " + "word " * 400},
            {"role": "assistant", "content": "Fine."},
        ]
        post(client, "/after-turn", {"sessionId": "s1", "messages": messages, "wait": True})
    plain = preflight(client, [])["messages"]
    post(client, "/sessions/start", {"sessionId": "s1", "tokenBudget": 1_000})
    assert preflight(client, [])["messages"] == plain
