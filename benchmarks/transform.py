"""`transform` over a backend of 30 ms: the median of the engine, and of the whole service over HTTP on this machine.

    python -m benchmarks.transform

Exits 1 when the engine's median is 34 ms or more, with the default settings or with experiences. The backend sleeps and
answers with 24 memories and 12 experiences of ordinary length; every message is a new one, so nothing comes from the
cache. Run it on a quiet machine: the CPU column says how much of a median is our own work.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from app.classify.classifier import ByWords
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.core.messages.host_message import HostMessage
from app.core.recall.hits import Hit
from app.core.recall.trace import RecallTrace
from app.engine.results import AssembleInput
from app.factory import create_app
from app.ports import BackendHealth, Target
from app.recall.searches import Searches
from app.recall.transform import Transform
from app.settings import Settings

BACKEND_S, LIMIT_MS, ROUNDS, WARM_UP = 0.030, 34.0, 200, 20
HOME = "viking://user/alice/memories"
ME = Identity(Tenant("acme", "alice"), "bench", None, "main", None, PeerRole.ASSISTANT)
LESSON = (
    "## Situation\n- Case {n}\n\n## Approach\n" + "- Do one thing after another\n" * 6 + "\n## Reflect\n- Never {n}"
)


@dataclass(frozen=True)
class Figures:
    """Milliseconds a run: on the clock, and of this process' CPU (which other work on the machine hardly changes)."""

    median_ms: float
    cpu_ms: float


class SlowBackend:
    """Answers every search after 30 ms, as a local OpenViking with an embedding model does."""

    name = place = "slow"
    call_s = 10.0

    def gauges(self) -> Mapping[str, float]:
        return {}

    async def find(self, _who: Identity, _query: str, target: Target, limit: int, *_: object) -> list[Hit]:
        await asyncio.sleep(BACKEND_S)
        if target is Target.EXPERIENCES:
            return [_hit("experiences", n, LESSON.format(n=n)) for n in range(limit)]
        words = "some words 和一些字 " * 12
        return [_hit("entities", n, f"Fact {n} about the project: {words}") for n in range(limit)]

    async def health(self, _deadline: Deadline) -> BackendHealth:
        return BackendHealth(True, "sleeps")

    async def aclose(self) -> None:
        return


class _NoTraces:
    def record(self, _make: Callable[[], RecallTrace]) -> None:
        return


def _hit(category: str, number: int, text: str) -> Hit:
    return Hit(f"{HOME}/{category}/{number}.md", text, 0.95 - number / 200, category=category)


def question(number: int) -> str:
    """A task of ordinary length, no two the same."""
    return f"Please fix the failing import test {number} in src/import_{number}.py, 它在夜里超时 and retry it twice."


ALL_SHOWN = {"score_threshold": 0, "relative_cut": 0}
"""The most work: with default settings little would be shown."""


async def measured(work: Callable[[int], Awaitable[Any]]) -> Figures:
    """The median of `ROUNDS` runs after a warm-up, and this process' CPU time a run."""
    times: list[float] = []
    began_cpu = 0.0
    for number in range(WARM_UP + ROUNDS):
        if number == WARM_UP:
            began_cpu = time.process_time()
        began = time.perf_counter()
        await work(number)
        times.append(time.perf_counter() - began)
    cpu = time.process_time() - began_cpu
    return Figures(statistics.median(times[WARM_UP:]) * 1000, cpu / ROUNDS * 1000)


async def of_engine(backend: SlowBackend, *, experiences: bool) -> Figures:
    """The use case alone: one search by default, two with experiences."""
    settings = Settings(_env_file=None, recall=ALL_SHOWN, experience={"enabled": experiences})
    engine = Transform(settings, Searches(backend, cache_ms=15_000), _NoTraces(), ByWords())  # type: ignore[arg-type]

    async def recall(number: int) -> None:
        asked = AssembleInput((HostMessage({"role": "user", "content": question(number)}),), None, 128_000)
        answer = await engine.run(ME, asked, Deadline.after_ms(5_000))
        assert answer.assembled

    return await measured(recall)


async def of_service(backend: SlowBackend, directory: Path) -> Figures:
    """The running service, asked by a client with one connection; store and traces included."""
    settings = Settings(
        _env_file=None, data_dir=directory, log_level="error", recall=ALL_SHOWN, experience={"enabled": True}
    )
    app = create_app(settings, backend=backend)  # type: ignore[arg-type]
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 (uvicorn has no event for it)
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:

        async def recall(number: int) -> None:
            body = {
                "sessionId": "bench",
                "agentId": "main",
                "messages": [{"role": "user", "content": question(number)}],
            }
            answer = await client.post("/assemble", json=body)
            assert answer.json()["status"] == "assembled", answer.text

        found = await measured(recall)
    server.should_exit = True
    await serving
    return found


async def main() -> int:
    """Print the table and say whether the promise holds."""
    backend = SlowBackend()
    own = await measured(lambda _: backend.find(ME, "q", Target.MEMORIES, 24, Deadline.after_ms(5_000)))
    with tempfile.TemporaryDirectory() as directory:
        rows = {
            "transform": await of_engine(backend, experiences=False),
            "+ experiences": await of_engine(backend, experiences=True),
            "POST /assemble": await of_service(backend, Path(directory)),
        }
    print(f"{'':<16}{'median ms':>10}{'x backend':>11}{'beyond it':>11}{'CPU ms':>9}")
    for name, found in {"backend alone": own, **rows}.items():
        ratio, beyond = found.median_ms / own.median_ms, found.median_ms - own.median_ms
        print(f"{name:<16}{found.median_ms:>10.2f}{ratio:>11.3f}{beyond:>11.2f}{found.cpu_ms:>9.2f}")
    return 0 if max(rows["transform"].median_ms, rows["+ experiences"].median_ms) < LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
