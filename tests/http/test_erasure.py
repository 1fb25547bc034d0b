"""After a forgetting the text stands nowhere below the data directory: a byte scan for each place that keeps it."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.memories.forget_selection import Erased
from app.errors import StoreUnavailable
from app.services import Services
from app.store.traces import TraceStore
from tests.http.conftest import Start
from tests.http.test_memories import LINES
from tests.scan import places_of

MARK = "orion42"
FACT = f"The name of the vault is {MARK}."
OTHER = "The office dog is called Bruno."


def turn(client: TestClient, session: str, *said: str, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    body = {"sessionId": session, "messages": messages, "wait": True, **more}
    answer = client.post("/after-turn", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def remembered(client: TestClient, words: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = client.get("/memories").json()["memories"]
    return next(one for one in found if words in one["text"])


def settled(client: TestClient, words: str, **wanted: str) -> dict[str, Any]:
    """A memory, once its commit has written it."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        found = [one for one in client.get("/memories", params=wanted).json()["memories"] if words in one["text"]]
        if found:
            return dict(found[0])
        time.sleep(0.02)
    raise AssertionError(f"nothing was learnt of {words}")


def forget(client: TestClient, **selection: Any) -> dict[str, Any]:
    answer = client.post("/memories/forget", json={**selection, "dryRun": False})
    assert answer.status_code == 200, answer.text
    return answer.json()


def recalled(client: TestClient, question: str) -> str:
    body = {"sessionId": "asks", "messages": [{"role": "user", "content": question}]}
    return str(client.post("/assemble", json=body).json().get("contextBlock") or "")


def committed(client: TestClient, session: str) -> None:
    assert client.post("/sessions/end", json={"sessionId": session, "wait": True}).status_code == 200


@pytest.fixture
def scanned(start: Start, tmp_path: Path) -> tuple[TestClient, Callable[[], list[str]]]:
    client = start(trace={"texts": True}, embedded={"embedder": {"kind": "none"}})
    return client, lambda: places_of(tmp_path / "data", MARK)


def stored_on_purpose(client: TestClient) -> None:
    assert client.post("/memories", json={"text": FACT}).status_code == 201


def changed_since(client: TestClient) -> None:
    memory = client.post("/memories", json={"text": FACT}).json()
    assert client.patch(f"/memories/{memory['id']}", json={"text": f"The vault has the code {MARK} now."}).is_success


def told_in_a_turn(client: TestClient) -> None:
    turn(client, "s1", f"Remember that the name of the vault is {MARK}.", f"Noted: {MARK}.", deadlineMs=5000)


def archived(client: TestClient) -> None:
    turn(client, "s1", f"Remember that the name of the vault is {MARK}. My dog is called Rex.", f"Noted, {MARK}.")
    turn(client, "s1", "And I prefer tea in the morning.", "Tea it is.")
    committed(client, "s1")


def recalled_with_a_trace(client: TestClient) -> None:
    stored_on_purpose(client)
    assert MARK in recalled(client, "What is the name of the vault?")


def used_by_a_tool(client: TestClient) -> None:
    messages = [
        {"role": "user", "content": f"Remember that the name of the vault is {MARK}."},
        {
            "role": "assistant",
            "content": [{"type": "toolCall", "id": "c1", "name": "memory_store", "arguments": {"text": FACT}}],
        },
        {"role": "toolResult", "toolCallId": "c1", "content": [{"type": "text", "text": f"Stored: {FACT}"}]},
        {"role": "assistant", "content": "Done."},
    ]
    assert client.post("/after-turn", json={"sessionId": "s1", "messages": messages, "wait": True}).is_success


