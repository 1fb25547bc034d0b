"""What a provider's prompt cache can keep: a session of 30 turns, replayed, with recall, capture and two compactions;
and how often the cached prefix breaks in a coding session of 200 turns.

    python -m benchmarks.prompt_cache

Runs the service on the embedded backend and builds each turn's request as a host does: `/assemble` (full), the model's
answer, `/after-turn`. Printed per way of injecting: which share of the *stable* bytes of a request (system prompt,
guides, summary, and the history before the latest user message) the next request begins with, and which share of the
next request as a whole that is. Then, per size of a tool output and with the backend there, away, and away for a third
of the session: how many of 200 requests, of a prompt of 32,000 tokens, do not begin with all of the one before. Exits 1
when stable bytes change other than by a compaction (in `system` they must), or the prefix breaks more than once in 15
turns.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from app.backends import open_backend
from app.factory import create_app
from app.settings import Settings
from benchmarks.coding_session import Leaving, Prefix, turns

TURNS, COMPACT_BEFORE = 30, (11, 21)
LONG, RARELY, BUDGET = 200, 15, 32_000
SIZES = (100,), (400,), (1_000,), (100, 200, 400, 700, 1_000, 1_500)
AWAY = {"there": range(0), "away": range(LONG), "back again": range(LONG // 3, 2 * LONG // 3)}
TOPICS = ("tea", "bicycle", "garden", "cello", "harbour", "invoice")


def user_text(turn: int) -> str:
    """What the user says: facts at first, then questions about them, in two languages."""
    topic = TOPICS[turn % len(TOPICS)]
    if turn < 2 * len(TOPICS):
        return f"By the way, my {topic} number {turn} is the green one. 我的{topic}是绿色的。"
    return f"Which {topic} did I tell you about, and what colour was it? (turn {turn})"


def request_parts(answer: dict[str, Any], system: str) -> tuple[str, str]:
    """The model request as bytes in order: (stable: system prompt and history; the rest: what this turn adds)."""
    messages = [json.dumps(message, ensure_ascii=False) for message in answer["messages"]]
    newest = next(i for i in range(len(messages) - 1, -1, -1) if answer["messages"][i]["role"] == "user")
    while newest and _is_injected(answer["messages"][newest - 1]):
        newest -= 1
    stable = "\n".join([system + answer.get("systemPromptAddition", ""), *messages[:newest]])
    return stable, "\n".join(messages[newest:])


def replay(inject: str, directory: Path) -> list[tuple[float, float]]:
    """From the second turn on: (share of the last request's stable bytes that this one begins with, share of this
    request that the last one had already)."""
    # It measures bytes: no answer is to be shortened because the machine is busy.
    settings = Settings(_env_file=None, data_dir=directory, log_level="error", limits={"assemble_ms": 60_000})
    history: list[dict[str, Any]] = []
    shares: list[tuple[float, float]] = []
    before, stable_before = "", ""
    with TestClient(create_app(settings)) as client:
        client.post("/memories", json={"text": "My name is Mia."})
        for turn in range(TURNS):
            client.post("/memories", json={"text": f"I prefer shade {turn} of blue."})
            if turn in COMPACT_BEFORE:
                client.post("/compact", json={"sessionId": "s", "agentId": "main", "keepRecentCount": 4})
            said = {"role": "user", "content": user_text(turn), "timestamp": 1_770_000_000_000 + turn * 60_000}
            body = {"sessionId": "s", "agentId": "main", "phase": "full", "inject": inject}
            answer = client.post("/assemble", json={**body, "messages": [*history, said]}).json()
            stable, rest = request_parts(answer, "You are a helpful assistant.\n")
            if turn:
                common = _common_prefix(before, f"{stable}\n{rest}")
                shares.append((min(common, len(stable_before)) / len(stable_before), common / len(stable + rest)))
            before, stable_before = f"{stable}\n{rest}", stable
            reply = {"role": "assistant", "content": f"Noted, turn {turn}.", "timestamp": said["timestamp"] + 5_000}
            history += [said, reply]
            turn_body = {"sessionId": "s", "agentId": "main", "messages": [said, reply], "wait": True}
            client.post("/after-turn", json={**turn_body, "prePromptMessageCount": 0, "advancementKey": f"k{turn}"})
    return shares


def _is_injected(message: dict[str, Any]) -> bool:
    return "ovrecall" in json.dumps(message)


def _common_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def breaks(sizes: tuple[int, ...], away: range, directory: Path) -> int:
    """How often the cached prefix breaks in a coding session with outputs of these sizes, in tokens."""
    settings = Settings(_env_file=None, data_dir=directory, log_level="error", limits={"assemble_ms": 60_000})
    backend = Leaving(open_backend(settings).backend)
    prefix, history = Prefix(), []
    with TestClient(create_app(settings, backend=backend)) as client:
        for number, turn in enumerate(turns(LONG, sizes)):
            backend.away = number in away
            scope = {"sessionId": "s", "tokenBudget": BUDGET}
            body = {**scope, "phase": "preflight", "messages": [*history, turn[0]]}
            prefix.see(client.post("/assemble", json=body).json())
            history += turn
            client.post("/after-turn", json={**scope, "messages": turn, "wait": not backend.away})
    return len(prefix.breaks)


def main() -> int:
    """Print the table and say whether the promise holds."""
    broken = False
    print(f"{'inject':<12}{'stable, plain turns':>21}{'stable, after compaction':>26}{'whole request':>15}")
    for inject in ("message", "tool_call", "block", "system"):
        with tempfile.TemporaryDirectory() as directory:
            shares = replay(inject, Path(directory))
        compacted = [shares[turn - 1][0] for turn in COMPACT_BEFORE]
        plain = [share for turn, (share, _) in enumerate(shares, 1) if turn not in COMPACT_BEFORE]
        whole = [share for _, share in shares]
        print(f"{inject:<12}{min(plain):>17.3f} min{min(compacted):>22.3f} min{sum(whole) / len(whole):>11.3f} avg")
        broken = broken or (inject != "system" and min(plain) < 1)
    print("`system` changes the very front of the prompt on every turn: that is why it is not the default.")
    print(f"\n{'tokens of an output':<34}" + "".join(f"{f'backend {name}':>20}" for name in AWAY))
    for sizes in SIZES:
        counts = []
        for away in AWAY.values():
            with tempfile.TemporaryDirectory() as directory:
                counts.append(breaks(sizes, away, Path(directory)))
        print(f"{', '.join(map(str, sizes)):<34}" + "".join(f"{count:>13} breaks" for count in counts))
        broken = broken or max(counts) > LONG // RARELY
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
