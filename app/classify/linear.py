"""Linear models: weights as data, a probability as the answer, and what it is made of as its explanation."""

import json
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from app.classify.terms import WORDS, kind_of
from app.text.log_odds import logistic


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A logistic regression over terms and, where ``vector`` has weights, over an embedding of that length."""

    bias: float
    terms: Mapping[str, float]
    vector: tuple[float, ...] = ()

    def judge(self, terms: Iterable[str], vector: Sequence[float] = ()) -> "Likelihood":
        """How likely a text with these terms and this vector is what the model was trained to find, and why."""
        terms = tuple(terms)
        parts: dict[str, float] = {}
        for term in terms:
            if weight := self.terms.get(term):
                kind = kind_of(term) if "#" in term else WORDS
                parts[kind] = parts.get(kind, 0.0) + weight
        parts["meaning" if self.vector else "prior"] = self._beside_terms(vector)
        weighed = [(kind, round(weight, 2)) for kind, weight in parts.items()]
        weighed.sort(key=lambda one: -abs(one[1]))
        return Likelihood(self.probability(terms, vector), tuple([one for one in weighed if one[1]]))

    def probability(self, terms: Iterable[str], vector: Sequence[float] = ()) -> float:
        """The same without the why, which takes most of the time."""
        weights = [weight for term in terms if (weight := self.terms.get(term))]
        return round(logistic(math.fsum(weights) + self._beside_terms(vector)), 3)

    def _beside_terms(self, vector: Sequence[float]) -> float:
        return self.bias + math.fsum(map(operator.mul, self.vector, _of_length(vector, self.vector)))


@dataclass(frozen=True, slots=True)
class Likelihood:
    """A probability from 0 to 1, and what it is made of: kinds of evidence with their log-odds, the weightiest first.

    The kinds are names of signs, ``words`` for all other words together, ``meaning`` for the vector, and ``prior`` for
    what holds of any text: none quotes the text, so that they may stand in a trace.
    """

    probability: float
    parts: tuple[tuple[str, float], ...] = ()


def _of_length(vector: Sequence[float], weights: Sequence[float]) -> Sequence[float]:
    if weights and len(vector) != len(weights):
        raise ValueError(f"a vector of {len(vector)} numbers where the weights are {len(weights)}")
    return vector


@cache
def load_model(name: str) -> LinearModel:
    """The model that ships as ``weights/<name>.json``."""
    data = json.loads((files("app.classify") / "weights" / f"{name}.json").read_text(encoding="utf-8"))
    return LinearModel(data["bias"], data["terms"], tuple(data.get("vector", ())))
