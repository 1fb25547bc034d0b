"""What a memory takes over of one that says the same, when a check merges them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.memories.memory import Sensitivity, highest
from app.embedded.index.documents import file_entries
from app.text.dates import iso
from tests.unit.memory_calls import (
    changed,
    duplicates,
    exported,
    imported,
    line,
    listed,
    read,
    served,
    stored,
)

TEXT = "My money is at the savings bank."
EARLY, LATE = "2026-03-04T09:00:00.000Z", "2026-03-05T09:00:00.000Z"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path / "data") as client:
        yield client


def merged(client: TestClient, first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """The first of two once a check has merged them."""
    lines = line("m_1", TEXT, EARLY, **first), line("m_2", TEXT, LATE, **second)
    assert imported(client, *lines)["imported"] == 2
    assert duplicates(client) == [{"m_1", "m_2"}]
    assert read(client, "m_2")["state"] == "superseded"
    return exported(client)["m_1"]


def in_days(days: float) -> str:
    return iso(datetime.now(UTC) + timedelta(days=days))


def test_the_key_goes_on_to_the_one_that_stays(client: TestClient) -> None:
    first = stored(client, TEXT, category="entities")
    second = stored(client, "The bank is the blue one.", category="profile", key="bank")
    changed(client, second, text=TEXT)
    assert duplicates(client) == [{first, second}]
    assert exported(client)[first]["key"] == "bank"
    last = stored(client, "The account is at the red bank.", key="bank")
    assert listed(client) == [last]


def test_a_key_of_its_own_stays(client: TestClient) -> None:
    assert merged(client, {"key": "bank"}, {"key": "money"})["key"] == "bank"


def test_a_key_that_another_has_stays_there(client: TestClient) -> None:
    imported(client, line("m_3", "The red bank is closed.", key="bank"))
    assert merged(client, {}, {"key": "bank"})["key"] is None
    assert exported(client)["m_3"]["key"] == "bank"


def test_a_key_of_somebody_else_is_no_hindrance(client: TestClient) -> None:
    imported(client, line("m_3", "The red bank is closed.", key="bank", peer="tim"))
    assert merged(client, {}, {"key": "bank"})["key"] == "bank"


@pytest.mark.parametrize(
    ("name", "first", "second", "is_"),
    [
        ("sensitivity", "low", "high", "high"),
        ("sensitivity", "high", "medium", "high"),
        ("confidence", 0.9, 1.0, 1.0),
        ("confidence", 1.0, 0.9, 1.0),
        ("pinned", True, False, True),
    ],
)
def test_the_higher_mark_counts(client: TestClient, name: str, first: Any, second: Any, is_: Any) -> None:
    assert merged(client, {name: first}, {name: second})[name] == is_


def test_of_several_that_are_pinned_the_oldest_stays_so(client: TestClient) -> None:
    assert merged(client, {"pinned": True}, {"pinned": True})["pinned"] is True


@pytest.mark.parametrize(("first", "second"), [(10, None), (None, 10), (None, None)])
def test_what_one_says_for_good_is_for_good(client: TestClient, first: float | None, second: float | None) -> None:
    ends = [days and in_days(days) for days in (first, second)]
    assert merged(client, {"expiresAt": ends[0]}, {"expiresAt": ends[1]})["expiresAt"] is None


@pytest.mark.parametrize(("first", "second"), [(10, 30), (30, 10)])
def test_of_two_ends_the_later_counts(client: TestClient, first: float, second: float) -> None:
    ends = [in_days(days) for days in (first, second)]
    seen = merged(client, {"expiresAt": ends[0]}, {"expiresAt": ends[1], "lastConfirmedAt": LATE})
    assert (seen["expiresAt"], seen["lastConfirmedAt"]) == (max(ends), LATE)


def test_a_merge_stands_in_the_history(client: TestClient) -> None:
    seen = merged(client, {}, {"key": "bank", "sensitivity": "high"})
    assert (seen["version"], [one["reason"] for one in seen["history"]]) == (2, ["merged"])


def test_what_says_the_same_under_a_key_is_not_replaced(client: TestClient, tmp_path: Path) -> None:
    told = {"kind": "turn", "session": "one", "turnId": "t_1", "at": LATE}
    merged(client, {}, {"key": "bank", "sources": [told]})
    [file] = tmp_path.rglob("stored-0001.md")
    entries = file_entries("memories/notes/stored-0001.md", file.read_text(), 0.0, "viking://user/u")
    assert [one.document.replaces for one in entries if one.document] == [""]


def test_levels_are_in_order() -> None:
    assert highest("medium", "high", "low") is Sensitivity.HIGH
    assert highest("low", "medium") is Sensitivity.MEDIUM
    assert highest("odd") is Sensitivity.LOW
