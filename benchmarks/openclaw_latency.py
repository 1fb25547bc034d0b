"""What the plugin adds to a turn of the real OpenClaw: the same turns with the sidecar and on the host's own engine.

Two gateways take turns, so that what else the machine does hits both alike. A turn's time is that of the rig's ``say``:
the start of OpenClaw's command line (over a second), the gateway, a scripted model, and with the plugin the sidecar on
the embedded backend, twice before the model and once after it. Run: ``python -m benchmarks.openclaw_latency``.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.openclaw.host import Gateway, Sidecar, rig, why_not

TURNS = 30
WARM_UP = 3
LIMIT_MS = 150.0

FACTS = [
    "I love jasmine tea from Fujian. Please remember this.",
    "My bicycle is green and stands in the cellar. Please remember this.",
    "We decided to ship the atlas on Friday. Please remember this.",
]


def main() -> int:
    """Print the medians; 1 when the plugin adds more than it may."""
    if reason := why_not():
        print(f"skipped: {reason}")
        return 0
    with tempfile.TemporaryDirectory() as folder, rig(Path(folder) / "rig") as home:
        sidecar = Sidecar(Path(folder) / "data", {})
        ours = Gateway(home, "ours", {"baseUrl": sidecar.url})
        own = Gateway(home, "own", {"recall": False, "capture": False}, engine="legacy")
        sidecar.up()
        try:
            for gateway in (ours, own):
                gateway.up()
                for text in FACTS[:WARM_UP]:
                    gateway.say(f"{text} SAY: noted", "facts")
            with_plugin, without = _interleaved(ours, own)
        finally:
            ours.down()
            own.down()
            sidecar.down()
    return _report(with_plugin, without)


def _interleaved(ours: Gateway, own: Gateway) -> tuple[list[float], list[float]]:
    """Milliseconds of each turn on the two gateways."""
    times: tuple[list[float], list[float]] = ([], [])
    for n in range(TURNS):
        text = f"Question {n}: which tea do I love, and where is my bicycle? SAY: answer {n}"
        for gateway, taken in zip((ours, own), times, strict=True):
            started = time.perf_counter()
            gateway.say(text, "bench")
            taken.append((time.perf_counter() - started) * 1000)
    return times


def _report(ours: list[float], own: list[float]) -> int:
    added = statistics.median(a - b for a, b in zip(ours, own, strict=True))
    apart = statistics.median(ours) - statistics.median(own)
    print(f"{TURNS} turns each            median      p90")
    for name, times in (("with the plugin", ours), ("the host's own engine", own)):
        print(f"{name:22} {statistics.median(times):7.0f} ms {statistics.quantiles(times, n=10)[8]:7.0f} ms")
    print(f"added, turn by turn    {added:7.0f} ms (limit {LIMIT_MS:.0f} ms; the medians are {apart:.0f} ms apart)")
    return 0 if added < LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