@pytest.mark.parametrize(
    "kept",
    [stored_on_purpose, changed_since, told_in_a_turn, archived, recalled_with_a_trace, used_by_a_tool],
    ids=lambda kept: kept.__name__,
)
def test_nothing_of_a_forgotten_memory_is_left(
    scanned: tuple[TestClient, Callable[[], list[str]]], kept: Callable[[TestClient], None]
) -> None:
    client, left = scanned
    client.post("/memories", json={"text": OTHER})
    kept(client)
    assert left()
    receipt = forget(client, id=remembered(client, MARK)["id"])
    assert (receipt["kept"], left()) == ([], [])
    assert "Bruno" in recalled(client, "What is the office dog called?")
    assert MARK not in recalled(client, "What is the name of the vault?")


@pytest.mark.parametrize("rows", [34, 35, 36, 37])
def test_no_piece_of_it_is_left_of_a_long_error(start: Start, tmp_path: Path, rows: int) -> None:
    client = start(trace={"texts": True}, embedded={"embedder": {"kind": "none"}})
    stored_on_purpose(client)
    call = {"type": "toolCall", "id": "c1", "name": "shell", "arguments": {"note": "x" * 2 * rows}}
    result = {"role": "toolResult", "toolCallId": "c1", "isError": True, "content": f"Error: {'row ' * rows}{FACT}"}
    messages = [{"role": "user", "content": "Run it."}, {"role": "assistant", "content": [call]}, result]
    assert client.post("/after-turn", json={"sessionId": "s1", "messages": messages, "wait": True}).is_success
    assert forget(client, id=remembered(client, MARK)["id"])["kept"] == []
    assert [piece for piece in ("The co", "vault", MARK) if places_of(tmp_path / "data", piece)] == []


SELECTIONS: dict[str, dict[str, Any]] = {
    "session": {"session": "s1"},
    "person": {"person": "mallory"},
    "period": {"lastDays": 1},
    "everything": {"everything": True},
}


@pytest.mark.parametrize("by", SELECTIONS)
def test_whole_turns_go_with_what_was_learnt_from_them(
    scanned: tuple[TestClient, Callable[[], list[str]]], by: str, tmp_path: Path
) -> None:
    client, left = scanned
    long_ago = {"timestamp": 1_700_000_000_000}
    old = [{"role": "user", "content": "Remember that my brother is called Tobias.", **long_ago}]
    assert client.post("/after-turn", json={"sessionId": "s0", "messages": old, "wait": True}).is_success
    said = (f"I keep the {MARK} key under the mat. I live in Lisbon.", f"Under the mat, {MARK} it is.")
    turn(client, "s1", *said, senderId="mallory")
    turn(client, "s1", f"Remember that I like {MARK} tea.", "Noted.", senderId="mallory")
    committed(client, "s1")
    assert MARK in recalled(client, f"Where is the {MARK} key?")
    look = client.post("/memories/forget", json=SELECTIONS[by]).json()
    assert look["dryRun"] and look["removed"]["turns"] >= 2 and look["removed"]["archives"] >= 1
    receipt = forget(client, **SELECTIONS[by])
    assert (receipt["kept"], left()) == ([], [])
    same = ("memories", "turns", "archives", "notes")
    assert {name: receipt["removed"][name] for name in same} == {name: look["removed"][name] for name in same}
    assert MARK not in recalled(client, f"Where is the {MARK} key?")
    assert ("Tobias" in recalled(client, "What is the name of my brother?")) == (by != "everything")
    turn(client, "s1", f"My new word is {MARK}.", "Noted.", senderId="mallory")
    assert MARK in recalled(client, f"What is my new word {MARK}?")


LEARNT = {"session": {"session": "s1"}, "person": {"person": "mallory"}}


