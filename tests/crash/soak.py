"""A long run against everything that goes wrong at once: ``python -m tests.crash.soak``, or ``make soak``.

Two replicas share one store, first SQLite, then PostgreSQL. Hosts talk in many sessions and reset some of them, while
the replicas are killed and terminated in turn and the backend is slow, fails, drops connections, applies writes late
and goes away. At the end each message must stand in the backend once, in order, in the epoch in which it was said.
"""

import argparse
import json
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from tests.crash.harness import Sidecar, drained, meanwhile
from tests.crash.standin import StandIn
from tests.postgres import NoPostgres, postgres

FATES = {
    "ok": 0.900,
    "slow": 0.050,
    "late": 0.012,
    "drop before": 0.010,
    "drop after": 0.010,
    "503 before": 0.009,
    "503 after": 0.009,
}
SLOW_S = (0.1, 12.0)
"""Up to two seconds longer than the client waits."""
LATE_S = 4.0
"""How long after the connection was lost a write may be applied: less than the sidecar's ``settle_ms``."""
RESET_SHARE = 0.04
LONG_TURN = 130
LONG_TURN_SHARE = 0.02
TOKEN_BUDGET = 2_000
DRAIN_S = 180.0
REPLICA_TROUBLE_EVERY_S = (6.0, 14.0)
BACKEND_AWAY_EVERY_S = 60.0
BACKEND_AWAY_S = 4.0

_MARK = re.compile(r"epoch (\d+) turn")


@dataclass
class Conversation:
    """What one host said, and when it asked for each reset."""

    name: str
    texts: list[str] = field(default_factory=list)
    epoch: int = 0
    reset_asked: dict[int, float] = field(default_factory=dict)


@dataclass
class Run:
    """One soak: its sizes and what it measured."""

    store: str
    sessions: int
    turns: int
    pause_s: float
    seed: int
    acknowledged_s: list[float] = field(default_factory=list)
    repeats: int = 0
    ends: Counter[str] = field(default_factory=Counter)

    def report(self, conversations: list[Conversation], backend: StandIn, seconds: float) -> bool:
        """Print the figures; whether all of them are as they must be."""
        verdict = Counter[str]()
        for conversation in conversations:
            verdict.update(_verdict(conversation, backend))
        figures = {
            "store": self.store,
            "sessions": self.sessions,
            "turns": self.sessions * self.turns,
            "messages": sum(len(conversation.texts) for conversation in conversations),
            "lost": verdict["lost"],
            "doubled": verdict["doubled"],
            "out_of_order": verdict["out of order"],
            "in_the_wrong_epoch": verdict["wrong epoch"],
            "resets": sum(conversation.epoch for conversation in conversations),
            "replica_ends": dict(self.ends),
            "backend_fates": dict(sorted(backend.faults.items())),
            "sent_again_by_hosts": self.repeats,
            "ack_p50_ms": round(1000 * median(self.acknowledged_s), 1),
            "seconds": round(seconds),
        }
        print(json.dumps(figures, indent=2), flush=True)
        return not verdict.total()


def _verdict(conversation: Conversation, backend: StandIn) -> Iterator[str]:
    """Everything that is not as it must be, one word each."""
    stored, said = Counter(backend.texts(conversation.name)), Counter(conversation.texts)
    yield from ["lost"] * (said - stored).total()
    yield from ["doubled"] * (stored - said).total()
    if stored == said and backend.texts(conversation.name) != conversation.texts:
        yield "out of order"
    session = backend.sessions[conversation.name]
    for index in session.resets:
        epochs = {_epoch(message) for message in session.archives[index]}
        if any(conversation.reset_asked.get(epoch, float("inf")) > session.committed_at[index] for epoch in epochs):
            asked = {epoch: conversation.reset_asked.get(epoch) for epoch in epochs}
            print(
                f"{conversation.name}: archive {index} of {session.committed_at[index]} holds epochs reset at {asked}"
            )
            yield "wrong epoch"
    if any(_epoch(message) != conversation.epoch for message in session.live):
        print(
            f"{conversation.name}: live messages of {sorted(set(map(_epoch, session.live)))}, now {conversation.epoch}"
        )
        yield "wrong epoch"


def _epoch(message: dict[str, Any]) -> int:
    found = _MARK.search(json.dumps(message))
    if found is None:
        raise AssertionError(f"no message of this run: {message}")
    return int(found[1])


def soak(run: Run, store_url: str, home: Path) -> bool:
    """Run it; whether nothing was lost, doubled, out of order or stuck."""
    began = time.monotonic()
    with StandIn(FATES, seed=run.seed) as backend:
        backend.slow_s, backend.late_s = SLOW_S, LATE_S
        settings = {
            "BACKEND": "openviking",
            "OPENVIKING__URL": backend.url,
            "STORE__URL": store_url,
            "LOG_LEVEL": "warning",
        }
        with Sidecar(home / "first", **settings) as first, Sidecar(home / "second", **settings) as second:
            replicas = [first, second]
            for replica in replicas:
                replica.wait_up()
            conversations = [Conversation(f"session-{number}") for number in range(run.sessions)]
            with _trouble(run, replicas, backend):
                _talk_all(run, conversations, [replica.url for replica in replicas])
            for replica in replicas:
                replica.wait_up()
            backend.chances = {"ok": 1.0}
            drained(replicas, DRAIN_S)
            _no_dead_letters(replicas)
        return run.report(conversations, backend, time.monotonic() - began)


