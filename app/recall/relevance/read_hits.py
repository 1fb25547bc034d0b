"""Judging the likeliest hits a second time, by what a model says that has read the question and the text together.

Words and vectors tell what a text is about, seldom whether it answers. Reading takes some 35 milliseconds a hit, so
only those are read that are likely enough to be shown. The weights are learnt by ``python -m training.answers``.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median

from app.classify.terms import sample
from app.core.recall.detail import Detail
from app.core.recall.hits import Hit
from app.core.recall.text_pairs import KnownPair, Texts
from app.recall.relevance.evidence import Features, Question, features_of, kind_of, without_label
from app.recall.relevance.excerpt import excerpt
from app.recall.relevance.model import Judged, Weights, load_weights
from app.text.log_odds import log_odds

MOST_READ = 8
LEAST_LIKELY = 0.01
"""The probability before reading from which a hit is read."""
WHOLE_CHARS = 400
"""Of a longer text those sentences are read that share most with the question."""
HEAD_CHARS, TAIL_CHARS = 200, 130
"""Of a longer question the beginning and the end are read."""
SUREST = 6.0
"""Log-odds beyond which the model's word tells nothing more."""
LEAST, MOST = -6.0, 4.0
"""The same for what was known before."""


def judge_reading(question: Question, hits: Sequence[Hit], read: KnownPair) -> list[Judged]:
    """As `app.recall.relevance.model.judge`; where the likeliest were read, by what came of it. What was not read
    although others were is at most as likely as these are."""
    known = features_of(question, hits)
    judged = [load_weights(kind_of(hit)).judge(features) for hit, features in zip(hits, known, strict=True)]
    likely = [one.probability for one in judged]
    wanted = [n for n in _best(likely) if likely[n] >= LEAST_LIKELY]
    found = {n: read("answers", pair_of(question.text, hits[n])) for n in wanted}
    odds = {n: one for n, one in found.items() if one is not None}
    if not odds:
        return judged
    weights = load_weights("read", "answers")
    for n, features in read_features(known, likely, odds).items():
        judged[n] = _after_reading(judged[n], features, weights)
    most = median(judged[n].probability for n in odds)
    return [one if n in odds else one._replace(probability=min(most, one.probability)) for n, one in enumerate(judged)]


def pair_of(query: str, hit: Hit) -> Texts:
    """What of a question and a hit is read."""
    return with_text(query, hit.text if len(hit.text) <= WHOLE_CHARS else excerpt(hit.text, query, Detail.ABSTRACT))


def with_text(query: str, text: str) -> Texts:
    """What of a question is read, and a text without its date and speaker."""
    return sample(query, HEAD_CHARS, TAIL_CHARS), without_label(text)


def read_features(known: Sequence[Features], likely: Sequence[float], odds: Mapping[int, float]) -> dict[int, Features]:
    """The evidence about each hit that was read, by its number: what was ``known`` before, how ``likely`` that made it,
    and what came of reading."""
    said = {n: min(SUREST, max(-SUREST, one)) for n, one in odds.items()}
    answering = sum(map(math.exp, said.values()))
    return {
        n: {
            **known[n],
            "before": min(MOST, max(LEAST, log_odds(likely[n]))),
            "read": own,
            "read_rivals": math.log1p(max(0.0, answering - math.exp(own))),
        }
        for n, own in said.items()
    }


def _best(likely: Sequence[float]) -> list[int]:
    return sorted(range(len(likely)), key=lambda n: -likely[n])[:MOST_READ]


def _after_reading(before: Judged, features: Features, weights: Weights) -> Judged:
    """What was told before is part of it, piece by piece."""
    after = weights.judge(features)
    parts = dict(after.parts)
    del parts["before"]
    for name, part in before.parts.items():
        parts[name] = parts.get(name, 0.0) + weights.weights["before"] * part
    return after._replace(parts=parts)
