"""What answers and pages say when the embedded backend can not use its own disk."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from app.embedded.users import OpenUsers

SAID = [
    {"role": "user", "content": "My bike is a red Gazelle."},
    {"role": "assistant", "content": "A red Gazelle, noted."},
]
QUESTION = [{"role": "user", "content": "What colour is my bike?"}]


@pytest.fixture
def full_disk(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A sidecar that knows the user, and whose disk is full since."""
    told = client.post("/after-turn", json={"sessionId": "s", "messages": SAID, "wait": True})
    assert told.json()["delivery"] == "delivered"

    @contextmanager
    def full(*_: object) -> Iterator[None]:
        raise OSError(errno.ENOSPC, "No space left on device")
        yield

    monkeypatch.setattr(OpenUsers, "using", full)
    return client


@pytest.mark.parametrize("phase", ["transform", "preflight", "full"])
def test_a_full_disk_is_no_fault_of_openviking(full_disk: TestClient, phase: str) -> None:
    answer = full_disk.post("/assemble", json={"sessionId": "s", "phase": phase, "messages": QUESTION}).json()
    assert (answer["status"], answer["reason"]) == ("passthrough", "backend_unavailable")
    assert answer["messages"] == QUESTION
    if phase != "preflight":
        assert answer["recall"]["degraded"] == ["memories:backend_unavailable"]


def test_the_page_of_a_recall_shows_it_as_trouble(full_disk: TestClient) -> None:
    answer = full_disk.post("/assemble", json={"sessionId": "s", "messages": QUESTION}).json()
    page = full_disk.get(f"/ui/recalls/{answer['recall']['traceId']}", headers={"Accept": "text/html"}).text
    assert 'bad">backend unavailable' in page
