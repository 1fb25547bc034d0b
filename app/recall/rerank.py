"""Judging a second time what a backend found, with the sidecar's own embedder: its evidence tells more than a score.

A backend such as OpenViking gives scores of a model that nobody here knows. Where the sidecar has an embedder, each
candidate gets the evidence that the embedded engine would give (`Evidence`): its similarity to the question, and how
similar the tenant's texts are to it otherwise, as far as they came by. Vectors are kept, so that a text is embedded
once; what takes longer than `WAIT_S` is left for the next time, and the backend's scores decide alone.
"""

import asyncio
import hashlib
import statistics
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol

import structlog

from app.classify.replaces import WHOLE_CHARS
from app.core.deadline import Deadline
from app.core.recall.hits import Calibration, Evidence, Hit

log = structlog.get_logger(__name__)

WAIT_S = 0.4
"""Longest wait for vectors; a question is searched for meanwhile by nobody else."""
SHARE_OF_DEADLINE = 0.5
MAX_TEXT_CHARS = 600
MAX_QUERY_CHARS = 450
MAX_BATCH = 24
MAX_UNDER_WAY = 2
"""Embeddings at once, in threads: more would take the cores from everything else."""
MAX_TENANTS = 32
MAX_VECTORS = 256
"""Kept for each tenant: 400 kB with 384 numbers each."""
LEAST_BACKGROUND = 4
"""Texts without which nothing can be said about what is usual."""


class Embeds(Protocol):
    """An embedder; vectors are packed 32-bit floats of unit length."""

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """One vector for each stored text."""

    def query(self, text: str) -> bytes:
        """The vector of a question."""

    def calibration(self, text: str) -> Calibration | None:
        """What cosines with the vector of a question mean, where that is known."""


class Reranker:
    """Adds evidence to hits. Kept in memory, bounded; one for the process."""

    def __init__(self, embedder: Embeds, wait_s: float = WAIT_S) -> None:
        self._embedder = embedder
        self._wait_s = wait_s
        self._kept: OrderedDict[str, OrderedDict[bytes, bytes]] = OrderedDict()
        self._lock = threading.Lock()
        self._under_way: set[asyncio.Task[object]] = set()

    async def with_evidence(self, of: str, query: str, hits: Sequence[Hit], deadline: Deadline) -> tuple[Hit, ...]:
        """The hits with evidence where there was time for it. ``of`` tells tenants (and kinds of texts) apart.

        Never raises: an embedder that fails leaves the hits as they are.
        """
        bare = [hit for hit in hits if hit.evidence is None and hit.text.strip()]
        if not bare or len(self._under_way) >= MAX_UNDER_WAY:
            return tuple(hits)
        judging = asyncio.create_task(asyncio.to_thread(self._judge, of, query, bare))
        self._under_way.add(judging)
        judging.add_done_callback(self._under_way.discard)
        done, _ = await asyncio.wait({judging}, timeout=min(self._wait_s, deadline.remaining * SHARE_OF_DEADLINE))
        if not done:
            judging.add_done_callback(_noted)
            return tuple(hits)
        if failure := judging.exception():
            log.warning("rerank_failed", error=type(failure).__name__)
            return tuple(hits)
        found = judging.result()
        return tuple(hit._replace(evidence=found.get(hit.uri, hit.evidence)) for hit in hits)

    async def aclose(self) -> None:
        """Wait for what is under way: a thread can not be stopped."""
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def _judge(self, of: str, query: str, hits: Sequence[Hit]) -> dict[str, Evidence]:
        texts = {hit.uri: hit.text[:MAX_TEXT_CHARS] for hit in hits}
        keys = {uri: _digest(text) for uri, text in texts.items()}
        with self._lock:
            before = self._vectors_of(of)
            new = {keys[uri]: text for uri, text in texts.items() if keys[uri] not in before}
        batch = list(new)[:MAX_BATCH]
        vectors = self._embedder.passages([new[key] for key in batch]) if batch else []
        asked = self._embedder.query(query[:MAX_QUERY_CHARS])
        known = self._embedder.calibration(query[:MAX_QUERY_CHARS])
        with self._lock:
            kept = self._vectors_of(of)
            kept |= zip(batch, vectors, strict=True)
            similar = _similarities(asked, kept)
            of_whole = {key: kept[key] for uri, key in keys.items() if len(texts[uri]) <= WHOLE_CHARS and key in kept}
            while len(kept) > MAX_VECTORS:
                kept.popitem(last=False)
        if len(similar) < LEAST_BACKGROUND:
            return {}
        background = statistics.fmean(similar.values()), statistics.pstdev(similar.values())
        return {
            uri: Evidence(near, background, odds=known.odds(near), vector=of_whole.get(key))
            if known
            else Evidence(near, background)
            for uri, key in keys.items()
            if (near := similar.get(key)) is not None
        }

    def _vectors_of(self, of: str) -> "OrderedDict[bytes, bytes]":
        kept = self._kept.setdefault(of, OrderedDict())
        self._kept.move_to_end(of)
        while len(self._kept) > MAX_TENANTS:
            self._kept.popitem(last=False)
        return kept


def _similarities(asked: bytes, kept: Mapping[bytes, bytes]) -> dict[bytes, float]:
    import numpy as np  # comes with every embedder

    matrix = np.frombuffer(b"".join(kept.values()), dtype="<f4").reshape(len(kept), -1)
    return dict(zip(kept, (matrix @ np.frombuffer(asked, dtype="<f4")).tolist(), strict=True))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _noted(judging: "asyncio.Task[object]") -> None:
    if not judging.cancelled():
        judging.exception()
