"""How long a page of memories and a search among them take: ``python -m benchmarks.memories [--memories 10000]``.

Over HTTP against a sidecar in this process, on the embedded engine with words alone. Limits, as medians: a page of 50
under 20 ms, a search under 30 ms.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from starlette.testclient import TestClient

from app.factory import create_app
from app.settings import Settings

SUBJECTS = ["billing", "login", "search", "export", "mail", "backup", "staging", "printer", "kitchen", "garden"]
THINGS = ["port", "owner", "password", "region", "colour", "deadline", "version", "budget", "room", "schedule"]
PLACES = ["Antwerp", "Ghent", "Lisbon", "Porto", "Oslo", "Bergen", "Kyoto", "Osaka", "Lyon", "Nice", "Turin", "Milan"]
ROUNDS = 60


def lines(count: int) -> Iterator[str]:
    """So many memories as an export has them."""
    random = Random(7)
    for number in range(count):
        subject, thing, place = (random.choice(words) for words in (SUBJECTS, THINGS, PLACES))
        at = f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:00.{number % 1000:03}Z"
        memory = {
            "id": f"m_{number:08}",
            "category": ("notes", "entities", "preferences")[number % 3],
            "text": f"The {thing} of {subject} {number % 500} is {random.randrange(9999)} in {place}.",
            "createdAt": at,
            "updatedAt": at,
        }
        yield json.dumps(memory)


Times = tuple[float, float]


def timed(call: Callable[[], object]) -> Times:
    """Milliseconds on the clock, and of the processor, which other work on the machine changes little."""
    began, worked = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - began) * 1000, (time.process_time() - worked) * 1000


def told(what: str, times: list[Times], limit: str) -> None:
    waited, worked = (sorted(one) for one in zip(*times, strict=True))
    late = waited[int(len(waited) * 0.95)]
    print(f"| {what} | {statistics.median(waited):.1f} | {late:.1f} | {statistics.median(worked):.1f} | {limit} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    count = parser.parse_args().memories
    with tempfile.TemporaryDirectory() as directory:
        words = {"embedder": {"kind": "none"}}
        settings = Settings(
            _env_file=None, data_dir=Path(directory), log_level="error", recall={"cache_ms": 0}, embedded=words
        )
        with TestClient(create_app(settings)) as client:
            measure(client, count)


def measure(client: TestClient, count: int) -> None:
    body = "\n".join(lines(count))
    headers = {"content-type": "application/x-ndjson"}
    seconds = timed(lambda: client.post("/memories/import", content=body, headers=headers).raise_for_status())[0] / 1000
    assert len(client.get("/memories?limit=50").json()["memories"]) == 50
    print(f"{count} memories taken in within {seconds:.1f} s\n")
    print("| milliseconds | median | 95 % | of the processor | limit |\n| --- | --- | --- | --- | --- |")
    random, cursor = Random(1), ""

    def page() -> None:
        nonlocal cursor
        found = client.get(f"/memories?limit=50{cursor}").json()
        cursor = f"&cursor={found['nextCursor']}" if found["nextCursor"] else ""

    def search() -> None:
        query = f"what is the {random.choice(THINGS)} of {random.choice(SUBJECTS)} {random.randrange(500)}"
        client.get("/memories", params={"query": query, "limit": 20}).raise_for_status()

    def assemble() -> None:
        asked = f"what is the {random.choice(THINGS)} of {random.choice(SUBJECTS)} {random.randrange(500)}"
        body = {"sessionId": "s", "messages": [{"role": "user", "content": asked}]}
        client.post("/assemble", json=body).raise_for_status()

    def opened(page: str) -> None:
        client.get(page).raise_for_status()

    def store() -> None:
        client.post("/memories", json={"text": f"Number {random.random()} is drawn."}).raise_for_status()

    told("a page of 50", [timed(page) for _ in range(ROUNDS)], "20")
    told(
        "a page of 50 of one category",
        [timed(lambda: client.get("/memories?category=notes")) for _ in range(ROUNDS)],
        "20",
    )
    told("a page of 50 for people", [timed(lambda: opened("/ui/memories")) for _ in range(ROUNDS)], "20")
    told("the same, pinned ones", [timed(lambda: opened("/ui/memories?pinned=true")) for _ in range(ROUNDS)], "20")
    told(
        "one for people",
        [timed(lambda: opened(f"/ui/memories/m_{random.randrange(count):08}")) for _ in range(ROUNDS)],
        "20",
    )
    told("a search", [timed(search) for _ in range(ROUNDS)], "30")
    told(
        "a search for people",
        [timed(lambda: opened("/ui/memories?query=who+owns+billing+12")) for _ in range(ROUNDS)],
        "30",
    )
    told("/assemble", [timed(assemble) for _ in range(ROUNDS)], "")
    told("storing one", [timed(store) for _ in range(20)], "")
    export = timed(lambda: client.get("/memories/export").raise_for_status())[0] / 1000
    print(f"\nall exported within {export:.1f} s")


if __name__ == "__main__":
    main()
