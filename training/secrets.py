"""Learn what is told as a secret: ``python -m training.secrets``. Writes ``app/policy/weights/told.json``.

The examples are sentences and lines of code with slots (``examples/secrets.jsonl``), filled anew many times with values
of every kind; what stands in no secret's slot is none. Long messages about secrets (``examples/secrets.clean.jsonl``),
and this repository's own code and documents, are further examples of texts that hold none. Prints how well sentences
are judged that were not learnt from (``--check``: five-fold, by sentence). Needs numpy.
"""

import argparse
import json
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from app.policy.secret_values import Judged, to_judge
from training.secret_values import NOUNS, OTHER, SECRET, noun, thing

ROOT = Path(__file__).parents[1]
EXAMPLES = Path(__file__).parent / "examples" / "secrets.jsonl"
CLEAN = EXAMPLES.with_name("secrets.clean.jsonl")
WEIGHTS = ROOT / "app" / "policy" / "weights" / "told.json"
FOLDS = 5
ROUNDS = 20
SEEDS = (7, 8, 9)
"""With each the sentences are filled and learnt from; the mean is written, so that less depends on what they are filled
with."""
PATHS = 1500
RIDGE = 1.0
LEAST_COUNT = 5
LEAST_WEIGHT = 0.04
SHIFT = 0.25
"""Log-odds that a secret must have: a text without one that is masked hurts more often than it helps."""
WORST = 60
"""Sentences that are printed of those judged worst."""
LABELS = (
    "User: ",
    "User - ",
    "user: ",
    "Assistant: ",
    "assistant - ",
    "[2026-03-04] User: ",
    "- [events] 2026-03-04 User: ",
)
LABELLED = 0.15
"""The share of texts with a label in front, as turns have where they are stored: its user is no name to log in."""
CLEAN_WEIGHT = 5.0
"""What a value of a long message counts, against one of a filled sentence: each message is there once."""
_CLAUSES = frozenset(("clause", "scripts"))
"""Forms of values that end where a clause does: with words of a sentence before or behind, one is no secret."""
_SLOT = re.compile(r"\{(\w+)\}")
_CONTEXT = ("l0:", "r0:", "none|", "d:", "rb:", "b:")

Filled = tuple[str, list[tuple[int, int]]]
Row = tuple[list[str], int, int, float]


def fill(rng: Random, row: dict[str, str]) -> Filled:
    """The sentence with its slots filled, and where the secrets are."""
    text, spans, at = [], [], 0
    size = 0
    template = row["text"]
    for slot in _SLOT.finditer(template):
        name = slot[1]
        if name not in SECRET and name not in OTHER and name not in NOUNS and name != "T":
            continue
        before = template[at : slot.start()]
        text.append(before)
        size += len(before)
        if name in NOUNS:
            value = noun(rng, NOUNS[name], row["lang"])
        elif name == "T":
            value = thing(rng, row["lang"])
        elif name in SECRET:
            value = SECRET[name](rng)
            spans.append((size, size + len(value)))
        else:
            value = OTHER[name](rng)
        text.append(value)
        size += len(value)
        at = slot.end()
    return "".join([*text, template[at:]]), spans


def augmented(rng: Random, filled: Filled, other: Filled) -> Filled:
    """As it is, or beside another text: what is said of one value says nothing of the next."""
    text, spans = filled
    form = rng.random()
    if form < 0.5:
        return filled
    joint = rng.choice((" ", "\n", "\n\n", "; ", "，", "。", ". "))
    if form < 0.75:
        shift = len(text) + len(joint)
        return text + joint + other[0], [*spans, *((a + shift, b + shift) for a, b in other[1])]
    shift = len(other[0]) + len(joint)
    return other[0] + joint + text, [*other[1], *((a + shift, b + shift) for a, b in spans)]


def labelled(rng: Random, filled: Filled) -> Filled:
    """As it is, or as a turn is stored."""
    if rng.random() >= LABELLED:
        return filled
    text, spans = filled
    label = rng.choice(LABELS)
    return label + text, [(a + len(label), b + len(label)) for a, b in spans]


