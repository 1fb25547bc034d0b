"""What is stored again in the same words: the same memory, with what is asked for now."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.unit.memory_calls import changed, read, served, sessions, stored

TEXT = "My money is at the savings bank."


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path / "data") as client:
        yield client


@pytest.mark.parametrize(
    ("name", "first", "again", "shown", "is_"),
    [
        ("sensitivity", "low", "high", "sensitivity", "high"),
        ("sensitivity", "high", "low", "sensitivity", "high"),
        ("importance", "normal", "high", "confidence", 1.0),
        ("importance", "high", "normal", "confidence", 1.0),
    ],
)
def test_of_what_is_stored_again_the_higher_counts(
    client: TestClient, name: str, first: str, again: str, shown: str, is_: Any
) -> None:
    memory = stored(client, TEXT, **{name: first})
    assert stored(client, TEXT, "two", **{name: again}) == memory
    assert (read(client, memory)[shown], sessions(read(client, memory))) == (is_, {"one", "two"})


def test_what_the_text_suggests_is_no_wish(client: TestClient) -> None:
    """A person who has called it harmless is not overruled by the next one who stores it and says nothing."""
    text = "My salary is paid on the last day of the month."
    memory = stored(client, text)
    assert read(client, memory)["sensitivity"] != "low"
    changed(client, memory, sensitivity="low")
    assert stored(client, text) == memory
    assert read(client, memory)["sensitivity"] == "low"
    stored(client, text, sensitivity="medium")
    assert read(client, memory)["sensitivity"] == "medium"
