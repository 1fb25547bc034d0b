"""Why an earlier version of an imported memory holds no more: words of whoever made the file, and under the policy."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.scan import places_of
from tests.unit.memory_calls import exported, imported, line, read, served

AT = "2026-03-04T09:00:00.000Z"
TOKEN = "ghp_R4nd0mLetters1234567890abcdefABCDEF1"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with served(tmp_path / "data") as client:
        yield client


def earlier(reason: str) -> list[dict[str, object]]:
    return [{"version": 1, "text": "The tea is black.", "at": AT, "reason": reason}]


def test_a_secret_in_a_reason_is_written_nowhere(client: TestClient, tmp_path: Path) -> None:
    assert (
        imported(client, line("m_1", "The tea is green.", version=2, history=earlier(f"was {TOKEN}")))["imported"] == 1
    )
    assert read(client, "m_1")["history"][0]["reason"] == "was [secret removed]"
    assert places_of(tmp_path / "data", TOKEN) == []


def test_an_export_comes_back_with_its_reasons(client: TestClient, tmp_path: Path) -> None:
    imported(client, line("m_1", "The tea is green.", version=2, history=earlier("the shop was closed")))
    before = exported(client)
    with served(tmp_path / "other") as other:
        assert imported(other, *before.values()) == {"imported": 1, "skipped": 0, "rejected": []}
        assert exported(other) == before
        assert imported(other, *before.values()) == {"imported": 0, "skipped": 1, "rejected": []}
