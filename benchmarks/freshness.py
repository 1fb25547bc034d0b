"""What a check of 100,000 memories costs, and what `/assemble` notices of it.

    python -m benchmarks.freshness [--memories 100000]

A sidecar in a process of its own is asked over HTTP. Promised is that a check takes less than 10 s of one core, and
that the p95 of `/assemble` meanwhile is within 1.2 times of what it is otherwise.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import httpx

from benchmarks.idle import cpu_s, sidecar

LIMIT_S = 10.0
MOST_SLOWER = 1.2
AT_ONCE = 2_000
ROUNDS = 400
PAUSE_S = 0.02
_THINGS = ("boiler", "bicycle", "piano", "passport", "invoice", "garden", "server", "ticket", "recipe", "printer")


def lines(count: int) -> Iterator[str]:
    """So many memories as an export has them: every hundredth says what another one says, a third are uncertain."""
    for number in range(count):
        chance = Random(number)
        at = datetime(2026, 1, 1, tzinfo=UTC) - timedelta(days=chance.randrange(400))
        stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        told = number % (count - count // 100)
        memory = {
            "id": f"m_{number:08}",
            "category": "entities",
            "text": f"The {Random(told).choice(_THINGS)} number {told} belongs to person {told % 977}.",
            "createdAt": stamp,
            "updatedAt": stamp,
            "confidence": 0.6 if number % 3 == 0 else 0.9,
            "sources": [{"kind": "turn", "at": stamp, "session": f"s{number % 50}", "turnId": f"t_{number}"}],
        }
        yield json.dumps(memory)


def fill(client: httpx.Client, count: int) -> None:
    """Import the memories."""
    made = list(lines(count))
    for start in range(0, count, AT_ONCE):
        body = "\n".join(made[start : start + AT_ONCE])
        answer = client.post("/memories/import", content=body, headers={"content-type": "application/x-ndjson"})
        assert answer.json()["imported"] == min(AT_ONCE, count - start), answer.text


def check(client: httpx.Client) -> None:
    """Check the memories, and say what was found."""
    before = client.get("/memories/freshness").json()["checkedAt"]
    report = client.post("/memories/freshness", json={"deadlineMs": 600_000}).raise_for_status().json()
    assert report["checkedAt"] != before, "the check was not done in time"
    print({name: len(found) for name, found in report.items() if isinstance(found, list)}, flush=True)


def assembled(client: httpx.Client, numbers: Iterator[int], goes_on: Callable[[int], bool]) -> list[float]:
    """Milliseconds of one `/assemble` after another, each with a question of its own, while ``goes_on`` (of how many)
    says so."""
    taken: list[float] = []
    while goes_on(len(taken)):
        number = next(numbers)
        question = f"To whom belongs the {_THINGS[number % len(_THINGS)]} number {number}?"
        body = {"sessionId": "asks", "messages": [{"role": "user", "content": question}]}
        began = time.perf_counter()
        client.post("/assemble", json=body).raise_for_status()
        taken.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE_S)
    return taken


def main() -> int:
    """Measure, print, and say whether the promises hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    count = parser.parse_args().memories
    settings = {"LOG_LEVEL": "error", "EMBEDDED__EMBEDDER__KIND": "none", "LIMITS__MAX_DEADLINE_MS": "600000"}
    with (
        tempfile.TemporaryDirectory() as directory,
        sidecar(Path(directory) / "data", **settings) as url,
        httpx.Client(base_url=url, trust_env=False, timeout=600) as client,
    ):
        [pid] = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        fill(client, count)
        used, began = cpu_s(int(pid)), time.monotonic()
        check(client)
        used, seconds = cpu_s(int(pid)) - used, time.monotonic() - began
        numbers = iter(range(10**9))
        assembled(client, numbers, lambda done: done < ROUNDS // 4)
        quiet = assembled(client, numbers, lambda done: done < ROUNDS)
        with httpx.Client(base_url=url, trust_env=False, timeout=600) as other:
            checking = threading.Thread(target=check, args=(other,))
            checking.start()
            beside = assembled(client, numbers, lambda _: checking.is_alive())
    figures = [(statistics.median(taken), p95(taken)) for taken in (quiet, beside)]
    (median, late), (median_beside, late_beside) = figures
    print(f"{count} memories: a check takes {used:.1f} s of CPU in {seconds:.1f} s (limit {LIMIT_S:.0f} s of CPU)")
    print(f"/assemble: p50 {median:.1f} ms, p95 {late:.1f} ms of {len(quiet)}")
    print(f"during a check: p50 {median_beside:.1f} ms, p95 {late_beside:.1f} ms of {len(beside)}")
    print(f"p95 {late_beside / late:.2f} x (limit {MOST_SLOWER} x), p50 {median_beside / median:.2f} x")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors: a busy machine measures itself")
    return int(used >= LIMIT_S or late_beside > MOST_SLOWER * late)


def p95(taken: list[float]) -> float:
    """The time that 95 of 100 take less than."""
    return statistics.quantiles(taken, n=20)[-1]


if __name__ == "__main__":
    sys.exit(main())
