"""``GET /recalls`` and its pages over HTTP, on the embedded backend."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from app.api.recalls_schema import RecallList
from app.core.json.answers import adapter
from app.core.recall.trace import RecallTrace
from tests.http.conftest import Start

ALICE = {"X-OpenViking-Account": "acme", "X-OpenViking-User": "alice"}
BOB = {"X-OpenViking-Account": "acme", "X-OpenViking-User": "bob"}


def ask(client: TestClient, text: str, session: str = "s1", headers: dict[str, str] = ALICE) -> dict[str, Any]:
    body = {"sessionId": session, "messages": [{"role": "user", "content": text}]}
    answer = client.post("/assemble", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    recall: dict[str, Any] = answer.json()["recall"]
    return recall


def test_every_recall_can_be_looked_up_by_its_trace_id(client: TestClient) -> None:
    recall = ask(client, "which tea do I like?")
    trace = client.get(f"/recalls/{recall['traceId']}", headers=ALICE).json()
    assert trace["traceId"] == recall["traceId"]
    assert trace["accountKey"] == "acme/alice"
    assert trace["searches"][0]["target"] == "memories"
    assert trace["query"] is None and trace["queryChars"] == len("which tea do I like?")
    assert "tea" not in str(trace)
    assert "tea" not in str(client.get("/recalls", headers=ALICE).json())
    assert trace.keys() == adapter(RecallTrace).json_schema(mode="serialization")["properties"].keys()


def test_trace_and_page_say_which_messages_a_follow_up_was_searched_with(client: TestClient) -> None:
    said = ["What is the capital of Peru?", "Where does my brother work?", "thanks!", "and my sister?"]
    messages = [{"role": "user", "content": text} for text in said]
    recall = client.post("/assemble", json={"sessionId": "s1", "messages": messages}, headers=ALICE).json()["recall"]
    assert recall["query"] == "and my sister?\nWhere does my brother work?"
    assert client.get(f"/recalls/{recall['traceId']}", headers=ALICE).json()["turns"] == [0, 2]
    shown = client.get(f"/ui/recalls/{recall['traceId']}", headers=ALICE).text
    assert "the user's latest message and the one 2 before" in " ".join(shown.split())
    alone = ask(client, "Where do I live?")
    assert "follow-up" not in client.get(f"/ui/recalls/{alone['traceId']}", headers=ALICE).text


def test_another_tenant_can_not_see_it(client: TestClient) -> None:
    recall = ask(client, "which tea do I like?")
    for path in (f"/recalls/{recall['traceId']}", f"/ui/recalls/{recall['traceId']}"):
        assert client.get(path, headers=BOB).status_code == 404
    assert client.get("/recalls", headers=BOB).json() == {"recalls": [], "nextCursor": None}
    assert recall["traceId"] not in client.get("/ui/recalls", headers=BOB).text


def test_the_list_is_newest_first_and_paged(client: TestClient) -> None:
    made = [ask(client, f"which tea do I like, {n}?")["traceId"] for n in range(3)]
    first = client.get("/recalls", params={"limit": 2}, headers=ALICE).json()
    rest = client.get("/recalls", params={"limit": 2, "cursor": first["nextCursor"]}, headers=ALICE).json()
    listed = [line["traceId"] for line in (*first["recalls"], *rest["recalls"])]
    assert RecallList.model_validate(first).model_dump(by_alias=True, mode="json") == first
    assert sorted(listed) == sorted(made) and len(rest["recalls"]) == 1
    assert [line["at"] for line in first["recalls"]] == sorted((r["at"] for r in first["recalls"]), reverse=True)


def test_the_list_by_session_as_the_host_names_it(client: TestClient) -> None:
    ask(client, "which tea do I like?", session="a:b")
    ask(client, "which tea do I like?", session="other")
    assert len(client.get("/recalls", params={"session": "a:b"}, headers=ALICE).json()["recalls"]) == 1


def test_the_list_by_the_key_of_a_session_that_has_an_id_of_its_own(client: TestClient) -> None:
    named = {"sessionId": "7f1c1a52-6d1e-4f6e-9d0b-3f1b8f6c2a10", "sessionKey": "agent:main:chat"}
    body = {**named, "messages": [{"role": "user", "content": "which tea do I like?"}]}
    assert client.post("/assemble", json=body, headers=ALICE).status_code == 200
    ask(client, "which tea do I like?", session="other")
    for name in named.values():
        [found] = client.get("/recalls", params={"session": name}, headers=ALICE).json()["recalls"]
        assert (found["session"], found["sessionKey"]) == tuple(named.values())


@pytest.mark.parametrize(("since", "count"), [("2020-01-01", 1), ("4102444800", 0), ("4102444800000", 0)])
def test_the_list_since_a_time(client: TestClient, since: str, count: int) -> None:
    ask(client, "which tea do I like?")
    assert len(client.get("/recalls", params={"since": since}, headers=ALICE).json()["recalls"]) == count


@pytest.mark.parametrize("query", [{"since": "soon"}, {"limit": 0}, {"limit": "x"}, {"cursor": "a b"}])
def test_a_bad_query_is_named(client: TestClient, query: dict[str, Any]) -> None:
    answer = client.get("/recalls", params=query)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"].endswith(next(iter(query)))


def test_an_unknown_trace_is_not_found(client: TestClient) -> None:
    assert client.get("/recalls/r0").json()["code"] == "not_found"
    assert client.get("/ui/recalls/r0").status_code == 404


def test_tokens_guard_the_pages_too(start: Start) -> None:
    client = start(auth={"tokens": "secret"})
    for path in ("/recalls", "/recalls/r0", "/ui/recalls", "/ui/recalls/r0"):
        assert client.get(path).status_code == 401
