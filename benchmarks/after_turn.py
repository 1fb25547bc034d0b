"""How long `/after-turn` takes to acknowledge, beside a plain ``INSERT`` with the same sync on the same disk.

    python -m benchmarks.after_turn [--turns 300] [--data-dir DIR]

Two things are claimed: the median is under 5 ms, and the time does not depend on the backend's. So the same turns are
sent while the backend answers at once, while it takes two seconds for everything, and while nothing listens there; the
plain inserts are interleaved with them, one after every turn, so that both see the same disk at the same time.
"""

import argparse
import asyncio
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from tests.crash.harness import Sidecar

CLAIM_MS = 5.0


async def slow_backend(delay_s: float) -> tuple[asyncio.Server, int]:
    """A server that answers every request with an empty success after ``delay_s``."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(delay_s)
                body = b'{"status":"ok","result":{"message_count":1,"pending_tokens":1,"matches":[]}}'
                head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


def plain_table(directory: Path) -> sqlite3.Connection:
    """A table in a file of its own, written as the store writes: WAL, full sync, one transaction a row."""
    directory.mkdir()
    connection = sqlite3.connect(directory / "plain.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE turns (id INTEGER PRIMARY KEY, payload TEXT)")
    return connection


def a_turn(number: int) -> dict[str, object]:
    """A turn of common size: a question, a tool call with its result, an answer; about 2 KB."""
    call = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {"path": f"/src/{number}.py"}}
    return {
        "sessionId": f"bench-{number % 10}",
        "advancementKey": f"turn-{number}",
        "prePromptMessageCount": 0,
        "messages": [
            {"role": "user", "content": f"Question {number}: why does the build of module {number} fail?"},
            {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, call]},
            {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "read", "content": "line of code\n" * 100},
            {"role": "assistant", "content": "The import at the top is missing. " * 10},
        ],
    }


async def measure(name: str, backend_url: str, turns: int, directory: Path) -> list[float]:
    """Acknowledge ``turns`` turns, one after the other; prints and returns their times in milliseconds."""
    plain = plain_table(directory)
    settings = {"BACKEND": "openviking", "OPENVIKING__URL": backend_url, "LOG_LEVEL": "error"}
    acks, inserts = [], []
    with Sidecar(directory / "data", **settings) as sidecar:
        await asyncio.to_thread(sidecar.wait_up)
        async with httpx.AsyncClient(base_url=sidecar.url, trust_env=False, timeout=30) as client:
            for number in range(-20, turns):
                began = time.perf_counter()
                answer = await client.post("/after-turn", json=a_turn(number))
                took = (time.perf_counter() - began) * 1000
                assert answer.json()["status"] == "committed", answer.text
                began = time.perf_counter()
                plain.execute("INSERT INTO turns (payload) VALUES (?)", ("x" * 2000,))
                inserted = (time.perf_counter() - began) * 1000
                if number >= 0:
                    acks.append(took)
                    inserts.append(inserted)
    plain.close()
    ack, insert = statistics.median(acks), statistics.median(inserts)
    p95 = statistics.quantiles(acks, n=20)[-1]
    print(
        f"{name:28} ack p50 {ack:6.2f} ms  p95 {p95:6.2f} ms  plain INSERT p50 {insert:6.2f} ms  ratio {ack / insert:5.1f}"
    )
    return acks


async def main() -> int:
    """Run all three and say whether the claims hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--data-dir", type=Path, help="where to write; a temporary directory by default")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.data_dir, prefix="after-turn-") as made, socket.socket() as closed:
        directory = Path(made)
        closed.bind(("127.0.0.1", 0))
        medians = []
        for name, delay_s in (("backend at once", 0.0), ("backend takes 2 s", 2.0)):
            server, port = await slow_backend(delay_s)
            times = await measure(name, f"http://127.0.0.1:{port}", arguments.turns, directory / name.replace(" ", "-"))
            medians.append(statistics.median(times))
            server.close()
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
        medians.append(statistics.median(await measure("backend down", nobody, arguments.turns, directory / "down")))
    holds = max(medians) < CLAIM_MS
    print(f"claim: median under {CLAIM_MS} ms whatever the backend does: {'holds' if holds else 'DOES NOT HOLD'}")
    return 0 if holds else 1


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except subprocess.SubprocessError as error:
        sys.exit(str(error))