@pytest.mark.parametrize("by", LEARNT)
@pytest.mark.parametrize("change", [{"pinned": True}, {"category": "entities"}, {"ttlDays": 900}])
def test_what_was_learnt_goes_with_its_turns_though_it_was_pinned_or_sorted_elsewhere(
    scanned: tuple[TestClient, Callable[[], list[str]]], by: str, change: dict[str, Any]
) -> None:
    client, left = scanned
    turn(client, "s1", f"I prefer {MARK} tea.", "Noted.", senderId="mallory")
    committed(client, "s1")
    memory = settled(client, MARK)
    changed = client.patch(f"/memories/{memory['id']}", json=change).json()
    assert (changed["version"], changed["sources"]) == (2, memory["sources"]), "to change it otherwise says nothing"
    receipt = forget(client, **LEARNT[by])
    assert (receipt["removed"]["memories"], receipt["kept"], left()) == (1, [], [])


@pytest.mark.parametrize("by", LEARNT)
def test_another_text_is_a_source_of_its_own_and_only_the_earlier_one_goes(
    scanned: tuple[TestClient, Callable[[], list[str]]], by: str
) -> None:
    client, left = scanned
    turn(client, "s1", f"I prefer {MARK} tea.", "Noted.", senderId="mallory")
    committed(client, "s1")
    memory = settled(client, MARK)
    changed = client.patch(f"/memories/{memory['id']}", json={"text": "I prefer black coffee."}).json()
    assert [source["kind"] for source in changed["sources"]] == ["turn", "api"]
    assert (forget(client, **LEARNT[by])["kept"], left()) == ([], [])
    assert client.get(f"/memories/{memory['id']}").json()["text"] == "I prefer black coffee."


def taught(client: TestClient, session: str = "s1") -> dict[str, Any]:
    """What a session of two people taught: the first turn has the error, the last one says that it is gone."""
    told = (
        ("mallory", 5, f"It says: Error: cannot open the vault {MARK} in the folder", "I set VAULT_DIR."),
        ("bob", 7, "That fixed it, works now.", "Great."),
        ("carol", 9, "The office is closed on Fridays.", "Noted."),
    )
    for sender, day, said, answered in told:
        at = f"2026-01-{day:02}T09:00:0"
        messages = [
            {"role": "user", "content": said, "timestamp": f"{at}0Z"},
            {"role": "assistant", "content": answered, "timestamp": f"{at}1Z"},
        ]
        body = {"sessionId": session, "messages": messages, "senderId": sender, "wait": True}
        assert client.post("/after-turn", json=body).is_success
    committed(client, session)
    return settled(client, MARK, category="experiences")


def january(day: int) -> dict[str, str]:
    return {"since": f"2026-01-{day:02}T00:00:00Z", "until": f"2026-01-{day:02}T23:59:59Z"}


@pytest.mark.parametrize(
    "selection",
    [{"person": "mallory"}, january(5), {"session": "s1"}, {"person": "bob"}, january(7)],
    ids=lambda selection: "-".join(selection.values()),
)
def test_a_lesson_goes_with_any_of_the_turns_that_it_was_learnt_from(
    scanned: tuple[TestClient, Callable[[], list[str]]], selection: dict[str, str]
) -> None:
    client, left = scanned
    lesson = taught(client)
    assert (lesson["createdAt"][:10], len(lesson["sources"])) == ("2026-01-07", 2)
    assert {source["session"] for source in lesson["sources"]} == {"s1"}
    look = client.post("/memories/forget", json=selection).json()
    receipt = forget(client, **selection)
    assert receipt["removed"]["memories"] == look["removed"]["memories"] == 1
    assert ([one["id"] for one in receipt["selected"]], receipt["kept"]) == ([lesson["id"]], [])
    assert client.get(f"/memories/{lesson['id']}").status_code == 404
    if "bob" not in selection.values() and selection != january(7):  # else the first turn is nobody's to forget
        assert left() == []


@pytest.mark.parametrize("selection", [{"person": "carol"}, january(9), {"lastDays": 1}])
def test_a_lesson_stays_with_the_turns_that_it_was_learnt_from(
    scanned: tuple[TestClient, Callable[[], list[str]]], selection: dict[str, Any]
) -> None:
    client, _ = scanned
    lesson = taught(client)
    assert forget(client, **selection)["removed"]["memories"] == 0
    assert client.get(f"/memories/{lesson['id']}").json()["text"] == lesson["text"]


