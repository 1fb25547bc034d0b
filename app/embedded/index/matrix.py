"""Vectors in memory, a byte a number, and the search for the nearest: the product of a matrix and a vector."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK_ROWS = 1024
"""Rows turned into floats at a time: a block stays in the processor's cache, which makes this three times as fast as
floats all along, in a quarter of the memory."""


class Matrix:
    """Vectors by chunk id. One thread at a time changes it; a `view` stays as it is whatever is added later."""

    def __init__(self) -> None:
        self._ids: NDArray[np.int64] = np.empty(0, np.int64)
        self._rows: NDArray[np.int8] = np.empty((0, 0), np.int8)
        self._lengths: NDArray[np.float32] = np.empty(0, np.float32)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        """Append vectors, all of one length."""
        rows = np.frombuffer(b"".join(vectors), np.int8).reshape(len(ids), -1)
        end = self._size + len(ids)
        if end > len(self._ids):
            room = max(BLOCK_ROWS, end + end // 4)
            self._ids = _with_room(self._ids[: self._size], (room,))
            self._rows = _with_room(self._rows[: self._size], (room, rows.shape[1]))
            self._lengths = _with_room(self._lengths[: self._size], (room,))
        new = slice(self._size, end)
        self._ids[new], self._rows[new] = ids, rows
        self._lengths[new] = np.maximum(1, np.linalg.norm(rows.astype(np.float32), axis=1))
        self._size = end

    def remove(self, ids: Collection[int]) -> None:
        """Take vectors out."""
        kept = ~np.isin(self._ids[: self._size], list(ids))
        self._ids = self._ids[: self._size][kept]
        self._rows = self._rows[: self._size][kept]
        self._lengths = self._lengths[: self._size][kept]
        self._size = len(self._ids)

    def view(self) -> "View":
        """What is there now, to search in."""
        return self._ids[: self._size], self._rows[: self._size], self._lengths[: self._size]


View = tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.float32]]


def cosines(view: View, vector: bytes) -> NDArray[np.float32]:
    """The cosine of each vector of the view with ``vector``."""
    ids, rows, lengths = view
    query = np.frombuffer(vector, np.int8).astype(np.float32)
    query /= max(1.0, float(np.linalg.norm(query)))
    found = np.empty(len(ids), np.float32)
    floats = np.empty((min(BLOCK_ROWS, len(ids)), len(query)), np.float32)
    for start in range(0, len(ids), BLOCK_ROWS):
        block = rows[start : start + BLOCK_ROWS]
        np.copyto(floats[: len(block)], block)
        np.dot(floats[: len(block)], query, out=found[start : start + len(block)])
    found /= lengths
    return found


def nearest(ids: NDArray[np.int64], found: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
    """The ``limit`` ids with the largest cosines, best first; the lower id where they are equal."""
    top = np.argpartition(found, -limit)[-limit:] if limit < len(ids) else np.arange(len(ids))
    top = top[np.lexsort((ids[top], -found[top]))]
    return list(zip(ids[top].tolist(), found[top].tolist(), strict=True))


def moments(found: NDArray[np.float32]) -> tuple[int, float, float]:
    """Count, sum and sum of squares."""
    return len(found), float(found.sum(dtype=np.float64)), float(np.dot(found.astype(np.float64), found))


def known(ids: NDArray[np.int64], found: NDArray[np.float32], wanted: Collection[int]) -> dict[int, float]:
    """The cosines of those ``wanted`` that are among ``ids``, which ascend."""
    if not len(ids) or not wanted:
        return {}
    asked = np.fromiter(wanted, np.int64, len(wanted))
    at = np.minimum(np.searchsorted(ids, asked), len(ids) - 1)
    there = ids[at] == asked
    return dict(zip(asked[there].tolist(), found[at[there]].tolist(), strict=True))


def vectors(view: View, wanted: Collection[int]) -> dict[int, bytes]:
    """The vectors of those ``wanted`` that are in the view, as 32-bit floats of unit length."""
    ids, rows, lengths = view
    places = {int(ids[at]): at for at in np.flatnonzero(np.isin(ids, list(wanted)))}
    return {chunk_id: (rows[at] / lengths[at]).astype("<f4").tobytes() for chunk_id, at in places.items()}


def best(found: Iterable[tuple[int, float]], limit: int) -> list[tuple[int, float]]:
    """The ``limit`` pairs of id and score with the highest scores, best first; the lower id where they are equal."""
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]


def _with_room(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """A larger copy."""
    larger = np.empty(shape, array.dtype)
    if len(array):
        larger[: len(array)] = array
    return larger
