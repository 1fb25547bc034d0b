"""A sidecar as a user runs it, on a free port: in its own process, or in a thread of the test's."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn

from app.api.server import uvicorn_options
from app.factory import create_app
from app.settings import Settings


def free_port() -> int:
    """A port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def sidecar(data_dir: Path, **settings: str) -> Iterator[str]:
    """Run ``openviking-sidecar serve`` until the block ends; yields its base URL. ``settings`` without ``SIDECAR_``."""
    port = free_port()
    env = {k: v for k, v in os.environ.items() if not k.startswith("SIDECAR_")}
    env |= {"SIDECAR_DATA_DIR": str(data_dir), "SIDECAR_PORT": str(port)}
    env |= {f"SIDECAR_{name}": value for name, value in settings.items()}
    log = data_dir.parent / f"{data_dir.name}.log"
    with log.open("ab") as out:
        process = subprocess.Popen([sys.executable, "-m", "app.cli", "serve"], env=env, stdout=out, stderr=out)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_up(process, url, log)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def running(settings: Settings) -> Iterator[uvicorn.Server]:
    """Serve in a thread until the block ends."""
    options = uvicorn_options(settings.limits)
    server = uvicorn.Server(
        uvicorn.Config(create_app(settings), port=free_port(), log_config=None, lifespan="on", **options)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield server
    finally:
        server.should_exit = True
        thread.join()


def _wait_until_up(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + 120  # a busy machine takes its time
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(f"{url}/healthz", trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise RuntimeError(f"the sidecar did not start:\n{log.read_text(errors='replace')[-3000:]}")
