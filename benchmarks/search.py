"""How long the embedded backend's search takes as memory grows, without the embedding of the question.

    python -m benchmarks.search [--sizes 1000,10000,100000] [--words-only]

Fills one user's transcripts with made-up talk, gives every chunk a random vector where NumPy is installed, and
asks questions of a few words for the 24 candidates that a recall with the default limit wants. Printed per size: median
and p95, and the median of the processor's time, which other work on the machine changes little. Exits 1 when the median
is not under 10 ms at 10,000 chunks or under 60 ms at 100,000.
"""

import argparse
import importlib.util
import random
import statistics
import sys
import tempfile
import time
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.identity import SessionKind, Tenant
from app.embedded.index.embedders import Vector
from app.embedded.space import UserSpace
from app.settings import EmbeddedSettings

LIMITS_MS = {10_000: 10.0, 100_000: 60.0}
LIMIT = 24
QUESTIONS = 60
VOCABULARY = 20_000
COMMON = 50
NUMBERS = 384


class RandomVectors:
    """Stands in for an embedder: the time of an embedding is not what is measured."""

    name = "random"
    batch = 500

    def __init__(self) -> None:
        self._random = random.Random(7)
        self._pool = array("f", (self._random.gauss(0, 1) for _ in range(100_000)))

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector() for _ in texts]

    def query(self, _text: str) -> Vector:
        return self._vector()

    def _vector(self) -> Vector:
        start = self._random.randrange(len(self._pool) - NUMBERS)
        return self._pool[start : start + NUMBERS].tobytes()


def sentence(rng: random.Random, words: int) -> str:
    """Words with frequencies as in speech (Zipf): near half of them stop words, the others from behind those on."""
    span = VOCABULARY / COMMON
    return " ".join(
        rng.choice(("the", "a", "is", "of")) if rng.random() < 0.45 else f"word{int(COMMON * span ** rng.random())}"
        for _ in range(words)
    )


def fill(space: UserSpace, rng: random.Random, start: int, end: int) -> None:
    for number in range(start, end, 100):
        messages = [
            CapturedMessage("user", (TextPart(sentence(rng, 22)),), "2026-03-04T10:00:00+00:00", f"t_{number}.{n}")
            for n in range(min(100, end - number))
        ]
        session = f"session-{number // 5000}"
        space.append(session, SessionKind.CHAT, messages, "2026-03-04T10:00:00+00:00", Deadline.after_ms(600_000))


def ask(space: UserSpace, rng: random.Random, threads: ThreadPoolExecutor) -> tuple[float, float]:
    """Milliseconds: on the clock, and of the processor."""
    question, realms, wanted = sentence(rng, 9), ["", "p:main"], LIMIT * 4
    began, worked = time.perf_counter(), time.process_time()
    similar = threads.submit(space.index.search_vectors, question, realms, wanted)
    words = space.index.search_words(question, realms, wanted)
    space.index.hits(question, words, similar.result(), realms, LIMIT, datetime(2026, 4, 1, tzinfo=UTC))
    return (time.perf_counter() - began) * 1000, (time.process_time() - worked) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,3000,10000,30000,100000")
    parser.add_argument("--words-only", action="store_true")
    options = parser.parse_args()
    sizes = sorted(int(size) for size in options.sizes.split(","))
    vectors = not options.words_only and importlib.util.find_spec("numpy") is not None
    print(f"search, {'words and vectors' if vectors else 'words only'}, {LIMIT} hits wanted\n")
    print(f"{'chunks':>8} {'p50 ms':>8} {'p95 ms':>8} {'CPU ms':>8} {'limit ms':>9}")
    rng, done, failed = random.Random(1), 0, False
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(4) as threads:
        embedder = RandomVectors() if vectors else None
        space = UserSpace(
            Path(directory), Tenant(), EmbeddedSettings(), embedder, lambda _, work: threads.submit(work, space)
        )
        for size in sizes:
            fill(space, rng, done, size)
            done = size
            if job := space.index.embed():
                job.result()
            asked = [ask(space, rng, threads) for _ in range(QUESTIONS)]
            times, worked = sorted(ms for ms, _ in asked), statistics.median(cpu for _, cpu in asked)
            limit = LIMITS_MS.get(size)
            median = statistics.median(times)
            failed |= limit is not None and median >= limit
            p95 = times[int(len(times) * 0.95)]
            print(f"{size:>8} {median:>8.1f} {p95:>8.1f} {worked:>8.1f} {limit or '':>9}", flush=True)
        space.stop()
        space.close()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