def _talk_all(run: Run, conversations: list[Conversation], urls: list[str]) -> None:
    problems: list[BaseException] = []

    def one(number: int) -> None:
        try:
            _talk(run, conversations[number], urls[number % 2 :] + urls[: number % 2], random.Random(run.seed + number))
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(conversations))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def _talk(run: Run, conversation: Conversation, urls: list[str], chance: random.Random) -> None:
    """One host: it sends each turn with a key until somebody acknowledges it, and now and then starts over."""
    with httpx.Client(trust_env=False, timeout=30) as client:
        time.sleep(chance.uniform(0, run.pause_s))
        for number in range(run.turns):
            length = LONG_TURN if chance.random() < LONG_TURN_SHARE else 2
            prefix = f"{conversation.name} epoch {conversation.epoch} turn {number}"
            texts = [f"{prefix} message {index}" for index in range(length)]
            body = {
                "sessionId": conversation.name,
                "advancementKey": f"{conversation.name}-{number}",
                "messages": [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)],
                "prePromptMessageCount": 0,
                "tokenBudget": TOKEN_BUDGET,
            }
            began = time.monotonic()
            run.repeats += _insist(client, urls, "/after-turn", body)
            run.acknowledged_s.append(time.monotonic() - began)
            conversation.texts += texts
            if chance.random() < RESET_SHARE:
                conversation.reset_asked[conversation.epoch] = time.monotonic()
                run.repeats += _insist(client, urls, "/sessions/reset", {"sessionId": conversation.name})
                conversation.epoch += 1
            time.sleep(chance.expovariate(1 / run.pause_s))


def _insist(client: httpx.Client, urls: list[str], path: str, body: dict[str, Any]) -> int:
    """Send until it is answered with success, to one replica after the other; how often it was sent again."""
    for attempt in range(2_000):
        try:
            answer = client.post(urls[attempt % len(urls)] + path, json=body)
        except httpx.TransportError:
            time.sleep(0.25)
            continue
        if answer.is_success:
            return attempt
        if answer.status_code != 503:
            raise AssertionError(f"{path}: {answer.status_code} {answer.text}")
        time.sleep(0.25)
    raise AssertionError(f"{path} was never accepted")


@contextmanager
def _trouble(run: Run, replicas: list[Sidecar], backend: StandIn) -> Iterator[None]:
    """Kill and terminate the replicas in turn, and take the backend away now and then, until the block ends."""
    with meanwhile(partial(_end_replicas, run, replicas), partial(_take_backend_away, run, backend)):
        yield


def _end_replicas(run: Run, replicas: list[Sidecar], over: threading.Event) -> None:
    chance = random.Random(run.seed)
    ends: dict[str, Callable[[Sidecar], None]] = {"kill -9": Sidecar.kill, "SIGTERM": Sidecar.terminate}
    while not over.wait(chance.uniform(*REPLICA_TROUBLE_EVERY_S)):
        name = chance.choice(list(ends))
        replica = chance.choice(replicas)
        ends[name](replica)
        run.ends[name] += 1
        replica.start()
        replica.wait_up()


def _take_backend_away(run: Run, backend: StandIn, over: threading.Event) -> None:
    while not over.wait(BACKEND_AWAY_EVERY_S):
        backend.stop()
        over.wait(BACKEND_AWAY_S)
        backend.start()
        run.ends["backend away"] += 1


def _no_dead_letters(replicas: list[Sidecar]) -> None:
    answer = httpx.get(f"{replicas[0].url}/deliveries", params={"state": "dead"}, trust_env=False, timeout=20)
    dead = answer.raise_for_status().json()["deliveries"]
    if dead:
        raise AssertionError(f"{len(dead)} turns were given up, the first: {dead[0]}")


@contextmanager
def _store(kind: str, home: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{home / 'shared' / 'turns.db'}"
        return
    with postgres() as url:
        yield url


def main() -> int:
    """Run the soak on each store; the exit status is 0 when nothing was lost, doubled, out of order or stuck."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--store", choices=["sqlite", "postgres"], action="append", help="default: both")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--turns", type=int, default=50, help="turns of each session")
    parser.add_argument("--pause", type=float, default=4.0, help="mean seconds between two turns of a session")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    good = True
    for kind in asked.store or ["sqlite", "postgres"]:
        run = Run(kind, asked.sessions, asked.turns, asked.pause, asked.seed)
        with tempfile.TemporaryDirectory(prefix="sidecar-soak-") as home:
            try:
                with _store(kind, Path(home)) as url:
                    good &= soak(run, url, Path(home))
            except NoPostgres as reason:
                print(f"{kind} skipped: {reason}", flush=True)
            except AssertionError as problem:
                good = False
                print(f"{kind} failed: {problem}", flush=True)
    print("held" if good else "did NOT hold", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
