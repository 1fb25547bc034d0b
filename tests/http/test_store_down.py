"""A store that can not be read or written: `/assemble` goes on, `/after-turn` accepts nothing, and both say so."""

import anyio
import pytest

from app.errors import StoreUnavailable
from app.store.connections import Database
from tests.http.conftest import Start

BODY = {"sessionId": "s", "messages": [{"role": "user", "content": "Which tea do I prefer in the morning?"}]}


def test_only_after_turn_needs_the_store(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    client = start()

    async def broken(*_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(Database, "read", broken)
        patched.setattr(Database, "write", broken)
        for phase in ("transform", "preflight", "full"):
            answer = client.post("/assemble", json={**BODY, "phase": phase})
            assert (answer.status_code, answer.json()["messages"]) == (200, BODY["messages"])
        refused = client.post("/after-turn", json=BODY)
        assert (refused.status_code, refused.json()["code"]) == (503, "store_unavailable")
        assert refused.headers["retry-after"]
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "not_ready")
    assert client.post("/after-turn", json=BODY).json()["status"] == "committed"


@pytest.mark.parametrize("phase", ["transform", "preflight", "full"])
def test_a_store_that_hangs_holds_no_answer_beyond_its_deadline(
    start: Start, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    client = start()
    ended: list[str] = []

    async def hang(*_: object, **__: object) -> None:
        await anyio.sleep(5)
        ended.append("read")
        raise StoreUnavailable("late")

    with monkeypatch.context() as patched:
        patched.setattr(Database, "read", hang)
        answer = client.post("/assemble", json={**BODY, "phase": phase, "deadlineMs": 300})
    assert ended == [], "nobody waits for it"
    assert (answer.status_code, answer.json()["messages"]) == (200, BODY["messages"])
    if phase != "transform":
        assert answer.json()["reason"] in ("store_unavailable", "deadline_exceeded")


def test_reads_do_not_pile_up_behind_a_store_that_hangs(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    client = start()
    monkeypatch.setattr("app.store.connections.MAX_WAITING", 0)
    answer = client.post("/assemble", json={**BODY, "phase": "preflight"})
    assert (answer.status_code, answer.json()["reason"]) == (200, "store_unavailable")
