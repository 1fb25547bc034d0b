"""What the default install costs: megabytes on top of Python, seconds to the first answer, memory at rest.

    python -m benchmarks.footprint [--embed]

Installs the project with nothing but its own dependencies, or with the extra ``embed`` as `make run` and the image do,
into a fresh environment (pip, from the package index), starts `openviking-sidecar serve` on a free port in an empty
data directory and waits for `/healthz`. The start is timed three times and the best counts (the first one compiles byte
code). Memory is the resident size of the process tree after a turn was captured and a recall was answered. Exits 1 when
a limit is broken.
"""

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMITS = {"": (60.0, 1.0, 130.0), "[embed]": (260.0, 1.5, 320.0)}
"""By extra: megabytes on disk, seconds to the first answer, megabytes of memory."""
STARTS = 3
PATIENCE_S = 60.0


def install(directory: Path, extra: str) -> tuple[Path, float]:
    """A fresh environment with the project in it, and the megabytes that it took."""
    environment = directory / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    before = size_mb(environment)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"{ROOT}{extra}"], check=True)
    return environment, size_mb(environment) - before


def size_mb(environment: Path) -> float:
    """What the installed packages take on disk."""
    files = (path for path in (environment / "lib").rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc") / 1e6


@contextlib.contextmanager
def served(environment: Path, data: Path) -> Iterator[tuple[str, float, int]]:
    """The service running: its URL, the seconds it took to answer, its process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = {
        "PATH": os.environ["PATH"],
        "SIDECAR_PORT": str(port),
        "SIDECAR_DATA_DIR": str(data),
        "SIDECAR_LOG_LEVEL": "error",
    }
    url, began = f"http://127.0.0.1:{port}", time.perf_counter()
    command = [str(environment / "bin" / "openviking-sidecar"), "serve"]
    process = subprocess.Popen(command, env=variables, cwd=data, stdout=subprocess.DEVNULL)
    try:
        while not _answers(f"{url}/healthz"):
            if time.perf_counter() - began > PATIENCE_S or process.poll() is not None:
                raise RuntimeError("the service did not start")
            time.sleep(0.005)
        yield url, time.perf_counter() - began, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)


def memory_mb(pid: int) -> float:
    """Resident memory of a process and its children."""
    status = Path(f"/proc/{pid}/status").read_text()
    resident = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return resident + sum(memory_mb(int(child)) for child in children)


def use(url: str) -> None:
    """One turn in, one recall out."""
    scope = {"sessionId": "footprint"}
    said = {"role": "user", "content": "My bicycle is a green Peugeot.", "timestamp": "2026-03-04T10:00:00Z"}
    asked = {"role": "user", "content": "what colour is my bicycle?"}
    _post(f"{url}/after-turn", {**scope, "messages": [said], "prePromptMessageCount": 0, "wait": True})
    answer = _post(f"{url}/assemble", {**scope, "messages": [asked], "phase": "transform"})
    assert "Peugeot" in str(answer.get("contextBlock")), answer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embed", action="store_true", help="with the extra `embed`")
    extra = "[embed]" if parser.parse_args().embed else ""
    limit_mb, limit_start_s, limit_memory_mb = LIMITS[extra]
    with tempfile.TemporaryDirectory() as directory:
        environment, installed = install(Path(directory), extra)
        starts = []
        for number in range(STARTS):
            data = Path(directory, f"data-{number}")
            data.mkdir()
            with served(environment, data) as (url, seconds, pid):
                starts.append(seconds)
                use(url)
                resident = memory_mb(pid)
    measured = (
        ("installed size, MB", installed, limit_mb),
        ("start to first answer, s", min(starts), limit_start_s),
        ("memory at rest, MB", resident, limit_memory_mb),
    )
    for name, value, limit in measured:
        print(f"{name:<28}{value:>8.2f}   limit {limit:g}")
    return int(any(value >= limit for _, value, limit in measured))


def _answers(url: str) -> bool:
    with contextlib.suppress(urllib.error.URLError, OSError):
        return bool(urllib.request.urlopen(url, timeout=2).status == 200)
    return False


def _post(url: str, body: dict[str, object]) -> dict[str, object]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        result: dict[str, object] = json.load(answer)
    return result


if __name__ == "__main__":
    sys.exit(main())
