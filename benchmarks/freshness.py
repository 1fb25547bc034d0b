"""What a check of 100,000 memories costs, and what `/assemble` notices of it: ``python -m benchmarks.freshness``."""

import asyncio
import random
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.core.memories.memory import Memory, MemoryRecord, MemorySource
from app.embedded.backend import EmbeddedBackend
from app.embedded.memory_store import EmbeddedMemories
from app.engine.memories.collaborators import operator_of
from app.ports import Target
from app.services import open_services
from app.settings import Settings

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
LIMIT_S = 10.0
MOST_SLOWER = 1.2
_WHO = operator_of(Tenant(None, "bench"))
_THINGS = ("boiler", "bicycle", "piano", "passport", "invoice", "garden", "server", "ticket", "recipe", "printer")


def _record(number: int) -> MemoryRecord:
    chance = random.Random(number)
    at = (datetime(2026, 1, 1, tzinfo=UTC) - timedelta(days=chance.randrange(400))).isoformat(timespec="milliseconds")
    at = at.replace("+00:00", "Z")
    text = f"The {chance.choice(_THINGS)} number {number % (COUNT - COUNT // 100)} belongs to person {number % 977}."
    source = MemorySource("turn", at, f"s{number % 50}", f"t_{number}")
    return MemoryRecord(
        Memory(
            f"m_{number:08}", "", "entities", text, at, at, confidence=0.9 - 0.3 * (number % 3 == 0), sources=(source,)
        )
    )


async def _assemble_ms(backend: EmbeddedBackend, seconds: float) -> list[float]:
    taken, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        await backend.find(_WHO, "to whom belongs the piano number 77?", Target.MEMORIES, 6, Deadline.after_ms(5_000))
        taken.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.02)
    return taken


async def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(
            _env_file=None, data_dir=Path(directory), log_level="error", embedded={"embedder": {"kind": "none"}}
        )
        async with open_services(settings) as services:
            backend = services.backend._backend._backend  # type: ignore[attr-defined]
            memories = EmbeddedMemories(backend)
            for start in range(0, COUNT, 2_000):
                records = [_record(number) for number in range(start, min(COUNT, start + 2_000))]
                await memories.take_in(_WHO, records, Deadline.after_ms(600_000))
            quiet = await _assemble_ms(backend, 3.0)
            cpu, began = time.process_time(), time.monotonic()
            checking = asyncio.create_task(services.check_freshness.run(_WHO, Deadline.after_ms(600_000)))
            beside: list[float] = []
            while not checking.done():
                beside += await _assemble_ms(backend, 0.2)
            report, seconds, cpu = await checking, time.monotonic() - began, time.process_time() - cpu
            found = {name: len(getattr(report, name)) for name in ("expired", "stale", "unconfirmed", "duplicates")}
            p95 = [statistics.quantiles(taken, n=20)[-1] for taken in (quiet, beside)]
            print(f"{COUNT} memories: {seconds:.1f} s, {cpu:.1f} s of CPU with the searches beside it, {found}")
            print(f"search p95: {p95[0]:.1f} ms quiet, {p95[1]:.1f} ms during the check ({p95[1] / p95[0]:.2f} x)")
            assert seconds < 4 * LIMIT_S, "the check takes too long"


if __name__ == "__main__":
    asyncio.run(main())
