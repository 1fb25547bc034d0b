"""A bug in the background work costs a pause, not the deliveries."""

import pytest

from app.services import running_services
from app.worker.supervisor import Worker
from tests.http.conftest import Start


def test_a_worker_that_fails_is_started_again(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Worker.run
    failures = iter([ValueError("bug"), ExceptionGroup("bugs", [KeyError("bug")])])

    async def fails_twice(self: Worker) -> None:
        for failure in failures:
            raise failure
        await run(self)

    monkeypatch.setattr(Worker, "run", fails_twice)
    monkeypatch.setattr(running_services, "RESTART_S", 0.0)
    turn = {"sessionId": "s", "messages": [{"role": "user", "content": "hello there"}], "wait": True}
    assert start().post("/after-turn", json=turn).json()["delivery"] == "delivered"
