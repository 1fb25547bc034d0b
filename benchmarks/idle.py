"""What the service costs while nobody asks it anything: CPU time at rest, with sessions in its store.

    python -m benchmarks.idle [--sessions 200] [--seconds 20]

Measured are the embedded backend, an OpenViking that has taken all turns, and one that is away while every session has
a turn for it. Exits 1 when the service, with its children, takes 2 % of a core or more.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import httpx

from benchmarks.standin import JsonHandler, serving
from tests.process import free_port, sidecar

LIMIT = 0.02
SETTLE_S = 12.0
"""Longer than the longest pause between two tries of a turn."""


def tell(url: str, sessions: int, hour: int) -> None:
    """A turn in each of the sessions."""
    said = [{"role": "user", "content": f"The import runs at {hour}."}, {"role": "assistant", "content": "Noted."}]
    with httpx.Client(trust_env=False, timeout=60) as client:
        for number in range(sessions):
            body = {"sessionId": f"idle-{number}", "messages": said, "prePromptMessageCount": 0}
            client.post(f"{url}/after-turn", json=body).raise_for_status()


def cpu_s(pid: int) -> float:
    """Seconds of CPU that a process and its children have used, those that ended included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(cpu_s(int(child)) for child in children)


def at_rest(seconds: float) -> float:
    """The share of a core that this process' child takes."""
    time.sleep(SETTLE_S)
    [pid] = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    before, began = cpu_s(int(pid)), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(int(pid)) - before) / (time.monotonic() - began)


def main() -> int:
    """Measure, print, and say whether the promise holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    measured = {}
    with tempfile.TemporaryDirectory() as directory:
        quiet = {"LOG_LEVEL": "error"}
        with sidecar(Path(directory) / "embedded", **quiet) as url:
            tell(url, options.sessions, 1)
            measured["embedded"] = at_rest(options.seconds)
        port = free_port()
        settings = {**quiet, "BACKEND": "openviking", "OPENVIKING__URL": f"http://127.0.0.1:{port}"}
        with sidecar(Path(directory) / "openviking", **settings) as url:
            with serving(JsonHandler, port):
                tell(url, options.sessions, 2)
                measured["OpenViking, all delivered"] = at_rest(options.seconds)
            tell(url, options.sessions, 3)
            measured["OpenViking away"] = at_rest(options.seconds)
    print(f"{options.sessions} sessions\n\n{'':<28}{'of a core':>10}{'limit':>8}")
    for name, share in measured.items():
        print(f"{name:<28}{share:>10.2%}{LIMIT:>8.0%}")
    return int(any(share >= LIMIT for share in measured.values()))


if __name__ == "__main__":
    sys.exit(main())
