"""Where weeks of talk are stored: what belongs to an answer comes with it, and nothing to what nothing answers."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start

BERTH = "I moor my boat Marlin at berth 14 in Weymouth."
PUMP = "The bilge pump was serviced in May, and the boat got a new anchor."
QUESTION = "At which berth do I moor my boat Marlin?"


@pytest.fixture
def client(start: Start) -> TestClient:
    return start(embedded={"embedder": {"kind": "none"}})


def tell(client: TestClient, others: int) -> None:
    notes = [f"Note {n}: parcel {n * 37} went to shelf {n * 11}." for n in range(others)]
    texts = [BERTH, *notes, PUMP]
    said = [{"role": "user", "content": text} for text in texts]
    answer = client.post("/after-turn", json={"sessionId": "told", "messages": said, "wait": True}).json()
    assert answer["delivery"] == "delivered" and answer["captured"] == len(texts)


def ask(client: TestClient, text: str) -> str:
    body: dict[str, Any] = {"sessionId": "asking", "messages": [{"role": "user", "content": text}]}
    answer = client.post("/assemble", json=body | {"phase": "transform", "inject": "block"}).raise_for_status().json()
    return str(answer.get("contextBlock") or "")


@pytest.mark.parametrize(("others", "beside"), [(20, False), (600, True)])
def test_what_belongs_to_an_answer_stands_behind_it(client: TestClient, others: int, beside: bool) -> None:
    tell(client, others)
    block = ask(client, QUESTION)
    assert BERTH in block
    assert (PUMP in block) is beside
    assert not beside or block.index(BERTH) < block.index(PUMP)


@pytest.mark.parametrize(
    "prompt", ["Write a haiku about compilers.", "What is 17 times 23?", "What is my sister's name?"]
)
def test_what_nothing_answers_gets_nothing(client: TestClient, prompt: str) -> None:
    tell(client, 600)
    assert ask(client, prompt) == ""
