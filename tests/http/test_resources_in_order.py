"""Imports and removals of one path take effect in the order in which they were accepted, however long each takes."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.core.deadline import Deadline
from app.embedded.resources.shelf import Shelf
from app.ports import NewResource
from tests.http.test_resources import found, upload, zipped

PATIENCE_S = 60
URI = {"uri": "viking://~/resources/guide"}


class Held:
    """The first import after `hold` begins, and does not end before `release`."""

    def __init__(self, *, is_written: bool) -> None:
        """``is_written``: the backend has all of the held import already, which nobody else knows."""
        self._is_written = is_written
        self._begun, self._go = threading.Event(), threading.Event()
        self._is_due = False
        self.changes: list[str] = []
        """What the backend has ended."""

    def hold(self) -> None:
        self._is_due = True

    def put(self, shelf: Shelf, new: NewResource, deadline: Deadline) -> None:
        is_held, self._is_due = self._is_due, False
        if is_held and self._is_written:
            PUT(shelf, new, deadline)
        if is_held:
            self._begun.set()
            assert self._go.wait(PATIENCE_S)
        if not (is_held and self._is_written):
            PUT(shelf, new, deadline)
        self.changes.append("put")

    def remove(self, shelf: Shelf, path: str, deadline: Deadline) -> bool:
        there = REMOVE(shelf, path, deadline)
        self.changes.append("remove")
        return there

    def wait_begun(self) -> None:
        assert self._begun.wait(PATIENCE_S)

    def release(self) -> None:
        self._go.set()


PUT, REMOVE = Shelf.put, Shelf.remove


@pytest.fixture
def held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    held = Held(is_written=getattr(request, "param", False))
    monkeypatch.setattr(Shelf, "put", lambda shelf, new, deadline: held.put(shelf, new, deadline))
    monkeypatch.setattr(Shelf, "remove", lambda shelf, path, deadline: held.remove(shelf, path, deadline))
    yield held
    held.release()


def text(client: TestClient, said: str, **fields: Any) -> dict[str, Any]:
    answer = client.post("/resources", json={"text": said, "title": "guide", "to": "guide", **fields})
    assert answer.status_code in {200, 201, 202}, answer.text
    return dict(answer.json())


def archive(client: TestClient, wait: bool = False, **files: str) -> dict[str, Any]:
    data = zipped({f"{name}.md": said for name, said in files.items()})
    answer = upload(client, "guide.zip", data, to="guide", wait=str(wait).lower())
    assert answer.status_code in {200, 201, 202}, answer.text
    return dict(answer.json())


def ended(client: TestClient, imported: dict[str, Any]) -> dict[str, Any]:
    task = {"status": "processing"}
    while task["status"] == "processing":
        task = client.get(f"/resources/tasks/{imported['taskId']}").json()
    return task


def read(client: TestClient, document: str = "") -> str:
    [whole] = client.get("/resources", params={"uri": f"{URI['uri']}{document}"}).json()["resources"]
    return str(whole["text"])


@pytest.mark.parametrize("held", [True, False], indirect=True, ids=["written", "not written"])
def test_a_removal_takes_only_what_was_accepted_before_it(person: TestClient, held: Held) -> None:
    held.hold()
    first = text(person, "The step is blue.")
    held.wait_begun()
    assert person.delete("/resources", params=URI).status_code == 200
    assert person.get(f"/resources/tasks/{first['taskId']}").status_code == 404
    assert person.get("/resources").json()["resources"] == []
    second = text(person, "The step is green.")
    held.release()
    assert ended(person, second)["status"] == "ready"
    while held.changes.count("remove") < 2:
        person.get("/resources")
    assert held.changes == ["remove", "put", "remove", "put"]
    assert read(person) == "The step is green."
    assert [one["passages"][0]["text"] for one in found(person, "which step is it?")] == ["The step is green."]
    assert person.delete("/resources", params=URI).status_code == 200
    assert person.get("/resources").json()["resources"] == []


def test_an_import_is_read_whole_while_another_of_its_path_is_on_its_way(person: TestClient, held: Held) -> None:
    archive(person, wait=True, a="Alpha one.", b="Beta one.")
    held.hold()
    second = archive(person, a="Alpha two.", b="Beta one.")
    held.wait_begun()
    third = archive(person, a="Alpha one.", b="Beta two.")
    held.release()
    assert [ended(person, one)["status"] for one in (second, third)] == ["ready", "ready"]
    assert [read(person, f"/{name}.md") for name in "ab"] == ["Alpha one.", "Beta two."]
    fourth = archive(person, wait=True, a="Alpha one.", b="Beta three.")
    assert fourth["status"] == "ready" and read(person, "/b.md") == "Beta three."


def test_the_last_upload_wins_although_it_is_what_is_stored_now(person: TestClient, held: Held) -> None:
    text(person, "The step is blue.", wait=True)
    held.hold()
    text(person, "The step is green.")
    held.wait_begun()
    last = text(person, "The step is blue.")
    held.release()
    assert last["taskId"] and ended(person, last)["status"] == "ready"
    assert read(person) == "The step is blue."
    assert text(person, "The step is blue.")["detail"] == "nothing has changed"
