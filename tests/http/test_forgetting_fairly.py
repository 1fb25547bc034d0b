"""Forgetting a fact takes it wherever it is said in the same words, and leaves what only shares words with it."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.http.conftest import Start
from tests.http.test_erasure import committed, forget, recalled, settled, turn
from tests.scan import places_of

FACT = "Jürgen lives in Königsberg with his aunt Zoë."


@pytest.fixture
def client(start: Start) -> TestClient:
    return start(embedded={"embedder": {"kind": "none"}})


@pytest.fixture
def left(client: TestClient, tmp_path: Path) -> Callable[..., list[str]]:
    return lambda *texts: places_of(tmp_path / "data", *texts)


@pytest.fixture
def memories(client: TestClient, tmp_path: Path) -> Path:
    """The folder with the user's memories."""
    turn(client, "first", "Hello there.", "Hi.")
    folder = next((tmp_path / "data" / "accounts").glob("*/*")) / "memories"
    folder.mkdir(exist_ok=True)
    return folder


def store(client: TestClient, text: str, **more: Any) -> str:
    answer = client.post("/memories", json={"text": text, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def said(client: TestClient) -> list[str]:
    page = client.get("/memories", params={"category": "events"}).json()
    return [memory["text"] for memory in page["memories"]]


def known(client: TestClient) -> list[str]:
    return [memory["text"] for memory in client.get("/memories").json()["memories"]]


@pytest.mark.parametrize(
    ("fact", "other"),
    [
        ("I like green tea.", "I do not like green tea, my wife does."),
        ("I like green tea.", "My wife likes green tea."),
        ("I like green tea.", "Would you like green tea?"),
        ("Ann called Ben in May.", "Ben called Ann in May."),
        ("I live in Rome.", "I never live in Rome."),
        ("Deploy steps for Kestrel. Run tests. Ask Ben. Done today.", "Did Ben ask you about Zurich?"),
        ("Deploy steps for Kestrel. Run tests. Ask Ben. Done today.", "Please ask Ben about the tickets."),
    ],
)
def test_a_turn_that_only_shares_words_stays(client: TestClient, fact: str, other: str) -> None:
    turn(client, "group", other, "Fine.", senderId="bob")
    memory = store(client, fact)
    look = client.post("/memories/forget", json={"id": memory}).json()
    receipt = forget(client, id=memory)
    assert other in said(client)
    for told in (look, receipt):
        assert (told["removed"]["memories"], told["removed"]["turns"], told["kept"]) == (1, 0, [])


def test_other_sentences_of_the_turn_that_a_memory_comes_from_stay(client: TestClient) -> None:
    beside = "My wife does not like green tea. I like black coffee in the morning."
    turn(client, "s1", f"Remember that I like green tea. {beside}", "Noted: green tea.")
    memory = next(one for one in client.get("/memories").json()["memories"] if "I like green tea" in one["text"])
    receipt = forget(client, id=memory["id"])
    assert receipt["kept"] == []
    assert beside in said(client)
    assert not any("I like green tea" in text or "Noted: green" in text for text in said(client))


def test_what_a_person_wrote_stays_unless_it_says_the_same(client: TestClient, memories: Path) -> None:
    page = "# Family\n\n- My wife does not like green tea.\n- My son likes chess.\n"
    (memories / "family.md").write_text(page + "- I like green tea.\n")
    (memories / "wife.md").write_text("My wife does not like green tea.\n")
    (memories / "mine.md").write_text("- I like **green tea**!\n")
    memory = store(client, "I like green tea")
    look = client.post("/memories/forget", json={"id": memory}).json()
    receipt = forget(client, id=memory)
    assert look["selected"] == receipt["selected"] and len(receipt["selected"]) == 2
    assert look["removed"] == receipt["removed"] and receipt["removed"]["memories"] == 2
    assert (memories / "family.md").read_text() == page
    assert (memories / "wife.md").exists() and not (memories / "mine.md").exists()


def test_a_longer_line_that_a_person_wrote_is_named(client: TestClient, memories: Path) -> None:
    line = "I like green tea, as the doctor from Lisbon knows.\n"
    (memories / "doctor.md").write_text(line)
    assert line.strip() in known(client)
    memory = store(client, "I like green tea")
    look = client.post("/memories/forget", json={"id": memory}).json()
    receipt = forget(client, id=memory)
    assert [one["what"].split()[0] for one in receipt["kept"]] == ["memory"] and look["kept"] == receipt["kept"]
    assert (memories / "doctor.md").read_text() == line


@pytest.mark.parametrize(
    "form",
    [
        str.upper,
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: text.replace(" ", "\u00a0"),
        lambda text: text.replace("Königsberg", "**König\u200bsberg**"),
        lambda text: text.replace(" with", ", with").replace("his", "_his_"),
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "On Tuesday we talked of many things, of the harvest and the sea, and that {} It was a long day."]
)
def test_it_goes_in_whatever_form(
    client: TestClient, left: Callable[..., list[str]], form: Callable[[str], str], around: str
) -> None:
    text = around.format(form(FACT))
    turn(client, "s1", text, "Good to know.")
    memory = store(client, FACT)
    assert left(form(FACT))
    receipt = forget(client, id=memory)
    assert (receipt["removed"]["turns"], receipt["kept"], left(form(FACT))) == (1, [], [])
    assert "Jürgen" not in recalled(client, "Where does Jürgen live?")


def test_it_goes_from_what_tools_were_given_and_gave_back(client: TestClient, left: Callable[..., list[str]]) -> None:
    arguments = {FACT: True, "more": [f"He wrote that {FACT}", "the rest"]}
    call = {"type": "toolCall", "id": "c1", "name": "todo", "arguments": arguments}
    result = json.dumps({"said": f'"{FACT}" is what\n{FACT} means', "other": "the sea"})
    messages = [
        {"role": "user", "content": "Write it down."},
        {"role": "assistant", "content": [call]},
        {"role": "toolResult", "toolCallId": "c1", "content": [{"type": "text", "text": result}]},
    ]
    assert client.post("/after-turn", json={"sessionId": "s1", "messages": messages, "wait": True}).is_success
    receipt = forget(client, id=store(client, FACT))
    assert (receipt["removed"]["turns"], receipt["kept"], left(FACT, FACT[:-1])) == (1, [], [])
    assert left("the sea") and left("the rest")


def test_what_was_learnt_from_a_message_alone_goes_with_it(client: TestClient, left: Callable[..., list[str]]) -> None:
    text = "I live in Kestrelheim with my wife Margarethe."
    turn(client, "s1", text, "Noted.")
    committed(client, "s1")
    settled(client, text)
    message = client.get("/memories", params={"category": "events"}).json()["memories"]
    message_id = next(one["id"] for one in message if one["text"] == text)
    look = client.post("/memories/forget", json={"id": message_id}).json()
    receipt = forget(client, id=message_id)
    assert look["removed"] == receipt["removed"] and receipt["removed"]["memories"] == 1
    assert (receipt["kept"], left(text)) == ([], [])


def test_what_else_says_a_forgotten_message_is_named(client: TestClient, left: Callable[..., list[str]]) -> None:
    text = "I live in Kestrelheim with my wife Margarethe."
    turn(client, "s1", text, "Noted.")
    turn(client, "s2", f"As I said: {text}", "So you did.")
    memory = store(client, text)
    message = client.get("/memories", params={"category": "events"}).json()["memories"]
    receipt = forget(client, id=next(one["id"] for one in message if one["text"] == text))
    assert left(text)
    assert {one["what"] for one in receipt["kept"]} == {f"memory {memory}", "session s2"}


def test_a_memory_of_one_word(client: TestClient, left: Callable[..., list[str]]) -> None:
    around = "By the way she gave the project of her new house in the mountains the name {} and told nobody about it"
    turn(client, "s1", around.format("Kestrelheim"), "Nice.")
    turn(client, "s2", "The Kestrelheimer sang.", "Fine.")
    receipt = forget(client, id=store(client, "Kestrelheim", key="house project name"))
    assert (receipt["removed"]["turns"], receipt["kept"]) == (1, [])
    assert not any("Kestrelheim " in text for text in said(client))
    assert "The Kestrelheimer sang." in said(client) and "mountains" in str(said(client))


def test_a_short_word_is_named_where_it_stays(client: TestClient) -> None:
    turn(client, "s1", "We walked with Rex along the sea.", "Nice.")
    receipt = forget(client, id=store(client, "Rex", key="dog"))
    assert [one["what"] for one in receipt["kept"]] == ["session s1"]
    assert "We walked with Rex along the sea." in said(client)


def test_an_earlier_version_of_another_memory(client: TestClient, left: Callable[..., list[str]]) -> None:
    text = "Margarethe lives in Kestrelheim since 1999"
    other = store(client, f"{text}, next to the old bakery of the Quill family, and she never wants to leave.")
    assert client.patch(f"/memories/{other}", json={"text": "Margarethe moved to Lisbon."}).is_success
    receipt = forget(client, id=store(client, text))
    assert (receipt["removed"]["memories"], receipt["kept"], left(text)) == (1, [], [])
    assert client.get(f"/memories/{other}").json()["history"] == []
    assert "Margarethe moved to Lisbon." in known(client)


def test_every_line_of_a_longer_memory_goes(client: TestClient, left: Callable[..., list[str]]) -> None:
    lines = ("What is written on the boxes in the summer house:", "Kestrelnet4471", "BlauBeere77")
    text = "\n".join(lines)
    call = {"type": "toolCall", "id": "c1", "name": "memory_store", "arguments": {"text": text}}
    messages = [
        {"role": "user", "content": f"Remember this:\n{text}"},
        {"role": "assistant", "content": [call]},
        {"role": "toolResult", "toolCallId": "c1", "content": [{"type": "text", "text": f"stored: {text}"}]},
        {"role": "assistant", "content": "Stored."},
    ]
    assert client.post("/after-turn", json={"sessionId": "s1", "messages": messages, "wait": True}).is_success
    turn(client, "s2", "Our blueberries are called BlauBeere77 on the list that hangs on the wall of the barn.", "Ok.")
    committed(client, "s1")
    assert client.post("/tools/memory_store", json={"sessionId": "s1", "arguments": {"text": text}}).is_success
    memory = next(one for one in client.get("/memories").json()["memories"] if "BlauBeere77" in one["text"])
    receipt = forget(client, id=memory["id"])
    assert (receipt["kept"], left(*lines)) == ([], [])
    assert any("blueberries" in one for one in said(client))


def test_a_word_of_a_longer_memory_is_named_where_it_stays(client: TestClient) -> None:
    turn(client, "s1", "There was chocolate on the table, and everybody took some of it home.", "Yum.")
    receipt = forget(client, id=store(client, "To buy for the feast in May:\nPotatoes\nChocolate"))
    assert [one["what"] for one in receipt["kept"]] == ["session s1"]
    assert any("chocolate" in text for text in said(client))


def test_a_document_that_says_so_is_named(client: TestClient) -> None:
    for title, text in (("House", f"# House\n\n{FACT} More of it."), ("Sea", "# Sea\n\nIt is blue.")):
        body = {"text": text, "title": title, "wait": True}
        assert client.post("/resources", json=body).is_success
    memory = store(client, FACT)
    look = client.post("/memories/forget", json={"id": memory}).json()
    receipt = forget(client, id=memory)
    assert [one["what"] for one in receipt["kept"]] == ["resource viking://~/resources/House.md"]
    assert look["kept"] == receipt["kept"]


@pytest.mark.parametrize(
    ("again", "comes"), [("Remember: I like green tea.", False), ("My wife does not like green tea.", True)]
)
def test_a_turn_that_comes_late(client: TestClient, again: str, comes: bool) -> None:
    forget(client, id=store(client, "I like green tea."))
    late = [{"role": "user", "content": again, "timestamp": 1_700_000_000_000}]
    assert client.post("/after-turn", json={"sessionId": "s9", "messages": late, "wait": True}).is_success
    assert (again in said(client)) == comes
