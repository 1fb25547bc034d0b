"""A store that can not be read or written: `/assemble` goes on, `/after-turn` accepts nothing, and both say so."""

import pytest

from app.errors import StoreUnavailable
from app.store.engine import Database
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