def test_a_lesson_of_before_that_tells_one_turn_goes_with_any_of_its_session(
    scanned: tuple[TestClient, Callable[[], list[str]]], tmp_path: Path
) -> None:
    client, left = scanned
    lesson = taught(client)
    turn(client, "s2", "The museum opens at noon.", "So it does.", senderId="carol")
    (path,) = (tmp_path / "data").rglob("experiences/*.md")
    body, _, trailer = path.read_text().partition("<!-- MEMORY_FIELDS\n")
    source = {"kind": "chat_turn", "ref": json.loads(trailer.partition("\n-->")[0])["source"]["ref"]}
    old = {"type": "experience", "confidence": 0.7, "source": source}
    path.write_text(f"{body}<!-- MEMORY_FIELDS\n{json.dumps(old)}\n-->\n")
    read = client.get(f"/memories/{lesson['id']}").json()
    assert (read["text"], [one["turnId"] for one in read["sources"]]) == (
        lesson["text"],
        [lesson["sources"][-1]["turnId"]],
    )
    assert forget(client, session="s2")["removed"]["memories"] == 0
    assert forget(client, person="mallory")["removed"]["memories"] == 1
    assert left() == []


@pytest.mark.parametrize("name", ["s1", "Team Chat ü", "a/b 100%"])
@pytest.mark.parametrize("by", [*LEARNT, "day"])
def test_traces_of_other_sessions_go_with_the_turns_that_they_showed(
    scanned: tuple[TestClient, Callable[[], list[str]]], by: str, name: str
) -> None:
    client, left = scanned
    fact = f"The harbour crane {MARK} of the atlas project is broken since Monday"
    for sender, day, said in (("mallory", 5, fact), ("bob", 6, "We must order a new rope for the crane.")):
        messages = [{"role": "user", "content": said, "timestamp": f"2026-01-{day:02}T09:00:00Z"}]
        body = {"sessionId": name, "messages": messages, "senderId": sender, "wait": True}
        assert client.post("/after-turn", json=body).is_success
    for question in ("what about the harbour crane of the atlas project?", "is the atlas crane broken?"):
        assert MARK in recalled(client, question)
    assert client.get("/recalls").is_success  # what is recorded is written by then
    assert any("traces.db" in place for place in left())
    selection = january(5) if by == "day" else {**LEARNT[by], **({"session": name} if by == "session" else {})}
    assert (forget(client, **selection)["kept"], left()) == ([], [])


