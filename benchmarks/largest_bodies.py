"""The largest legal bodies, of the worst shapes, while somebody asks for ``/healthz`` every few milliseconds.

``python -m benchmarks.largest_bodies [--megabytes 31] [--deadline-ms 2000] [--only blocks,deep]`` starts a sidecar of
its own and prints, for each shape and endpoint: the answer, its time, how far behind the deadline it came, and the
slowest health check meanwhile. Promised: health checks within 250 ms; `/assemble` at most 300 ms behind its deadline.
"""

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import httpx

from tests.process import sidecar

HEALTH_EVERY_S = 0.02
INJECTS = ("message", "block", "tool_call", "system")
JSON = {"Content-Type": "application/json"}

_TEXT = b'{"type":"text","text":"a b c"}'
_CALL = (
    b'{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"f","arguments":{"a":1}}]},'
    b'{"role":"toolResult","toolCallId":"c1","content":"ok"}'
)
_QUESTION = b'{"role":"user","content":"Which tea do I like in the morning?"}'


def _many(item: bytes, size: int) -> bytes:
    return b",".join([item] * (size // (len(item) + 1)))


def _numbered(item: bytes, size: int) -> bytes:
    return b",".join([item % number for number in range(size // (len(item) + 6))])


SHAPES: dict[str, Callable[[int], bytes]] = {
    "blocks": lambda size: b'{"role":"user","content":[' + _many(_TEXT, size) + b"]}",
    "messages": lambda size: _many(b'{"role":"user","content":"hi there"}', size),
    "calls": lambda size: _many(_CALL, size) + b"," + _QUESTION,
    "string": lambda size: b'{"role":"user","content":"' + b"lorem ipsum " * (size // 12) + b'"}',
    "deep": lambda size: b'{"role":"user","content":"Which tea?","x":[' + _many(b"[" * 400 + b"]" * 400, size) + b"]}",
    "escapes": lambda size: b'{"role":"user","content":"' + rb"\"" * (size // 2) + b'"}',
    "keys": lambda size: b'{"role":"user","content":"Which tea?","x":{' + _numbered(b'"k%d":1', size) + b"}}",
    "numbers": lambda size: b'{"role":"user","content":"Which tea?","x":[' + _many(b"1", size) + b"]}",
    "members": lambda size: _QUESTION + b"]," + _numbered(b'"k%d":1', size) + b',"z":[1',
    "other": lambda size: _QUESTION + rb'],"model":"' + rb"\n" * (size // 2) + b'","z":[1',
    "lists": lambda size: b'{"role":"user","content":"Which tea?","x":[' + _many(b"[]", size) + b"]}",
}


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=float, default=31)
    parser.add_argument("--deadline-ms", type=int, default=2000)
    parser.add_argument("--only", default=",".join(SHAPES))
    parser.add_argument("--settle-s", type=float, default=1.0, help="how long to go on asking behind an /after-turn")
    asked = parser.parse_args()
    size = int(asked.megabytes * 1024 * 1024)
    with tempfile.TemporaryDirectory() as directory, sidecar(Path(directory) / "data", LOG_LEVEL="warning") as url:
        for shape in asked.only.split(","):
            messages = SHAPES[shape](size)
            for phase, inject in [("transform", i) for i in INJECTS] + [("preflight", ""), ("full", "message")]:
                _assemble(url, f"{shape:9} {phase} {inject}", messages, phase, inject, asked.deadline_ms)
            for path in ("/after-turn", "/compact"):
                body = b'{"sessionId":"%b","deadlineMs":%d,"messages":[' % (shape.encode(), asked.deadline_ms)
                _other(url, f"{shape:9} {path}", path, body + messages + b"]}", asked.settle_s)


def _assemble(url: str, name: str, messages: bytes, phase: str, inject: str, deadline_ms: int) -> None:
    options = f'"phase":"{phase}",' + (f'"inject":"{inject}",' if inject else "")
    body = f'{{"sessionId":"s","deadlineMs":{deadline_ms},{options}"messages":['.encode() + messages + b"]}"
    with _health(url) as waits:
        answer, seconds = _posted(f"{url}/assemble", body)
    reason = answer.text.rpartition('"reason":"')[0] and answer.text.split('"reason":"')[-1].split('"')[0]
    late = max(0.0, seconds - deadline_ms / 1000)
    _print(name, answer, reason, seconds, waits, f"late {late * 1000:6.0f} ms")


def _other(url: str, name: str, path: str, body: bytes, settle_s: float) -> None:
    with _health(url) as waits:
        answer, seconds = _posted(url + path, body)
        time.sleep(settle_s)
    _print(name, answer, answer.json().get("reason", ""), seconds, waits, "")


def _posted(url: str, body: bytes) -> tuple[httpx.Response, float]:
    began = time.perf_counter()
    answer = httpx.post(url, content=body, headers=JSON, timeout=300, trust_env=False)
    return answer, time.perf_counter() - began


def _print(name: str, answer: httpx.Response, reason: str, seconds: float, waits: list[float], more: str) -> None:
    print(
        f"{name:32} {answer.status_code} {reason:20} {seconds:6.2f} s  {more:16}"
        f"health p50 {statistics.median(waits) * 1000:5.0f} ms, slowest {max(waits) * 1000:5.0f} ms",
        flush=True,
    )


@contextmanager
def _health(url: str) -> Iterator[list[float]]:
    """Ask for ``/healthz`` until the block ends; how long each took, seconds. Not held up by what this process does."""
    waits: list[float] = []
    ours, theirs = multiprocessing.Pipe()
    asking = multiprocessing.get_context("spawn").Process(target=_ask, args=(url, theirs))
    asking.start()
    ours.recv()
    try:
        yield waits
    finally:
        ours.send("stop")
        waits += ours.recv()
        asking.join()


def _ask(url: str, link: Connection) -> None:
    waits: list[float] = []
    with httpx.Client(trust_env=False, timeout=120) as client:
        client.get(f"{url}/healthz")
        link.send("ready")
        while not link.poll(HEALTH_EVERY_S):
            began = time.perf_counter()
            client.get(f"{url}/healthz")
            waits.append(time.perf_counter() - began)
    link.send(waits)


if __name__ == "__main__":
    main()
