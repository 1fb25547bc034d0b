"""Does a later statement say that an earlier one holds no more?

It does when it is about the same thing of the same owner and gives it another value ("I live in Porto now"), or takes
the value back ("I don't smoke any more"). It does not when it says the same, adds to it, is about somebody else, only
looks alike ("call me there"), or is a wish, a joke, a mood or something that passes.

Two layers, learnt by ``python -m training.replaces``: each family of terms (`app.classify.changes`) has its evidence, a
sum of weights, and the second layer weighs the families with one another, because a word of change counts only where
both are about one thing. A wrong yes loses a fact, so `Judge.sure` is the probability from which at least 98 of 100
were right in cross-validation.
"""

import json
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any, Protocol

from app.classify.changes import RAREST, Change, change_between, words_of
from app.classify.meant import can_replace, is_claim, is_meant
from app.text.log_odds import logistic
from app.text.sentences import ends_in_question, sentences

MAX_CHARS = 2_000
"""Of a longer text the beginning is read."""
MAX_SENTENCES = 12
WHOLE_CHARS = 240
"""Up to this length a text of several sentences is also read as one: "The number changed. It's 7." """

Vector = Sequence[float]


class Judge(Protocol):
    """Judges pairs of texts. The same pair gets the same answer."""

    slow: bool
    """Whether a pair takes milliseconds, so that it must not be judged on the event loop."""
    sure: float
    """The probability from which it may be acted on."""

    def replaces(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (earlier, later) the probability that ``later`` says that ``earlier`` holds no more."""
        ...


@dataclass(frozen=True, slots=True)
class Weights:
    """A model that ships as ``weights/replaces.<name>.json``."""

    rarity: Mapping[str, float]
    terms: tuple[Mapping[str, float], ...]
    """Of each family in `app.classify.changes.FAMILIES`."""
    vector: tuple[float, ...]
    """Of `meaning_of`; empty without an embedder."""
    plain: tuple[float, ...]
    """Second layer: of each family's evidence."""
    crossed: tuple[float, ...]
    """Second layer: of `bent`, and of each two of those."""
    bias: float
    sure: float

    def evidence(self, change: Change, meaning: Any = ()) -> list[float]:
        """The log-odds of each family, and of the meaning where there are weights for it."""
        sums = [
            math.fsum(weights.get(term, 0.0) for term in terms)
            for terms, weights in zip(change.terms, self.terms, strict=True)
        ]
        return [*sums, float(_as_array(self.vector) @ meaning)] if self.vector else sums

    def probability(self, change: Change, meaning: Any = ()) -> float:
        """The probability that the later one replaces the earlier one."""
        evidence = self.evidence(change, meaning)
        crossed = math.fsum(map(operator.mul, self.crossed, bent(evidence, change.amounts)))
        return logistic(self.bias + crossed + math.fsum(map(operator.mul, self.plain, evidence)))


@lru_cache(maxsize=4)
def _as_array(numbers: tuple[float, ...]) -> Any:
    import numpy as np

    return np.array(numbers)


def bent(evidence: Sequence[float], amounts: Sequence[float]) -> list[float]:
    """What the second layer weighs: evidence that levels off, the amounts, and the products of each two of those."""
    one = [math.tanh(each / 2) for each in evidence] + list(amounts)
    return one + [first * second for place, first in enumerate(one) for second in one[place:]]


def meaning_of(earlier: Vector, later: Vector) -> Any:
    """What two vectors of unit length say of a pair, as an array: how near they are, where they agree and differ."""
    import numpy as np  # comes with every embedder

    before, after = (np.asarray(one, dtype=np.float64) for one in (earlier, later))
    near = float(before @ after)
    levels = [near, *(float(near > level) for level in (0.84, 0.88, 0.92, 0.96))]
    scale = math.sqrt(len(before))
    apart = (after - before) * scale
    return np.concatenate([levels, before * after * len(before), apart, np.abs(apart), after * scale])


def weight_of(words: Iterable[str]) -> float:
    """How much words that two statements share tell of one thing: a rare one `RAREST`, "the" about 1."""
    rarity = load_weights("words").rarity
    return sum(rarity.get(word, RAREST) for word in words)


def telling(words: Iterable[str], least: float) -> frozenset[str]:
    """Those of the ``words`` that are at least so rare."""
    rarity = load_weights("words").rarity
    return frozenset(word for word in words if rarity.get(word, RAREST) >= least)


@cache
def by_words() -> "ByWords":
    """The judge that needs no embedder, once for the process: it knows the pairs that came up lately."""
    return ByWords()


@cache
def load_weights(name: str) -> Weights:
    """The weights that ship as ``weights/replaces.<name>.json``."""
    data = json.loads((files("app.classify") / "weights" / f"replaces.{name}.json").read_text(encoding="utf-8"))
    return weights_from(data)


@cache
def sure_when_read() -> float:
    """`Judge.sure` of a model that has read both, learnt by ``python -m training.reading replaces``."""
    data = json.loads((files("app.classify") / "weights" / "replaces.read.json").read_text(encoding="utf-8"))
    return float(data["sure"])


def weights_from(data: Mapping[str, Any]) -> Weights:
    """Weights of the JSON that `training.replaces` writes."""
    return Weights(
        rarity=data["rarity"],
        terms=tuple(data["terms"].values()),
        vector=tuple(data["vector"]),
        plain=tuple(data["plain"]),
        crossed=tuple(data["crossed"]),
        bias=data["bias"],
        sure=data["sure"],
    )


class ByWords:
    """By words alone: about a tenth of a millisecond for two statements."""

    slow = False

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = weights or load_weights("words")
        self.sure = self._weights.sure
        self._judged = lru_cache(maxsize=4096)(self._judge)

    def replaces(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """See `Judge`."""
        return [max((self._judged(*pair) for pair in pairs_of_statements(*both)), default=0.0) for both in pairs]

    def of_statements(self, earlier: str, later: str) -> float:
        """`replaces` for two statements, as they are."""
        return self._judged(earlier, later)

    def _judge(self, earlier: str, later: str) -> float:
        change = change_of(earlier, later, self._weights)
        return self._weights.probability(change) if change else 0.0


class ByMeaning:
    """By words and meaning. ``embed`` gives unit vectors of the embedder for which ``weights`` were learnt."""

    slow = True

    def __init__(self, embed: Callable[[str], Vector], weights: Weights) -> None:
        self._embed = embed
        self._weights = weights
        self.sure = self._weights.sure

    def replaces(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """See `Judge`. Raises what ``embed`` raises."""
        return [max((self._judge(*pair) for pair in pairs_of_statements(*both)), default=0.0) for both in pairs]

    def _judge(self, earlier: str, later: str) -> float:
        change = change_of(earlier, later, self._weights)
        if change is None:
            return 0.0
        return self._weights.probability(change, meaning_of(self._embed(earlier), self._embed(later)))


def change_of(earlier: str, later: str, weights: Weights) -> Change | None:
    """What one statement changes of another; None for the same words again, and for what can not replace anything."""
    before, after = words_of(earlier), words_of(later)
    if not before.keys or not after.keys or before.keys == after.keys or ends_in_question(later):
        return None
    if not is_claim(later) or not can_replace(earlier, later, before, after):
        return None
    return change_between(before, after, weights.rarity)


def can_say_so(earlier: str, later: str) -> bool:
    """Whether anything of ``later`` could replace anything of ``earlier``, whatever both mean."""
    weights = load_weights("words")
    return any(change_of(*pair, weights) is not None for pair in pairs_of_statements(earlier, later))


def pairs_of_statements(earlier: str, later: str) -> Iterator[tuple[str, str]]:
    """Each statement of ``earlier`` with each of ``later``; none where that is not meant as it is said."""
    said = statements_of(later) if is_meant(later) else ()
    return ((before, after) for before in statements_of(earlier) for after in said)


@lru_cache(maxsize=1024)
def statements_of(text: str) -> tuple[str, ...]:
    """What of ``text`` is judged by itself: its sentences, and a short text as a whole."""
    text = text[:MAX_CHARS].strip()
    parts = tuple(islice(sentences(text), MAX_SENTENCES)) or (text,)
    return (text, *parts) if len(parts) > 1 and len(text) <= WHOLE_CHARS else parts
