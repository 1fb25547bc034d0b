"""MEMORY.md and its neighbours on the embedded engine: distilled from memories, and what a person edits wins."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.core.memories.memory import Memory, Sensitivity
from app.embedded.storage.long_term_file import (
    Edits,
    edits_of,
    is_for_the_page,
    page_text,
    page_without,
    read_page,
)
from app.factory import create_app
from app.settings import Settings
from app.text.words import tokens
from tests.http.test_memories import block, listed, said, store
from tests.http.test_session_start import begun, shown
from tests.scan import places_of

AT = "2026-03-04T09:00:00.000Z"


def memory(number: int, text: str = "", category: str = "preferences") -> Memory:
    return Memory(f"m_{number}", "viking://~/memories/x.md", category, text or f"I prefer shade {number}.", AT, AT)


TEXTS = {"m_1": "My name is Mia.", "m_2": "I prefer shade 2."}
TWO = page_text([memory(1, "My name is Mia.", "profile"), memory(2)], frozenset({"m_9"}))


def test_a_page_reads_well() -> None:
    assert TWO.startswith(
        "# Long-term Memory\n\n## Profile\n\n- My name is Mia.\n\n## User Preferences\n\n- I prefer shade 2.\n\n<!-- "
    )
    assert edits_of(read_page(TWO), TEXTS) == Edits(left_out=frozenset({"m_9"})) and page_text([], frozenset()) == ""


@pytest.mark.parametrize(
    ("edited", "edits"),
    [
        (("My name is Mia.", "My name is Anna."), Edits({"m_1": "My name is Anna."})),
        (("- My name is Mia.\n", ""), Edits(left_out=frozenset({"m_1"}))),
        (
            ("- My name is Mia.\n", "- The car is red.\n"),
            Edits(added=("The car is red.",), left_out=frozenset({"m_1"})),
        ),
        (("- I prefer shade 2.\n", "- I prefer shade 2.\n- I like tea.\n"), Edits(added=("I like tea.",))),
        (("<!-- distilled", "<!-- mangled"), Edits(added=("My name is Mia.", "I prefer shade 2."))),
    ],
)
def test_what_a_person_did_is_told_from_what_was_written(edited: tuple[str, str], edits: Edits) -> None:
    found = edits_of(read_page(TWO.replace(*edited)), TEXTS)
    assert (found.changed, found.left_out - {"m_9"}) == (edits.changed, edits.left_out)
    assert [one for one in found.added if not one.startswith("<!--")] == list(edits.added)


BELOW = "- I have a cat."
CODE = "```sh\n# deploy\nmake it\n```"
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        (TWO + f"{BELOW}\n", Edits(added=("I have a cat.",))),
        (TWO.rstrip("\n") + BELOW, Edits(added=("I have a cat.",))),
        (TWO + TWO, Edits(added=("My name is Mia.", "I prefer shade 2."))),
        (TWO.replace("Mia", "Anna") + BELOW, Edits({"m_1": "My name is Anna."}, ("I have a cat.",))),
        (TWO.replace("\n", "\r\n") + BELOW, Edits(added=("I have a cat.",))),
        ("\ufeff" + TWO, Edits()),
        (TWO.replace("- ", "* ", 1).replace("\n- ", "\n+ "), Edits()),
        (TWO.replace("## User", f"{CODE}\n\n{TABLE}\n\n---\n\n<!-- mine -->\n\n## User"), Edits()),
        (TWO.replace("- My", "```\n- My"), Edits(added=("```",))),
        (TWO.replace('{"lines": [[', '{"lines": [') + BELOW, Edits(added=(*TEXTS.values(), "I have a cat."))),
        ("<!-- distilled: {\n" + TWO + "<!-- distilled: 5 -->\n", Edits()),
    ],
)
def test_only_statements_of_a_page_are_memories_wherever_they_stand(text: str, edits: Edits) -> None:
    found = edits_of(read_page(text), TEXTS)
    assert replace(found, left_out=found.left_out - {"m_9"}) == edits


def test_code_and_tables_stay_in_the_page_and_forgetting_reaches_them() -> None:
    own = (CODE, TABLE, "<!-- mine -->")
    text = page_text([memory(2)], frozenset(), own)
    assert read_page(text).own == own and page_without(text, (), str) == text
    left = page_without(text, {"m_2"}, lambda said: said.replace("| 1 | 2 |", ""))
    assert left and "1 | 2" not in left and CODE in left and "shade" not in left


@given(st.lists(st.text(max_size=300), max_size=30))
def test_any_memories_make_a_page_that_reads_back_unedited(texts: list[str]) -> None:
    text = page_text([memory(n, one) for n, one in enumerate(texts)], frozenset())
    edits = edits_of(read_page(text), {})
    assert edits == Edits() and (not text or page_without(text, (), str) == text)


@pytest.mark.parametrize("trailer", ["[]", "5", '{"lines": 5}', '{"lines": [7], "leftOut": []}', "[" * 100_000, "no"])
def test_what_is_no_trailer_of_ours_is_a_line_of_the_person(trailer: str) -> None:
    page = read_page(f"# Memory\n\n- My bicycle is red.\n\n<!-- distilled: {trailer} -->\n")
    assert page.written == () and "My bicycle is red." in page.said


def test_it_has_fewer_than_2000_words_in_any_language() -> None:
    for words in ("word " * 30, "我喜欢在春天的早晨喝茶看书" * 5):
        text = page_text([memory(n, f"{n} {words}") for n in range(400)], frozenset())
        assert 1_000 < len(tokens(text.partition("<!--")[0])) < 2_000


def test_only_what_lasts_stands_there() -> None:
    assert is_for_the_page(memory(1))
    assert not is_for_the_page(replace(memory(1), expires_at=AT)) and not is_for_the_page(replace(memory(1), peer="x"))
    secret = replace(memory(1), sensitivity=Sensitivity.HIGH)
    assert not is_for_the_page(secret) and is_for_the_page(replace(secret, pinned=True))


# in the service


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    values = {"start": {"persona": True, "notes": True}}
    with TestClient(create_app(Settings(_env_file=None, data_dir=tmp_path, log_level="error", **values))) as client:  # type: ignore[arg-type]
        yield client


def page(tmp_path: Path) -> Path:
    return next(tmp_path.glob("accounts/*/*")) / "memories" / "MEMORY.md"


def test_an_edit_of_a_line_is_a_change_of_its_memory(client: TestClient, tmp_path: Path) -> None:
    memory = store(client, "I prefer green tea in the morning.")
    store(client, "I prefer short answers.")
    begun(client)
    path = page(tmp_path)
    edited = path.read_text().replace("green tea", "black tea").replace("- I prefer short answers.\n", "")
    path.write_text(edited.replace("\n\n<!-- dis", "\n- My bicycle is red.\n\n<!-- dis"))
    text = shown(begun(client, "next"))
    assert "black tea" in text and "green tea" not in text and "short answers" not in text
    assert client.get(f"/memories/{memory['id']}").json()["text"] == "I prefer black tea in the morning."
    assert "green" not in block(client, "Which tea do I prefer in the morning?")
    assert "My bicycle is red." in path.read_text() and "red" in block(client, "Which colour has my bicycle?")
    store(client, "I prefer window seats.")
    begun(client, "third")
    assert "window seats" in path.read_text() and "short answers" not in path.read_text(), (
        "what was taken out stays out"
    )
    assert path.stat().st_mode & 0o077 == 0


def test_a_line_that_is_appended_to_the_file_is_a_memory_and_an_edit_beside_it_wins(
    client: TestClient, tmp_path: Path
) -> None:
    store(client, "I prefer green tea in the morning.")
    begun(client)
    path = page(tmp_path)
    path.write_text("\ufeff" + path.read_text().replace("green tea", "black tea") + f"{BELOW}\n\n{CODE}\n")
    begun(client, "next")
    texts = {"I prefer black tea in the morning.", "I have a cat."}
    assert {one["text"] for one in listed(client)} == texts
    assert path.read_text().count("<!--") == 1 and CODE in path.read_text() and path.read_text().endswith("-->\n")


@pytest.mark.parametrize(
    "place", ["SOUL.md", "MEMORY.md", "soul.md", "Memory.MD", "SOUL.md/x.md", "profile.md/x.md", "a/B.MD/x.md"]
)
def test_an_import_is_a_memory_and_writes_no_page_whatever_it_names(
    client: TestClient, tmp_path: Path, place: str
) -> None:
    store(client, "My name is Mia.")
    begun(client)
    soul = page(tmp_path).parent / "SOUL.md"
    soul.write_text("You are Kit.\n")
    line = {
        "id": "m_1",
        "category": "notes",
        "uri": f"viking://user/default/memories/{place}",
        "text": "The sea is red.",
    }
    line |= {"createdAt": AT, "updatedAt": AT}
    answer = client.post("/memories/import", content=json.dumps(line), headers={"Content-Type": "application/x-ndjson"})
    assert answer.json()["imported"] == 1 and client.get("/memories/m_1").json()["text"] == "The sea is red."
    assert (soul.read_text(), "The sea" in page(tmp_path).read_text()) == ("You are Kit.\n", False)
    assert {path.name for path in soul.parent.iterdir()} == {"SOUL.md", "MEMORY.md", "notes", "profile"}


def test_the_pages_are_no_memories_and_forgetting_reaches_them(client: TestClient, tmp_path: Path) -> None:
    memory = store(client, "My locker has the number zq7flock.")
    store(client, "My name is Mia.")
    begun(client)
    (page(tmp_path).parent / "SOUL.md").write_text("# Soul\n\nAlways be kind to the zq7flock.\n")
    assert len(listed(client)) == 2 and "zq7flock" in page(tmp_path).read_text()
    assert "- Always be kind to the zq7flock." in shown(begun(client, "next"))
    receipt = client.delete(f"/memories/{memory['id']}").json()
    assert receipt["kept"] == [] and "number zq7flock" not in page(tmp_path).read_text()
    assert "Mia" in page(tmp_path).read_text()
    client.post("/memories/forget", json={"everything": True, "dryRun": False})
    assert not page(tmp_path).exists() and places_of(tmp_path, "My name is Mia", "Always be kind") == []


def test_files_that_can_not_be_read_take_nothing_else_away(client: TestClient, tmp_path: Path) -> None:
    store(client, "My name is Mia.")
    begun(client)
    soul = page(tmp_path).parent / "SOUL.md"
    soul.mkdir()
    assert "Mia" in shown(begun(client, "next"))
    assert [one["text"] for one in listed(client)] == ["My name is Mia."]
    soul.rmdir()
    soul.write_text("Be brief.\n")
    page(tmp_path).unlink()
    page(tmp_path).mkdir()
    text = shown(begun(client, "third"))
    assert "Mia" in text and "Be brief." in text
    assert [one["text"] for one in listed(client)] == ["My name is Mia."]


def test_a_daily_note_tells_what_was_stated_by_its_type(client: TestClient, tmp_path: Path) -> None:
    said(client, "I prefer TypeScript over JavaScript. My name is Mia. We decided to ship Atlas on Friday.")
    client.post("/compact", json={"sessionId": "chat"})
    [note] = next(tmp_path.glob("accounts/*/*")).glob("memory/*.md")
    lines = note.read_text().split("\n")
    assert "- O: I prefer TypeScript over JavaScript." in lines and "- W: My name is Mia." in lines
    assert "- B: We decided to ship Atlas on Friday." in lines
    assert "My name is Mia." in page(tmp_path).read_text()
