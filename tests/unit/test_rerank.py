"""Candidates of a backend that gives scores alone, judged a second time by an embedder of the sidecar's."""

import threading
from array import array
from collections.abc import Sequence

import pytest

from app.core.deadline import Deadline
from app.core.recall.hits import Calibration, Evidence, Hit
from app.recall.rerank import LEAST_BACKGROUND, MAX_TENANTS, MAX_VECTORS, Reranker

pytestmark = pytest.mark.anyio

HITS = [Hit(f"m/{n}", f"text {n}", 0.9) for n in range(6)]


class Toy:
    """Vectors by the number that a text ends with: 3 is what is asked for."""

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.hold: threading.Event | None = None
        self.failure: Exception | None = None
        self.known: Calibration | None = None

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        if self.hold:
            self.hold.wait(20)
        if self.failure:
            raise self.failure
        self.embedded += texts
        return [array("f", [1.0, 0.0] if text.endswith("3") else [0.0, 1.0]).tobytes() for text in texts]

    def query(self, text: str) -> bytes:
        return array("f", [1.0, 0.0]).tobytes()

    def calibration(self, text: str) -> Calibration | None:
        return self.known


def soon() -> Deadline:
    return Deadline.after_ms(20_000)


async def test_each_candidate_gets_its_similarity_and_what_is_usual() -> None:
    found = await Reranker(Toy(), 20).with_evidence("a", "q", HITS, soon())
    assert [hit.evidence.similarity for hit in found if hit.evidence] == [0, 0, 0, 1, 0, 0]
    assert found[0].evidence
    assert found[0].evidence.background == (pytest.approx(1 / 6), pytest.approx((5 / 36) ** 0.5))
    assert len({hit.evidence.background for hit in found if hit.evidence}) == 1
    assert [hit._replace(evidence=None) for hit in found] == HITS


async def test_a_similarity_tells_how_likely_a_candidate_answers_where_the_embedder_knows() -> None:
    toy = Toy()
    toy.known = Calibration(scale=10.0, offset=6.0)
    found = await Reranker(toy, 20).with_evidence("a", "q", HITS, soon())
    assert [hit.evidence.odds for hit in found if hit.evidence] == [-6, -6, -6, 4, -6, -6]


async def test_a_text_is_embedded_once_and_what_came_by_is_the_background() -> None:
    toy = Toy()
    reranker = Reranker(toy, 20)
    await reranker.with_evidence("a", "q", HITS, soon())
    (found,) = await reranker.with_evidence("a", "q", HITS[3:4], soon())
    assert toy.embedded == [hit.text for hit in HITS]
    assert found.evidence == Evidence(1.0, (pytest.approx(1 / 6), pytest.approx((5 / 36) ** 0.5)))


async def test_tenants_do_not_share_their_background() -> None:
    reranker = Reranker(Toy(), 20)
    await reranker.with_evidence("a", "q", HITS, soon())
    found = await reranker.with_evidence("b", "q", HITS[: LEAST_BACKGROUND - 1], soon())
    assert [hit.evidence for hit in found] == [None] * (LEAST_BACKGROUND - 1)


async def test_a_slow_embedder_delays_nothing_and_serves_the_next_time() -> None:
    toy = Toy()
    toy.hold = threading.Event()
    reranker = Reranker(toy, 0)
    assert await reranker.with_evidence("a", "q", HITS, soon()) == tuple(HITS)
    toy.hold.set()
    await reranker.aclose()
    assert toy.embedded == [hit.text for hit in HITS]


async def test_no_more_than_two_embed_at_once() -> None:
    toy = Toy()
    toy.hold = threading.Event()
    reranker = Reranker(toy, 0)
    for n in range(5):
        await reranker.with_evidence(str(n), "q", HITS, soon())
    toy.hold.set()
    await reranker.aclose()
    assert len(toy.embedded) == 2 * len(HITS)


async def test_a_failing_embedder_leaves_the_hits_as_they_are() -> None:
    toy = Toy()
    toy.failure = OSError("away")
    assert await Reranker(toy, 20).with_evidence("a", "q", HITS, soon()) == tuple(HITS)


async def test_what_the_backend_says_itself_stays() -> None:
    known = HITS[0]._replace(evidence=Evidence(0.5, (0.1, 0.1), 1.0))
    found = await Reranker(Toy(), 20).with_evidence("a", "q", [known, *HITS[1:]], soon())
    assert found[0] == known


async def test_what_is_kept_is_bounded() -> None:
    reranker = Reranker(Toy(), 20)
    for n in range(MAX_TENANTS + 3):
        await reranker.with_evidence(f"tenant {n}", "q", HITS, soon())
    for n in range(0, MAX_VECTORS + 48, 24):
        await reranker.with_evidence("one", "q", [Hit(f"m/{k}", f"long {k}", 0.5) for k in range(n, n + 24)], soon())
    assert len(reranker._kept) == MAX_TENANTS
    assert len(reranker._kept["one"]) <= MAX_VECTORS
