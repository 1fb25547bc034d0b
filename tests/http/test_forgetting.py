"""``POST /memories/forget``: a look first, one memory by a query, all at a URI."""

from typing import Any

import pytest
from starlette.testclient import TestClient


def store(client: TestClient, text: str, **more: Any) -> dict[str, Any]:
    return client.post("/memories", json={"text": text, **more}).json()


def texts(client: TestClient) -> set[str]:
    return {memory["text"] for memory in client.get("/memories").json()["memories"]}


def forget(client: TestClient, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = client.post("/memories/forget", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_without_being_told_it_only_looks(client: TestClient) -> None:
    memory = store(client, "Mia likes green tea.")
    for selection in ({"id": memory["id"]}, {"uri": memory["uri"]}, {"query": "green tea"}):
        receipt = forget(client, **selection)
        selected = {name: memory[name] for name in ("id", "uri", "category")}
        assert (receipt["dryRun"], receipt["selected"]) == (True, [selected])
        assert (receipt["removed"]["memories"], receipt["removed"]["turns"]) == (1, 0)
    assert texts(client) == {"Mia likes green tea."}


@pytest.mark.parametrize("by", ["id", "uri", "query"])
def test_what_is_selected_is_forgotten_and_nothing_else(client: TestClient, by: str) -> None:
    stored = store(client, "Mia likes green tea.")
    store(client, "Mia has a cat.")
    memory = {**client.get(f"/memories/{stored['id']}").json(), "query": "green tea"}
    receipt = forget(client, **{by: memory[by], "dryRun": False})
    assert (receipt["dryRun"], receipt["removed"]["memories"]) == (False, 1)
    assert [one["id"] for one in receipt["selected"]] == [memory["id"]]
    assert texts(client) == {"Mia has a cat."}


def test_a_query_that_could_mean_several_forgets_none(client: TestClient) -> None:
    both = {store(client, "Mia likes green tea.")["id"], store(client, "The tea shop is on Main Street.")["id"]}
    for query in ("tea", "what Mia drinks with her tea"):
        problem = forget(client, 409, query=query, dryRun=False)
        assert problem["code"] == "ambiguous"
        assert {candidate["id"] for candidate in problem["candidates"]} == both
    assert len(texts(client)) == 2


def test_a_file_in_which_several_stand_means_several(client: TestClient) -> None:
    before = store(client, "Mia likes green tea.")["uri"]
    store(client, "Mia has a cat.")
    problem = forget(client, 409, uri=before, dryRun=False)
    assert len(problem["candidates"]) == 2
    assert forget(client, uri=problem["candidates"][0]["uri"], dryRun=False)["removed"]["memories"] == 1
    assert len(texts(client)) == 1


def test_what_matches_nothing_is_an_empty_receipt_and_an_unknown_id_404(client: TestClient) -> None:
    store(client, "Mia likes green tea.")
    for selection in ({"query": "zeppelin"}, {"uri": "viking://~/memories/nowhere.md"}):
        receipt = forget(client, **selection, dryRun=False)
        assert (receipt["selected"], set(receipt["removed"].values())) == ([], {0})
    assert forget(client, 404, id="m_nobody")["code"] == "not_found"


@pytest.mark.parametrize(
    "body", [{}, {"id": "m_1", "query": "x"}, {"query": "  "}, {"everything": False}, {"id": "m_1", "dryRun": "no"}]
)
def test_exactly_one_selection(client: TestClient, body: dict[str, Any]) -> None:
    assert forget(client, 400, **body)["code"] == "invalid_request"


def test_another_tenant_forgets_nothing(client: TestClient) -> None:
    memory = store(client, "Mia likes green tea.")
    other = {"X-OpenViking-User": "mallory"}
    assert client.post("/memories/forget", json={"id": memory["id"], "dryRun": False}, headers=other).status_code == 404
    for selection in ({"uri": memory["uri"]}, {"query": "green tea"}):
        answer = client.post("/memories/forget", json={**selection, "dryRun": False}, headers=other)
        assert answer.json()["selected"] == []
    assert texts(client) == {"Mia likes green tea."}
