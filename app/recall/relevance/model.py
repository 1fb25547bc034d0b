"""From evidence to a probability: logistic regressions, one for each kind of evidence that hits carry."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from app.core.recall.hits import Hit
from app.recall.relevance.evidence import Question, features_of, kind_of
from app.text.log_odds import logistic

MEANINGS = {
    "personal": "how much the question is about the one who asks",
    "read": "what a model says that has read it beside the question",
    "read_rivals": "how likely another one answers that was read",
    "odds": "how likely its meaning answers the question",
    "rivals": "how likely another one answers it",
    "height": "how far it stands above what is usual for this question",
    "behind": "how far it is behind the best",
    "first": "how far it is ahead of the others",
    "words": "words shared with the question, rare ones more",
    "behind_words": "words that another one has and this one has not",
    "whole": "has all words of the question",
    "found": "what the shared words tell",
    "missing": "what the words tell that it has not",
    "hits_words": "number of words shared",
    "unseen": "words of the question that nothing found has",
    "named": "names shared with the question",
    "unnamed": "names of the question that it does not mention",
    "length": "its length",
    "asks": "it is a question itself",
    "assistant": "said by the assistant",
    "foreign": "written in another script than the question",
    "dated": "has a date, and the question asks for a time",
}
"""What each piece of evidence says, for people."""


class Judged(NamedTuple):
    """How likely a hit is worth its place, and what that is made of: log-odds by the name of the evidence."""

    probability: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic regression. The log-odds are ``bias`` and the sum of each weight times its feature."""

    bias: float
    weights: Mapping[str, float]

    def judge(self, features: Mapping[str, float]) -> Judged:
        """The probability for these features; those without a weight do not count."""
        parts = {name: weight * features[name] for name, weight in self.weights.items()}
        return Judged(logistic(self.bias + sum(parts.values())), parts)


@cache
def load_weights(kind: str, of: str = "relevance") -> Weights:
    """The weights for this kind of evidence, of what ships as ``weights/<of>.json``."""
    data = json.loads((files(__package__) / "weights" / f"{of}.json").read_text(encoding="utf-8"))[kind]
    return Weights(data["bias"], data["weights"])


def judge(question: Question, hits: Sequence[Hit]) -> list[Judged]:
    """How likely each of ``hits`` is worth its place."""
    found = zip(hits, features_of(question, hits), strict=True)
    return [load_weights(kind_of(hit)).judge(features) for hit, features in found]
