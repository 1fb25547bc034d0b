"""What an OpenViking that is away costs a reply, and how soon its return is noticed.

    python -m benchmarks.breaker_open [--calls 200]

Nothing listens on OpenViking's port, so the breaker opens; then `/assemble` is timed in each phase. At last a server
that answers starts on that port, and the time until a recall reaches it is compared with the breaker's interval. Exits
1 when the 95th percentile is 20 ms or more, or the return is noticed later than an interval and a half.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from benchmarks.standin import JsonHandler, serving
from tests.process import free_port, sidecar

CLAIM_MS = 20.0
RESET_MS = 2000
LATE = 1.5


class Back(JsonHandler):
    """An OpenViking that is back: it finds nothing, but it answers."""

    def result(self) -> Any:
        return {"memories": [], "resources": [], "skills": [], "total": 0}


def ask(client: httpx.Client, phase: str, number: int) -> tuple[str, float]:
    """One call: its reason, and its time in milliseconds."""
    messages = [{"role": "user", "content": f"What did we decide about release {number}?"}]
    began = time.perf_counter()
    answer = client.post("/assemble", json={"sessionId": "bench", "phase": phase, "messages": messages}).json()
    return answer["reason"], (time.perf_counter() - began) * 1000


def main() -> int:
    """Measure, print, and say whether the claims hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200)
    calls = parser.parse_args().calls
    port, holds = free_port(), True
    settings = {
        "BACKEND": "openviking",
        "OPENVIKING__URL": f"http://127.0.0.1:{port}",
        "OPENVIKING__BREAKER_RESET_MS": str(RESET_MS),
        "LOG_LEVEL": "error",
    }
    with (
        tempfile.TemporaryDirectory() as made,
        sidecar(Path(made) / "data", **settings) as url,
        httpx.Client(base_url=url, trust_env=False) as client,
    ):
        for phase in ("transform", "preflight", "full"):
            times = [ask(client, phase, number)[1] for number in range(calls + 20)][20:]
            p95 = statistics.quantiles(times, n=20)[-1]
            print(f"breaker open, {phase:10} p50 {statistics.median(times):6.2f} ms   p95 {p95:6.2f} ms")
            holds = holds and p95 < CLAIM_MS
        with serving(Back, port):
            began = time.perf_counter()
            number = calls
            while ask(client, "transform", number)[0] != "no_recall_hits":
                number += 1
            noticed_ms = (time.perf_counter() - began) * 1000
    ratio = noticed_ms / RESET_MS
    print(f"return noticed after {noticed_ms:.0f} ms, {ratio:.2f} of the breaker's interval of {RESET_MS} ms")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0 if holds and ratio <= LATE else 1


if __name__ == "__main__":
    sys.exit(main())
