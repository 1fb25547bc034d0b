"""Learn the weights of token estimates from a tokenizer's own counts: ``python -m training.tokens``.

A weight for each class of character after each other class, by least squares of the relative error, none negative.
Every kind of text counts the same however many examples it has, and one that is far off counts less than its square.
Prints the error on the examples and by five-fold cross validation. Needs NumPy and the tokenizer, see
`training.tokenizers`.
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from app.core.messages.tokens import ASCII, LETTER, OTHER, PREFIXES, SCRIPTS, pairs_of
from training.token_texts import texts
from training.tokenizers import available

WEIGHTS = Path(__file__).parents[1] / "app" / "core" / "messages" / "token_weights.json"
LEAST_TEXTS = 4
"""A pair that stands in fewer texts is not learnt."""
RIDGE = 3e-3
FAR_OFF = 0.08
"""A relative error above this counts by its size and not by its square."""
MOST, MOST_OF_ASCII = 3.5, 1.0
"""What a character may count: one of ASCII never is more than a token by itself."""
PAIRS, LEADING = 256, 128

Matrix = np.ndarray[Any, np.dtype[np.float64]]


def main() -> None:
    """Learn, print the figures, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tokenizer", default="o200k", help="whose counts to learn; default: o200k")
    asked = parser.parse_args()
    examples = texts()
    counts = np.array(available()[asked.tokenizer]([text for _, text in examples]), float)
    of_kind = Counter(kind for kind, _ in examples)
    share = np.array([of_kind[kind] ** -0.5 for kind, _ in examples])
    numbers = np.array([_numbers(text) for _, text in examples])
    learnt = _fit(numbers, counts, share)
    print(f"{len(examples)} texts: {_figures(numbers @ learnt / counts - 1)}")
    fold = np.random.default_rng(0).integers(0, 5, len(counts))
    errors = np.zeros(len(counts))
    for held in range(5):
        others = fold != held
        errors[~others] = numbers[~others] @ _fit(numbers[others], counts[others], share[others]) / counts[~others] - 1
    print(f"held out by cross validation: {_figures(errors)}")
    rounded = [round(float(weight), 4) for weight in learnt]
    tables = {
        "ascii": [rounded[at : at + 16] for at in range(0, PAIRS, 16)],
        "scripts": [rounded[at : at + 16] for at in range(PAIRS, 2 * PAIRS, 16)],
        "leads": rounded[2 * PAIRS : 2 * PAIRS + LEADING],
        "prefixes": {name: w for name, w in zip(PREFIXES, rounded[2 * PAIRS + LEADING :], strict=True) if w},
    }
    WEIGHTS.write_text(json.dumps(tables).replace("], [", "],\n[").replace(', "', ',\n"') + "\n", "utf-8")


def _numbers(text: str) -> Matrix:
    """What the weights are multiplied with: pairs of either table, and prefixes."""
    data = text.encode("utf-8", "surrogatepass")
    first = np.bincount(np.frombuffer(pairs_of(data, ASCII), np.uint8), minlength=PAIRS)
    second = np.bincount(np.frombuffer(pairs_of(data, SCRIPTS), np.uint8), minlength=PAIRS)
    second = second.reshape(16, 16)
    second[:, [OTHER, LETTER]] = 0  # ASCII counts by the first table alone, in a text of other scripts too
    second = second.reshape(PAIRS)
    leads = np.bincount(np.frombuffer(data, np.uint8), minlength=256)[128:]
    leads[: 0xC2 - 0x80] = 0  # bytes that continue a character
    prefixes = [sum(data.count(bytes.fromhex(prefix)) for prefix in of_name) for of_name in PREFIXES.values()]
    return np.concatenate([first, second if not text.isascii() else 0 * second, leads, prefixes]).astype(float)


def _fit(numbers: Matrix, counts: Matrix, share: Matrix) -> Matrix:
    known = np.flatnonzero((numbers > 0).sum(0) >= LEAST_TEXTS)
    most = np.full(numbers.shape[1], MOST)
    most[:PAIRS] = MOST_OF_ASCII
    seen, weight = numbers[:, known], share / counts
    learnt = np.full(len(known), 0.1)
    for _ in range(6):
        learnt = _least_squares(seen * weight[:, None], counts * weight, most[known], learnt)
        error = np.abs(seen @ learnt / counts - 1)
        weight = share / counts / np.sqrt(np.maximum(error, FAR_OFF))
    whole = np.zeros(numbers.shape[1])
    whole[known] = learnt
    return whole


def _least_squares(numbers: Matrix, wanted: Matrix, most: Matrix, start: Matrix) -> Matrix:
    """Weights between 0 and ``most``, by coordinate descent."""
    products, aims = numbers.T @ numbers, numbers.T @ wanted
    scale = np.sqrt(np.diag(products))
    products = products / np.outer(scale, scale) + RIDGE * np.eye(len(scale))
    weights = start * scale
    slope = products @ weights - aims / scale
    for _ in range(150):
        moved = 0.0
        for index in range(len(weights)):
            better = weights[index] - slope[index] / products[index, index]
            step = min(most[index] * scale[index], max(0.0, better)) - weights[index]
            if step:
                slope += products[:, index] * step
                weights[index] += step
                moved = max(moved, abs(step))
        if moved < 1e-5:
            break
    return np.asarray(weights / scale)


def _figures(errors: Matrix) -> str:
    return f"median {np.median(np.abs(errors)):.1%}, 95 of 100 within {np.quantile(np.abs(errors), 0.95):.1%}"


if __name__ == "__main__":
    main()
