"""What a new turn waits for while the worker has much else to do: old sessions to commit, extractions to follow.

    python -m benchmarks.turns_first [--sessions 10000] [--tasks 100] [--turns 60]

Three services are asked the same: an empty one, one that starts with many sessions that nobody committed, and one that
follows many extractions whose every look takes the backend half a second. Claimed is that in all of them a turn is
acknowledged and delivered about as fast as in the empty one; and that the next session to look at is found at once,
however many wait.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import httpx
from sqlalchemy import insert, update

from app.core.identity import Identity, PeerRole, Tenant
from app.store.codec import dump_identity, dump_messages
from app.store.engines import make_engine
from app.store.schema import sessions, turns
from app.store.turns import open_store
from app.store.work import TurnState
from benchmarks.standin import JsonHandler, serving
from tests.crash.harness import Sidecar
from tests.unit.turning import work_rules

APPEND_S, COMMIT_S, LOOK_S = 0.02, 0.02, 0.5
"""How long the backend takes: for a turn, for a commit, for the state of a task."""
CROWD = 100_000
CLAIM_DELIVERED_MS = 500.0
CLAIM_FOUND_MS = 5.0
PAUSE_S = 0.03


class Backend(JsonHandler):
    """Takes every turn and every commit; no extraction ever ends."""

    asked: ClassVar[Counter[str]] = Counter()

    def result(self) -> Any:
        path = self.path.partition("?")[0]
        what, seconds, result = "append", APPEND_S, super().result()
        if path.endswith("/commit"):
            name = path.split("/")[-2]
            what, seconds = "commit", COMMIT_S
            result = {"status": "accepted", "task_id": name, "archive_uri": f"{name}/history/archive_001"}
        elif "/tasks/" in path:
            what, seconds, result = "look", LOOK_S, {"status": "running"}
        self.asked[what] += 1
        time.sleep(seconds)
        return result


def leave_uncommitted(url: str, count: int) -> None:
    """Fill the store at ``url`` with sessions of one delivered turn each, said an hour ago."""

    async def make() -> None:
        await (await open_store(url, rules=work_rules())).aclose()

    asyncio.run(make())
    then = time.time() - 3600
    who = Identity(Tenant(), "-", None, "main", None, PeerRole.ASSISTANT)
    common = {"epoch": 0, "position": 1, "repeatable": False, "prints": "[]", "first_message": 0, "host_messages": 1}
    common |= {"payload": dump_messages([]), "bytes": 2, "captured": 1, "tokens": 10, "remember": False, "sent": 1}
    common |= {"state": TurnState.DELIVERED, "created_at": then, "fingerprint": "-"}
    named = {"account": "", "user_name": "", "identity": dump_identity(who), "token_budget": 128_000}
    engine = make_engine(url)
    with engine.begin() as connection:
        rows = [{**named, "session": f"old-{n}", "last_turn_at": then, "next_position": 2} for n in range(count)]
        connection.execute(insert(sessions), rows)
        connection.execute(insert(turns), [{**common, "turn_id": f"t_{n}", "session_id": n + 1} for n in range(count)])
    engine.dispose()


def run_extractions(client: httpx.Client, count: int) -> None:
    """Have ``count`` sessions archived, and followed from then on."""
    for number in range(count):
        said = {"sessionId": f"ended-{number}", "messages": [{"role": "user", "content": "The tea is green."}]}
        client.post("/after-turn", json=said).raise_for_status()
        client.post("/sessions/end", json={"sessionId": f"ended-{number}", "deadlineMs": 1}).raise_for_status()
    while Backend.asked["commit"] < count:
        time.sleep(0.1)


def measure(name: str, client: httpx.Client, count: int) -> float:
    """Send turns, every third waiting for its delivery; print both times and give the delivery's median, ms."""
    acks, delivered = [], []
    for number in range(count):
        body = {"sessionId": f"new-{number % 20}", "messages": [{"role": "user", "content": f"Question {number}?"}]}
        wait = number % 3 == 2
        began = time.perf_counter()
        answer = client.post("/after-turn", json=body | ({"wait": True, "deadlineMs": 30_000} if wait else {}))
        took = (time.perf_counter() - began) * 1000
        assert answer.is_success, answer.text
        if wait:
            late = answer.json()["delivery"] != "delivered"
            delivered.append(float("inf") if late else took)
        else:
            acks.append(took)
        time.sleep(PAUSE_S)
    ack, p95, there = statistics.median(acks), statistics.quantiles(acks, n=20)[-1], statistics.median(delivered)
    print(
        f"{name:34} ack p50 {ack:7.1f} ms  p95 {p95:7.1f} ms   "
        f"delivered p50 {there:8.1f} ms  max {max(delivered):8.1f} ms"
        f"\n{'':34} the backend was asked for: {dict(Backend.asked)}",
        flush=True,
    )
    return there


def look_for_work(url: str, count: int) -> float:
    """The median time in milliseconds in which the store at ``url`` finds the next session that is due; printed."""

    async def look() -> list[float]:
        store = await open_store(url, rules=work_rules())
        took = []
        for _ in range(50):
            began = time.perf_counter()
            await store.queue.first_due()
            took.append((time.perf_counter() - began) * 1000)
        await store.aclose()
        return took

    engine = make_engine(url)
    with engine.begin() as connection:  # each is to be looked at some time, as after a turn
        connection.execute(update(sessions).values(due_at=time.time() + 600))
    engine.dispose()
    median = statistics.median(asyncio.run(look()))
    print(f"{f'the next of {count} sessions':34} p50 {median:7.2f} ms", flush=True)
    return median


def main() -> int:
    """Run all three and say whether the claim holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--turns", type=int, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="turns-first-") as made, serving(Backend) as url:
        crowd = f"sqlite:///{Path(made) / 'crowd.db'}"
        leave_uncommitted(crowd, CROWD)
        found, there = look_for_work(crowd, CROWD), []
        for name in ("empty", "old", "tasks"):
            directory = Path(made) / name
            directory.mkdir()
            Backend.asked.clear()
            if name == "old":
                leave_uncommitted(f"sqlite:///{directory / 'sidecar.db'}", arguments.sessions)
            settings = {"BACKEND": "openviking", "OPENVIKING__URL": url, "LOG_LEVEL": "error"}
            with Sidecar(directory, **settings) as sidecar:
                sidecar.wait_up()
                with httpx.Client(base_url=sidecar.url, trust_env=False, timeout=60) as client:
                    if name == "tasks":
                        run_extractions(client, arguments.tasks)
                    titles = {
                        "empty": "nothing else to do",
                        "old": f"{arguments.sessions} sessions to commit",
                        "tasks": f"{arguments.tasks} extractions running",
                    }
                    there.append(measure(titles[name], client, arguments.turns))
    holds = max(there) < CLAIM_DELIVERED_MS and found < CLAIM_FOUND_MS
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors: a busy machine measures itself")
    claim = f"delivered within {CLAIM_DELIVERED_MS:.0f} ms, the next session found within {CLAIM_FOUND_MS:.0f} ms"
    print(f"claim: medians: {claim}: {'holds' if holds else 'DOES NOT HOLD'}")
    return 0 if holds else 1


if __name__ == "__main__":
    raise SystemExit(main())
