"""Two memories that come to say the same: both live on, until one is forgotten or a check makes one of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.scan import places_of
from tests.unit.memory_calls import (
    changed,
    duplicates,
    exported,
    imported,
    line,
    listed,
    read,
    recalled,
    served,
    sessions,
    stored,
)

FERN = "The office wifi is called Fern."
ROUTER = "The router stands in the kitchen."


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr("app.embedded.index.index._SCAN_SHARE", 0)  # edited files are looked for at once
    with served(tmp_path / "data") as client:
        yield client


@pytest.fixture
def pair(client: TestClient) -> tuple[str, str]:
    """Two that say the same, the first of them pinned; of the second, that is what it was changed to."""
    first = stored(client, FERN, "one", pinned=True)
    second = stored(client, ROUTER, "two")
    changed(client, second, text=FERN)
    return first, second


def test_both_are_listed_read_and_exported(client: TestClient, pair: tuple[str, str]) -> None:
    first, second = pair
    assert listed(client) == sorted(pair)
    assert (read(client, first)["pinned"], sessions(read(client, first))) == (True, {"one"})
    assert [one["text"] for one in read(client, second)["history"]] == [ROUTER]
    assert {one: told["text"] for one, told in exported(client).items()} == dict.fromkeys(pair, FERN)
    places = {read(client, one)["uri"] for one in pair}
    assert len(places) == 2
    assert len({place.partition("#")[0] for place in places}) == 1


def test_recall_says_it_once(client: TestClient, pair: tuple[str, str]) -> None:
    query = "what is the office wifi called?"
    assert recalled(client, query).count("Fern") == 1
    assert len(listed(client, query=query)) == 1


def test_each_of_them_changes_alone(client: TestClient, pair: tuple[str, str]) -> None:
    first, second = pair
    changed(client, first, text="The office wifi is called Oak.")
    assert (read(client, first)["text"], read(client, second)["text"]) == ("The office wifi is called Oak.", FERN)
    changed(client, second, pinned=True)
    assert (read(client, first)["version"], read(client, second)["version"]) == (2, 3)


def test_an_index_that_is_made_anew_has_both(client: TestClient, pair: tuple[str, str], tmp_path: Path) -> None:
    [index] = tmp_path.rglob("index.db")
    index.unlink()
    assert listed(client) == sorted(pair)


def test_lines_of_an_import_that_say_the_same_are_two(client: TestClient) -> None:
    assert imported(client, line("m_1", FERN), line("m_2", FERN))["imported"] == 2
    assert [read(client, one)["text"] for one in ("m_1", "m_2")] == [FERN, FERN]


def test_a_check_makes_one_of_them_with_the_sources_of_both(client: TestClient, pair: tuple[str, str]) -> None:
    first, second = pair
    assert duplicates(client) == [{first, second}]
    assert listed(client) == [first]
    assert sessions(read(client, first)) == {"one", "two"}
    assert [one["reason"] for one in read(client, first)["history"]] == ["merged"]
    gone = read(client, second)
    assert (gone["state"], gone["history"][-1]["reason"]) == ("superseded", "merged")
    assert set(exported(client)) == {first, second}
    assert duplicates(client) == []


def test_to_forget_one_forgets_what_it_says(client: TestClient, pair: tuple[str, str], tmp_path: Path) -> None:
    """A fact is forgotten where it is kept: in the other one, too, and the receipt names both."""
    receipt = client.delete(f"/memories/{pair[0]}").json()
    assert {one["id"] for one in receipt["selected"]} == set(pair)
    assert (receipt["removed"]["memories"], receipt["kept"]) == (2, [])
    assert [client.get(f"/memories/{one}").status_code for one in pair] == [404, 404]
    assert listed(client) == []
    assert places_of(tmp_path / "data", FERN) == []


def test_to_forget_a_session_leaves_the_one_of_the_other(client: TestClient) -> None:
    told = {"kind": "turn", "turnId": None, "at": "2026-03-04T09:00:00.000Z"}
    lines = [line(f"m_{one}", FERN, sources=[{**told, "session": one}]) for one in ("first", "second")]
    imported(client, *lines)
    asked = {"session": "second", "dryRun": False}
    receipt = client.post("/memories/forget", json=asked).json()
    assert [one["id"] for one in receipt["selected"]] == ["m_second"]
    assert listed(client) == ["m_first"]
    assert read(client, "m_first")["text"] == FERN


def test_of_two_lines_one_is_deleted_with_its_memory(client: TestClient, pair: tuple[str, str], tmp_path: Path) -> None:
    [file] = tmp_path.rglob("stored-0001.md")
    file.write_text(file.read_text().replace(f"- {FERN}\n", "", 1))
    assert len(listed(client)) == 1


def test_a_line_that_is_copied_is_no_memory_more(client: TestClient, tmp_path: Path) -> None:
    stored(client, ROUTER)
    first = stored(client, FERN)
    [file] = tmp_path.rglob("stored-0001.md")
    copied = f"- {FERN}\n" * 2 + "- The safe is red.\n" * 2
    file.write_text(file.read_text().replace(f"- {FERN}\n", copied))
    assert len(listed(client)) == 3
    assert read(client, first)["text"] == FERN
    assert len(client.get("/memories", params={"query": "safe red"}).json()["memories"]) == 1


def test_a_line_that_a_person_wrote_stays_when_another_comes_to_say_the_same(
    client: TestClient, tmp_path: Path
) -> None:
    first = stored(client, ROUTER)
    [file] = tmp_path.rglob("stored-0001.md")
    file.write_text(file.read_text().replace("\n- ", f"\n- {FERN}\n- ", 1))
    [written] = set(listed(client)) - {first}
    changed(client, first, text=FERN)
    assert listed(client) == sorted({first, written})
    assert [read(client, one)["text"] for one in (first, written)] == [FERN, FERN]
    assert imported(client, line("m_3", FERN))["imported"] == 1
    assert len(listed(client)) == 3


def test_the_text_with_a_key_is_the_one_that_has_the_key(client: TestClient) -> None:
    first = stored(client, FERN, pinned=True)
    second = stored(client, ROUTER, key="wifi")
    changed(client, second, text=FERN)
    assert stored(client, FERN, key="wifi") == second
    assert read(client, first)["state"] == "live"
