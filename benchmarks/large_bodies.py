"""How long others wait while large turns of one session are taken in: new ones, ones of times that are there, repeats.

    python -m benchmarks.large_bodies [--messages 44000]

A body of 2.5 MB holds some 44,000 small messages. Comparing them with what was captured before takes seconds of the
processor, so it must be linear, and done before the store is locked. Claimed is that no transaction of such a turn
holds the write lock for more than 500 ms; shown is also what another tenant's turns wait meanwhile.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import event

import app.recall.sources  # noqa: F401 - declares the lines by which the fence knows a block
from app.core.deadline import Deadline
from app.core.history.commit_policy import CommitRules
from app.core.identity import Identity, PeerRole, Tenant
from app.core.messages.host_message import HostMessage
from app.embedded.backend import EmbeddedBackend
from app.engine.turn_capture import AfterTurn, AfterTurnResult, TurnInput
from app.settings import EmbeddedSettings
from app.store.steps import WorkRules
from app.store.turns import SqlTurnStore, open_store
from app.worker.supervisor import Worker, WorkerSettings

CLAIM_MS = 500.0
START = 1_795_298_000_000


def who(user: str) -> Identity:
    return Identity(Tenant("acme", user), "s1", None, "main", None, PeerRole.ASSISTANT)


def body(text: str, first: int, count: int) -> tuple[HostMessage, ...]:
    """Messages of one millisecond each."""
    stamps = range(START + first, START + first + count)
    return tuple(HostMessage({"role": "user", "content": text, "timestamp": stamp}) for stamp in stamps)


@contextmanager
def locks_held(store: SqlTurnStore) -> Iterator[list[float]]:
    """How long each write transaction has held the lock, milliseconds."""
    engine, held, begun = store._database._engine, list[float](), dict[int, float]()

    def begin(connection: Any) -> None:
        if connection.get_execution_options().get("begin") == "IMMEDIATE":
            begun[id(connection)] = time.perf_counter()

    def end(connection: Any) -> None:
        if (since := begun.pop(id(connection), None)) is not None:
            held.append((time.perf_counter() - since) * 1000)

    handlers = [("begin", begin), ("commit", end), ("rollback", end)]
    for name, handler in handlers:
        event.listen(engine, name, handler)
    yield held
    for name, handler in handlers:
        event.remove(engine, name, handler)


async def measure(count: int, directory: str) -> bool:
    """Print a line for each case; whether the claim holds."""
    rules = WorkRules(lease_s=30, settle_s=5, call_s=12, commit=CommitRules())
    store = await open_store(f"sqlite:///{directory}/turns.db", rules=rules)
    worker = Worker(store, EmbeddedBackend(Path(directory), EmbeddedSettings()), WorkerSettings())

    async def send(user: str, messages: tuple[HostMessage, ...], key: str) -> AfterTurnResult:
        turn = TurnInput(messages, pre_prompt_count=0, key=key)
        return await AfterTurn(store, worker).run(who(user), turn, Deadline.after_ms(120_000))

    cases = {
        "new": body("a", 0, count),
        "new, behind it": body("a", count, count),
        "other words, same times": body("b", 0, count),
        "half of it known": body("a", count + count // 2, count),
        "again, another key": body("a", 0, count),
    }
    print(f"{len(json.dumps(cases['new'])) / 1e6:.1f} MB in {count} messages\n")
    print(f"{'turn':<26} {'captured':>8} {'took ms':>9} {'lock ms':>9} {'others ms':>10}")
    worst = 0.0
    for number, (name, messages) in enumerate(cases.items()):
        with locks_held(store) as held:
            began, waited = time.perf_counter(), 0.0
            large = asyncio.create_task(send("ann", messages, f"large {number}"))
            while not large.done():
                asked = time.perf_counter()
                await send("bob", body("hi", round(asked * 1e6), 1), f"small {asked}")
                waited = max(waited, time.perf_counter() - asked)
                await asyncio.sleep(0.02)
            result, took = await large, time.perf_counter() - began
        worst = max(worst, *held)
        captured = f"{result.captured}" if result.status == "committed" else result.status
        print(f"{name:<26} {captured:>8} {took * 1000:>9.0f} {max(held):>9.1f} {waited * 1000:>10.0f}", flush=True)
    await store.aclose()
    outcome = "holds" if worst < CLAIM_MS else "DOES NOT HOLD"
    print(f"\nclaim: the write lock is held for less than {CLAIM_MS} ms: {outcome}")
    return worst < CLAIM_MS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=44_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        return 0 if asyncio.run(measure(options.messages, directory)) else 1


if __name__ == "__main__":
    sys.exit(main())
