"""What a search by meaning found: the nearest chunks, and how they stand out from all others."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from app.core.recall.hits import Calibration

FEW = 8
"""Fewer cosines than this have no background to stand out from."""

LEAST = 0.01
"""What the least near of a few counts for."""


def _none_of(_ids: Collection[int]) -> Mapping[int, float]:
    return {}


def _no_vectors(_ids: Collection[int]) -> Mapping[int, bytes]:
    return {}


@dataclass(frozen=True, slots=True)
class Similar:
    """Cosines of the query and the chunks that may be seen."""

    best: Mapping[int, float] = field(default_factory=dict)
    """The nearest by their ids, best first."""
    background: tuple[float, float] | None = None
    """Mean and standard deviation of the cosines of all chunks; None where they are too few to tell."""
    others: Callable[[Collection[int]], Mapping[int, float]] = _none_of
    """The cosines of the chunks of these ids, as far as they are known."""
    vectors: Callable[[Collection[int]], Mapping[int, bytes]] = _no_vectors
    """The vectors of the chunks of these ids, 32-bit floats of unit length, as far as they are in memory."""
    calibration: Calibration | None = None
    """What the cosines mean, where the embedder knows."""

    def above(self, least: float, ids: Collection[int]) -> dict[int, float]:
        """By how many standard deviations, beyond ``least``, each of ``ids`` is nearer than the mean of all; than the
        least near where there are too few to tell."""
        found = self.of(ids)
        if self.background is None:
            lowest = min(found.values(), default=0.0)
            return {i: cosine - lowest + LEAST for i, cosine in found.items()}
        mean, deviation = self.background
        return {i: over for i, cosine in found.items() if (over := (cosine - mean) / deviation - least) > 0}

    def of(self, ids: Collection[int]) -> dict[int, float]:
        """The cosines of the chunks of these ids, as far as they are known."""
        wanted = set(ids)
        return {**self.others(wanted), **{i: cosine for i, cosine in self.best.items() if i in wanted}}


NOTHING_SIMILAR = Similar()
"""Where there are no vectors."""


@dataclass(slots=True)
class Moments:
    """Count, sum and sum of squares of the cosines that were seen."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, count: int, total: float, squares: float) -> None:
        """Take in more of them."""
        self.count += count
        self.total += total
        self.squares += squares

    def background(self) -> tuple[float, float] | None:
        """Mean and standard deviation; None before there are `FEW` of them."""
        if self.count < FEW:
            return None
        mean = self.total / self.count
        return mean, math.sqrt(max(1e-8, self.squares / self.count - mean * mean))