@pytest.mark.parametrize("by", ["id", "session"])
def test_a_trace_that_could_not_be_taken_out_is_named(
    scanned: tuple[TestClient, Callable[[], list[str]]], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = scanned
    stored_on_purpose(client)
    told_in_a_turn(client)
    recalled(client, "What is the name of the vault?")
    monkeypatch.setattr(TraceStore, "_delete", lambda *_: None)
    selection = {"id": remembered(client, MARK)["id"]} if by == "id" else {"session": "asks"}
    assert "recall traces" in [kept["what"] for kept in forget(client, **selection)["kept"]]


def test_what_was_said_beside_it_stays(scanned: tuple[TestClient, Callable[[], list[str]]]) -> None:
    client, _ = scanned
    archived(client)
    forget(client, id=remembered(client, MARK)["id"])
    assert "Rex" in recalled(client, "What is my dog called?")
    assert "tea" in recalled(client, "What do I drink in the morning?")


def test_one_message_by_its_id(scanned: tuple[TestClient, Callable[[], list[str]]]) -> None:
    client, left = scanned
    turn(client, "s1", f"The museum opens at noon. {MARK} is our boat.", "Thank you.")
    turn(client, "s1", "The museum opens at noon.", "So it does.")
    said = client.get("/memories", params={"category": "events"}).json()["memories"]
    receipt = forget(client, id=next(one["id"] for one in said if MARK in one["text"]))
    assert (receipt["removed"]["turns"], receipt["kept"], left()) == (1, [], [])
    assert "noon" in recalled(client, "When does the museum open?")


@pytest.mark.parametrize("by", ["id", "session", "everything"])
def test_nothing_brings_it_back(start: Start, tmp_path: Path, by: str) -> None:
    settings: dict[str, Any] = {"trace": {"texts": True}, "embedded": {"embedder": {"kind": "none"}}}
    client = start(**settings)
    messages = [
        {"role": "user", "content": f"Remember that the name of the vault is {MARK}.", "timestamp": 1_790_000_000_000},
        {"role": "assistant", "content": f"Noted: {MARK}.", "timestamp": 1_790_000_001_000},
    ]
    body = {"sessionId": "s1", "messages": messages, "advancementKey": "k1", "wait": True}
    assert client.post("/after-turn", json=body).json()["status"] == "committed"
    selection = {"id": {"id": remembered(client, MARK)["id"]}, "session": {"session": "s1"}}.get(by, {by: True})
    assert forget(client, **selection)["kept"] == []
    assert client.post("/after-turn", json=body).json()["status"] == "duplicate"
    other_key = {**body, "advancementKey": "k2"}
    assert client.post("/after-turn", json=other_key).json()["status"] in {"duplicate", "skipped"}
    committed(client, "s1")
    for index in (tmp_path / "data").rglob("index.db*"):
        index.unlink()
    again = start(**settings)
    assert places_of(tmp_path / "data", MARK) == []
    assert MARK not in recalled(again, "What is the name of the vault?")
    stored = again.post("/memories", json={"text": FACT})
    assert stored.status_code == 201 and MARK in recalled(again, "What is the name of the vault?")


@pytest.mark.parametrize("by", ["id", "everything"])
def test_what_is_imported_after_it_was_forgotten_is_a_new_memory(sidecar: Start, by: str) -> None:
    """Whoever imports it stores it on purpose; nothing leads back to the memory that was forgotten."""
    client = sidecar()
    stored_on_purpose(client)
    exported = client.get("/memories/export").text
    ids = [remembered(client, MARK)["id"]]
    for _ in range(3):
        forget(client, **({"id": ids[-1]} if by == "id" else {"everything": True}))
        assert MARK not in recalled(client, "What is the name of the vault?")
        for imported in (1, 0):  # an import that was cut short is sent again
            answer = client.post("/memories/import", content=exported, headers=LINES).json()
            assert (answer["imported"], answer["skipped"]) == (imported, 1 - imported)
        ids.append(remembered(client, MARK)["id"])
        assert MARK in recalled(client, "What is the name of the vault?")
        assert client.get(f"/memories/{ids[-2]}").status_code == 404
    assert len(set(ids)) == 4


def test_another_tenant_keeps_the_same_words(scanned: tuple[TestClient, Callable[[], list[str]]]) -> None:
    client, left = scanned
    other = {"X-OpenViking-User": "mallory"}
    assert client.post("/memories", json={"text": FACT}, headers=other).status_code == 201
    turn_ = {"sessionId": "s1", "messages": [{"role": "user", "content": FACT}], "wait": True}
    assert client.post("/after-turn", json=turn_, headers=other).is_success
    stored_on_purpose(client)
    told_in_a_turn(client)
    before = client.get("/memories", headers=other).json()
    assert forget(client, everything=True)["kept"] == []
    assert client.get("/memories", headers=other).json() == before
    assert all("/mallory/" in place or place.startswith(("sidecar.db", "traces.db")) for place in left())


def test_a_longer_statement_of_its_own_is_named(client: TestClient) -> None:
    memory = client.post("/memories", json={"text": "The vault code is 5521-kappa."}).json()
    longer = client.post("/memories", json={"text": "The vault code is 5521-kappa. It was set by Ines in May."}).json()
    assert [kept["what"] for kept in forget(client, id=memory["id"])["kept"]] == [f"memory {longer['id']}"]
    assert client.get(f"/memories/{longer['id']}").status_code == 200


def test_the_field_that_is_wrong_is_named(client: TestClient) -> None:
    for body, field in (
        ({"id": "m_1", "session": "s"}, "session"),
        ({"until": "2026-01-01T00:00:00Z"}, "body"),
        ({"session": "s", "until": "2026-01-01T00:00:00Z"}, "until"),
        ({"lastDays": 0}, "lastDays"),
        ({"since": "yesterday"}, "since"),
        ({"everything": False}, "everything"),
    ):
        problem = client.post("/memories/forget", json=body).json()
        assert problem["code"] == "invalid_request"
        assert any(field in one["field"] for one in problem["errors"]), problem


@pytest.mark.parametrize("step", ["backend", "store", "traces", "cleaning"])
def test_what_was_interrupted_goes_on(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    settings: dict[str, Any] = {"trace": {"texts": True}, "embedded": {"embedder": {"kind": "none"}}}
    client = start(**settings)
    archived(client)
    assert MARK in recalled(client, "What is the name of the vault?")
    client.get("/recalls")  # its trace is on disk: the first service goes on running beside the second
    memory = remembered(client, MARK)
    services: Services = client.app.state.services  # type: ignore[attr-defined]
    erase = services.forgetter.erase

    async def fails(*_: Any, **options: Any) -> Any:
        if options.get("dry_run"):
            return Erased()
        raise StoreUnavailable("cut short")

    broken = {
        "backend": erase.memories.store,
        "store": erase.erasing,
        "traces": erase.traces,
        "cleaning": erase.erasing,
    }
    with monkeypatch.context() as patch:
        patch.setattr(broken[step], "clean" if step == "cleaning" else "erase", fails)
        patch.setattr(services.forgetter, "wake", lambda: None)
        erase.on_left = lambda: None
        answer = client.post("/memories/forget", json={"id": memory["id"], "dryRun": False})
        assert answer.status_code == 503
    again = start(**settings)
    after: Services = again.app.state.services  # type: ignore[attr-defined]
    again.portal.call(after.forgetter.erase.go_on)  # type: ignore[union-attr]
    assert again.portal.call(after.store.erasing.unfinished) == []  # type: ignore[union-attr]
    assert places_of(tmp_path / "data", MARK) == []
    assert "Rex" in recalled(again, "What is my dog called?")


def test_a_period_or_a_person_whose_forgetting_was_interrupted_leaves_no_summary(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backend's part was done: its files can not tell any more which sessions lost something."""
    settings: dict[str, Any] = {"embedded": {"embedder": {"kind": "none"}}}
    client = start(**settings)
    said = [{"role": "user", "content": f"My passport has the number {MARK}."}, {"role": "assistant", "content": "Ok."}]
    for number in range(3):
        body = {"sessionId": "s", "senderId": "bob", "messages": said, "advancementKey": str(number), "wait": True}
        assert client.post("/after-turn", json=body).json()["status"] == "committed"
    assert client.post("/compact", json={"sessionId": "s"}).json()["reason"] == "commit_completed"
    services: Services = client.app.state.services  # type: ignore[attr-defined]
    erase = services.forgetter.erase

    async def fails(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable("cut short")

    with monkeypatch.context() as patch:
        patch.setattr(erase.erasing, "erase", fails)
        patch.setattr(services.forgetter, "wake", lambda: None)
        erase.on_left = lambda: None
        assert client.post("/memories/forget", json={"person": "bob", "dryRun": False}).status_code == 503
    client.portal.call(erase.go_on)  # type: ignore[union-attr]
    assert client.portal.call(services.store.erasing.unfinished) == []  # type: ignore[union-attr]
    assert places_of(tmp_path / "data", MARK) == []