def judged(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[Judged, int]]:
    """The candidates of a text and whether each is a secret; parts of one, and what holds several are left out."""
    for one in to_judge(text):
        start, end = one.candidate.start, one.candidate.end
        over = [(a, b) for a, b in spans if start < b and a < end]
        if not over:
            yield one, 0
        elif (
            len(over) == 1
            and start <= over[0][0] + 1
            and over[0][1] - 2 <= end
            and end - start <= over[0][1] - over[0][0] + 4
        ):
            yield one, 1
        elif one.form in _CLAUSES and not any(a <= start and end <= b for a, b in over):
            yield one, 0


def repository() -> Iterator[str]:
    """This repository's own texts, forty lines at a time: nothing in them is a secret."""
    for pattern in ("app/**/*.py", "docs/**/*.md", "*.md", "pyproject.toml", "benchmarks/*.py", "integrations/**/*.ts"):
        for path in sorted(ROOT.glob(pattern)):
            if "policy" in str(path.relative_to(ROOT)) or "node_modules" in str(path):
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
            for at in range(0, len(lines), 40):
                yield "\n".join(lines[at : at + 40])


def installed(rng: Random) -> Iterator[str]:
    """Pieces of the standard library and of the packages installed beside it: code about keys that holds none."""
    places = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")}
    paths = sorted({path for place in places for path in place.rglob("*.py") if "test" not in path.name})
    for path in rng.sample(paths, min(PATHS, len(paths))):
        text = path.read_text(encoding="utf-8", errors="replace")[:60_000]
        for at in range(0, len(text), 800):
            yield text[at : at + 800]


def features(one: Judged) -> list[str]:
    """Of the value and of what is around it."""
    return [*one.value_features(), *one.context_features()]


def rows(seed: int) -> list[Row]:
    """Features, label, group and weight of each candidate of all examples."""
    rng = Random(seed)
    templates = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    found: list[Row] = []
    for group, row in enumerate(templates):
        for _ in range(ROUNDS):
            other = fill(rng, rng.choice(templates))
            mine = fill(rng, row)
            text, spans = labelled(rng, augmented(rng, mine, other))
            for one, label in judged(text, spans):
                found.append((features(one), label, group, 1.0))
    for text in (*repository(), *installed(rng)):
        found += [(features(one), 0, -1, 1.0) for one in to_judge(text)]
    for text in clean():
        for form in (text, rng.choice(LABELS) + text):
            found += [(features(one), 0, -1, CLEAN_WEIGHT) for one in to_judge(form)]
    return found


def clean() -> Iterator[str]:
    """Long messages about secrets that hold none."""
    for line in CLEAN.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)["text"]


class Matrix:
    """Rows of features as indices, for weights learnt by gradient descent."""

    def __init__(self, data: list[list[str]], vocabulary: dict[str, int]) -> None:
        self.vocabulary = vocabulary
        known = [[vocabulary[f] for f in row if f in vocabulary] for row in data]
        self.columns = np.array([c for row in known for c in row], dtype=np.int64)
        self.rows = np.repeat(np.arange(len(known)), [len(row) for row in known])
        self.sizes = np.array([len(row) for row in known])
        self.count = len(known)

    def scores(self, weights: Any) -> Any:
        """The log-odds of each row."""
        return np.bincount(self.rows, weights[self.columns], minlength=self.count) + weights[-1]

    def gradient(self, weights: Any, labels: Any, balance: Any) -> Any:
        """Of the logistic loss with a ridge."""
        error = (1 / (1 + np.exp(-self.scores(weights))) - labels) * balance
        inner = np.bincount(self.columns, np.repeat(error, self.sizes), minlength=len(weights) - 1)
        return np.append(inner + RIDGE * weights[:-1], error.sum())


def learn(matrix: Matrix, labels: Any, balance: Any, steps: int = 200) -> Any:
    """Weights by Adam over all rows."""
    weights = np.zeros(len(matrix.vocabulary) + 1)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps + 1):
        gradient = matrix.gradient(weights, labels, balance)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        rate = 0.08 * min(1.0, 2 * (1 - step / (steps + 1)))
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def vocabulary_of(data: list[list[str]]) -> dict[str, int]:
    """Features that are not rare."""
    counts = Counter(feature for row in data for feature in set(row))
    return {feature: at for at, feature in enumerate(sorted(f for f, n in counts.items() if n >= LEAST_COUNT))}


