"""A bad request names each field that is wrong, however much of it is wrong."""

import tracemalloc
from typing import Any

import pytest
from starlette.testclient import TestClient


def test_each_message_that_is_none_is_named_and_so_is_what_else_is_wrong(client: TestClient) -> None:
    body = {"sessionId": "s1", "messages": [1, {"role": "user"}, {"content": "x"}, {"role": 7}], "tokenBudget": 0}
    answer = client.post("/assemble", json=body)
    assert answer.status_code == 400
    named = {problem["field"] for problem in answer.json()["errors"]}
    assert named == {"messages.0", "messages.2.role", "messages.3.role", "tokenBudget"}


def test_a_senseless_list_costs_little(client: TestClient) -> None:
    """A body within the limit must not take the process down: an error for each item would be a gigabyte here."""
    tracemalloc.start()
    body = b'{"sessionId": "s1", "messages": [' + b",".join([b"0"] * 200_000) + b"]}"
    answer = client.post("/assemble", content=body, headers={"Content-Type": "application/json"})
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answer.status_code == 400
    assert len(answer.json()["errors"]) == 50
    assert most < 20 * 1024 * 1024


@pytest.mark.parametrize(
    ("narrowed", "field"),
    [
        ({"since": "yesterday"}, "recallFilter.since"),
        ({"until": "2026-13-01"}, "recallFilter.until"),
        ({"categories": "notes"}, "recallFilter.categories"),
        ({"excludedCategories": [""]}, "recallFilter.excludedCategories"),
    ],
)
def test_a_filter_that_is_none_is_refused_by_the_name_of_its_field(
    client: TestClient, narrowed: dict[str, Any], field: str
) -> None:
    asked = {"sessionId": "s1", "messages": [{"role": "user", "content": "Which tea?"}], "recallFilter": narrowed}
    answer = client.post("/assemble", json=asked)
    assert answer.status_code == 400
    assert field in answer.json()["errors"][0]["field"]
