"""What encryption costs: CPU of `/after-turn`, `/assemble` and a start, in plain and with a key.

    python -m benchmarks.at_rest [turns]

Turns are taken in and delivered to the embedded backend; the CPU is that of the whole process, background included.
"""

import resource
import statistics
import sys
import tempfile
from pathlib import Path

from starlette.testclient import TestClient

from app.factory import create_app
from app.settings import Settings

KEY = "5f" * 32
ROUNDS = 3


def cpu_s() -> float:
    """Of the process and the children that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def measured(turns: int, key: str) -> tuple[float, float, float]:
    """Milliseconds of CPU of a turn, of a recall, and of a start on what was stored."""
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(
            _env_file=None,
            data_dir=Path(directory) / "data",
            log_level="error",
            embedded={"embedder": {"kind": "none"}},
            encryption={"key": key},
        )
        with TestClient(create_app(settings)) as client:
            began = cpu_s()
            for number in range(turns):
                said = f"I have put parcel {number} on shelf {number * 7919 % 1013}; remember that, please."
                messages = [{"role": "user", "content": said}, {"role": "assistant", "content": f"Noted, {number}."}]
                body = {"sessionId": f"s{number % 5}", "messages": messages, "wait": True}
                client.post("/after-turn", json=body).raise_for_status()
            told = (cpu_s() - began) / turns
            began = cpu_s()
            for number in range(turns):
                asked = {"role": "user", "content": f"On which shelf is parcel {number}?"}
                client.post("/assemble", json={"sessionId": f"q{number}", "messages": [asked]}).raise_for_status()
            recalled = (cpu_s() - began) / turns
        began = cpu_s()
        with TestClient(create_app(settings)) as client:
            body = {"sessionId": "q", "messages": [{"role": "user", "content": "Where is parcel 7?"}]}
            client.post("/assemble", json=body).raise_for_status()
        return told * 1000, recalled * 1000, (cpu_s() - began) * 1000


def main() -> None:
    """Print the medians."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    measured(20, KEY), measured(20, "")
    runs = [(measured(turns, ""), measured(turns, KEY)) for _ in range(ROUNDS)]
    for name, of_name in zip(("in plain", "with a key"), zip(*runs, strict=True), strict=True):
        told, recalled, started = (statistics.median(values) for values in zip(*of_name, strict=True))
        print(
            f"{name:12} /after-turn {told:.1f} ms, /assemble {recalled:.1f} ms, start and first recall {started:.0f} ms"
        )


if __name__ == "__main__":
    main()