def main() -> int:
    """Learn, say how well, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="cross-validate, too")
    parser.add_argument("--shift", type=float, default=SHIFT, help="log-odds that a secret must have")
    asked = parser.parse_args()
    if asked.check:
        data = rows(SEEDS[0])
        _cross_validated(data, *_judgements(data))
    learnt = [_learnt(seed) for seed in SEEDS]
    mean: Counter[str] = Counter()
    for weights, _ in learnt:
        mean.update({feature: weight / len(learnt) for feature, weight in weights.items()})
    kept = {f: round(weight, 2) for f, weight in sorted(mean.items()) if abs(weight) >= LEAST_WEIGHT}
    bias = round(sum(bias for _, bias in learnt) / len(learnt) - asked.shift, 3)
    alone = [bias + sum(kept.get(f, 0.0) for f in row[: _count(row)]) for row, label, _, _ in rows(SEEDS[0]) if label]
    least = round(float(np.quantile(alone, 0.0005)) - 0.5, 3)
    WEIGHTS.write_text(
        json.dumps({"bias": bias, "least": least, "weights": kept}, ensure_ascii=False, separators=(",", ":")) + "\n",
        encoding="utf-8",
    )
    print(f"{len(kept)} weights, {WEIGHTS.stat().st_size // 1024} KiB")
    return 0


def _learnt(seed: int) -> tuple[dict[str, float], float]:
    """Weights and bias, learnt from the sentences as one seed fills them."""
    data = rows(seed)
    labels, balance = _judgements(data)
    print(f"{len(data)} candidates, {labels.sum()} secrets")
    present = [row for row, _, _, _ in data]
    vocabulary = vocabulary_of(present)
    matrix = Matrix(present, vocabulary)
    weights = learn(matrix, labels, balance)
    _print(matrix.scores(weights), labels, "learnt from")
    return {feature: float(weights[at]) for feature, at in vocabulary.items()}, float(weights[-1])


def _judgements(data: list[Row]) -> tuple[Any, Any]:
    return np.array([label for _, label, _, _ in data]), np.array([weight for _, _, _, weight in data])


def _count(row: list[str]) -> int:
    """How many features of the row are the value's: they come first, and the word to the left begins the others."""
    return next((at for at, feature in enumerate(row) if feature == "quoted" or feature.startswith(_CONTEXT)), len(row))


def _cross_validated(data: list[Row], labels: Any, balance: Any) -> None:
    groups = np.array([group for _, _, group, _ in data])
    scores = np.zeros(len(data))
    for fold in range(FOLDS):
        held = (groups % FOLDS == fold) & (groups >= 0)
        inside = [data[at][0] for at in np.flatnonzero(~held)]
        vocabulary = vocabulary_of(inside)
        weights = learn(Matrix(inside, vocabulary), labels[~held], balance[~held], steps=150)
        scores[held] = Matrix([data[at][0] for at in np.flatnonzero(held)], vocabulary).scores(weights)
    _print(scores[groups >= 0], labels[groups >= 0], "not learnt from")
    _print_by_language(scores, labels, groups)


def _print_by_language(scores: Any, labels: Any, groups: Any) -> None:
    """How well each language's sentences are judged, and those that are judged worst."""
    templates = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    langs = np.array([templates[group]["lang"] if group >= 0 else "" for group in groups])
    for lang in sorted({*langs} - {""}):
        of = langs == lang
        missed, false = (scores[of & (labels == 1)] <= 0).mean(), (scores[of & (labels == 0)] > 0).mean()
        print(f"  {lang:6} {missed:.3f} missed of {(of & (labels == 1)).sum()}, {false:.4f} false")
    for label, name in ((1, "missed"), (0, "false")):
        wrong = Counter(groups[(groups >= 0) & (labels == label) & ((scores > 0) != label)].tolist())
        for group, count in wrong.most_common(WORST):
            print(f"  {name} {count:3} {templates[group]['text']!r}")


def _print(scores: Any, labels: Any, name: str) -> None:
    for least in (-1.0, 0.0, 1.0, 2.0):
        found, false = (scores > least)[labels == 1].mean(), (scores > least)[labels == 0].mean()
        print(f"  {name:16} at {least:+}: {found:.4f} found, {false:.5f} of the others")


if __name__ == "__main__":
    raise SystemExit(main())
