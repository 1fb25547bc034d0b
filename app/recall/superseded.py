"""Which candidates hold no more, because another one says so: the later of two statements about one thing counts.

For raw turns, records and memories of any backend, by what is asked, what is said, and when. Where two have no date
that tells them apart, or the question is about the past, nothing is decided; an assistant's words take nothing away
from what a user said. A candidate of several sentences keeps those that still hold.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from app.classify.changes import RAREST, Words, words_of
from app.classify.replaces import WHOLE_CHARS, weight_of
from app.core.recall.trace import Verdict
from app.recall.candidate_statements import Statement, says_nothing, statements_in, without
from app.recall.ranking import Candidate
from app.recall.relevance.outdated import LEAST_ACTED_ON, Pair
from app.text.days import Day, days_in
from app.text.log_odds import log_odds, logistic
from app.text.past import asks_about_past

MAX_CANDIDATES = 24
MAX_STATEMENTS = 48
MAX_COMPARED = 64
"""Pairs of which is looked at what they share: those that are the likeliest answers."""
MAX_COMPARED_OF_TWO = 16
"""Of these, of the same two candidates: an excerpt of a long talk would leave no room for others."""
MAX_JUDGED = 8
"""Lines that a statement is judged beside, a third of a millisecond each: those that most likely answer both and share
most."""
MAX_OF_TWO = 2
"""Of these, of the same two candidates, before others had their turn."""
MAX_PAIRS = 16
"""Pairs of statements in all: each sentence of a line is one."""
MAX_TOLD_WITH = 8
"""Statements that are read with the question, to tell which one of a candidate answers it."""
LEAST_ANSWER = 0.001
"""A candidate less likely than this to be an answer says nothing about those that are."""
SAME_SHARE = 0.6
"""What one later statement replaces is one thing: others with this share of the words of the likeliest."""
SURE = 0.5
"""The probability from which a statement is left out."""
BESIDE = LEAST_ACTED_ON
"""The probability from which what may replace a statement is shown with it, although it scored too low itself."""
NEXT = 0.5
"""The place behind a candidate, before the next one."""
_BEATEN = frozenset({Verdict.BELOW_THRESHOLD, Verdict.BELOW_CUT})

Judge = Callable[[Sequence[Pair]], Sequence[float]]
"""For each pair the probability that its earlier statement is out of date."""
Answers = Callable[[str], float | None]
"""The log-odds that a statement answers the question, where that was read."""


def without_superseded(
    candidates: Sequence[Candidate],
    query: str,
    judge: Judge,
    answers: Answers = lambda _text: None,
) -> list[Candidate]:
    """The candidates; those kept that hold no more get the verdict `Verdict.SUPERSEDED`, or lose a sentence.

    What is left of one is as much less likely an answer as its sentences are than the one that it lost, by ``answers``.
    What says so takes the place of what it supersedes, also where it scored too low to be shown itself. What may say
    so, and is not sure to, is shown beside it.
    """
    pairs = pairs_in(candidates, query)
    if not pairs:
        return list(candidates)
    judged = sorted(zip(judge(pairs), pairs, strict=True), key=lambda one: -one[0])
    return _decided(candidates, _replaced(judged), _beside(judged), answers)


def pairs_in(candidates: Sequence[Candidate], query: str) -> list[Pair]:
    """The pairs of statements that may be about one thing, the best first: both may be answers, and they have telling
    words in common. The earlier one is of a candidate that is kept."""
    likely = [(n, one.verdict) for n, one in enumerate(candidates) if one.score >= LEAST_ANSWER]
    kept = [n for n, verdict in likely if verdict is Verdict.KEPT]
    beaten = [n for n, verdict in likely if verdict in _BEATEN]
    looked_at = [*kept, *beaten][:MAX_CANDIDATES] if kept else []
    said = [one for n in looked_at for one in statements_in(n, candidates[n])][:MAX_STATEMENTS]
    if len(said) < 2 or asks_about_past(query):
        return []
    odds = {n: log_odds(candidates[n].score) for n in looked_at}
    return _comparable(said, frozenset(kept), odds, words_of(query), days_in(query))


def _replaced(judged: Sequence[tuple[float, Pair]]) -> Mapping[Statement, Statement]:
    """The statements that hold no more, each with the one that says so."""
    told: dict[Statement, Statement] = {}
    replaced: dict[Statement, Statement] = {}
    for likely, pair in judged:
        if likely >= SURE and _say_the_same(pair.earlier, told.setdefault(pair.later, pair.earlier)):
            replaced.setdefault(pair.earlier, pair.later)
    return replaced


def _beside(judged: Sequence[tuple[float, Pair]]) -> Mapping[Statement, Statement]:
    """The statements that may hold no more, each with the one that most likely says so."""
    return {pair.earlier: pair.later for likely, pair in reversed(judged) if BESIDE <= likely < SURE}


def _comparable(
    said: Sequence[Statement], kept: Set[int], odds: Mapping[int, float], asked: Words, days: Set[Day]
) -> list[Pair]:
    likely = sorted(
        (-min(odds[earlier.candidate], odds[later.candidate]), n, m)
        for n, earlier in enumerate(said)
        if earlier.candidate in kept and not says_nothing(earlier.text)
        for m, later in enumerate(said)
        if not later.by_assistant and later.is_after(earlier)
    )
    near = sorted(
        (less - weight_of(said[n].telling & said[m].telling) / RAREST, n, m)
        for less, n, m in _to_compare(likely, said)
        if not _numbers_another(said[n], said[m], asked) and not _is_of_asked_past(said[n], said[m], days)
    )
    pairs = _of_many([(said[n], said[m]) for _, n, m in near])
    told = _told_with(said, [earlier.candidate for earlier, _ in pairs])
    same = {one: {other.candidate for other in said if _say_the_same(one, other)} for one, _ in pairs}
    return [
        Pair(
            earlier,
            later,
            odds[earlier.candidate],
            odds[later.candidate],
            *_likelihood_of([each for n, each in odds.items() if n not in {*same[earlier], later.candidate}]),
            told[earlier.candidate],
        )
        for earlier, later in pairs
    ]


def _to_compare(likely: Iterable[tuple[float, int, int]], said: Sequence[Statement]) -> list[tuple[float, int, int]]:
    """The first of the pairs, of each two candidates so many as there is room for."""
    of_two: Counter[tuple[int, int]] = Counter()
    compared: list[tuple[float, int, int]] = []
    for less, n, m in likely:
        of_two[two := (said[n].candidate, said[m].candidate)] += 1
        if of_two[two] <= MAX_COMPARED_OF_TWO:
            compared.append((less, n, m))
    return compared[:MAX_COMPARED]


def _of_many(pairs: Sequence[tuple[Statement, Statement]]) -> list[tuple[Statement, Statement]]:
    """The pairs, best first, of so many later lines as there is room for: of each two candidates `MAX_OF_TWO`, and then
    the others."""
    first: list[tuple[Statement, int, int]] = []
    others: list[tuple[Statement, int, int]] = []
    of_two: Counter[tuple[int, int]] = Counter()
    for line in dict.fromkeys(map(_line_of, pairs)):
        earlier, later, _ = line
        of_two[earlier.candidate, later] += 1
        (first if of_two[earlier.candidate, later] <= MAX_OF_TWO else others).append(line)
    judged = frozenset([*first, *others][:MAX_JUDGED])
    return [pair for pair in pairs if _line_of(pair) in judged][:MAX_PAIRS]


def _line_of(pair: tuple[Statement, Statement]) -> tuple[Statement, int, int]:
    """The earlier statement, and the candidate and the line of the later one: lines are read whole."""
    earlier, later = pair
    return earlier, later.candidate, later.place


def _told_with(said: Sequence[Statement], candidates: Sequence[int]) -> Mapping[int, tuple[str, ...]]:
    """For each candidate its statements where it has several: those of the first ones, `MAX_TOLD_WITH` in all."""
    told: dict[int, tuple[str, ...]] = {}
    room = MAX_TOLD_WITH
    for number in dict.fromkeys(candidates):
        texts = tuple(dict.fromkeys(one.text for one in said if one.candidate == number))
        told[number] = texts if 1 < len(texts) <= room else ()
        room -= len(told[number])
    return told


def _numbers_another(earlier: Statement, later: Statement, asked: Words) -> bool:
    """Whether the earlier one is about several things that are told apart by numbers, and the later one about another
    of them than is asked about: "class 5a" is not "class 3b"."""
    wanted = asked.bag & earlier.words.bag - later.words.bag
    others = later.words.bag & earlier.words.bag - asked.bag
    return any(map(_has_digit, wanted)) and any(map(_has_digit, others))


def _is_of_asked_past(earlier: Statement, later: Statement, asked: Set[Day]) -> bool:
    """Whether the earlier one is of a day or month that is asked about, and the later one of a time after it: "where
    did we meet in March?" is not answered by where we meet in April."""
    told, now = earlier.at.date(), later.at.date()
    return any(
        day.is_over(now, told) and day.is_one_of(_days_of(earlier)) and not day.is_one_of(_days_of(later))
        for day in asked
    )


def _days_of(one: Statement) -> Iterator[Day]:
    """The day when it was said, and those that it names."""
    yield Day(one.at.year, one.at.month, one.at.day)
    yield from days_in(one.said)


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _likelihood_of(others: Sequence[float]) -> tuple[float, float]:
    """The log-odds that the best of the candidates that say something else is an answer, and of all of them together.
    What was told more than once answers no better for that, and is out of date as often."""
    together = sum(map(math.exp, others))
    return max(others, default=-math.inf), math.log(together) if together else -math.inf


def _say_the_same(one: Statement, other: Statement) -> bool:
    """Whether two statements share most of their words: a record and its turn, or an assistant that repeats it."""
    both = one.words.bag & other.words.bag
    return len(both) >= SAME_SHARE * max(1, min(len(one.words.bag), len(other.words.bag)))


def _decided(
    candidates: Sequence[Candidate],
    replaced: Mapping[Statement, Statement],
    beside: Mapping[Statement, Statement],
    answers: Answers,
) -> list[Candidate]:
    decided = list(candidates)
    places = {n: float(n) for n in range(len(candidates))}

    def follows(later: int, earlier: int) -> None:
        decided[later] = _shown(decided[later], candidates[earlier])
        places[later] = min(places[later], earlier + NEXT)

    for number in {earlier.candidate for earlier in replaced}:
        gone = {earlier: later for earlier, later in replaced.items() if earlier.candidate == number}
        for later in gone.values():
            follows(later.candidate, number)
        decided[number] = _without(decided[number], gone, candidates, answers)
    for earlier, later in beside.items():
        if decided[earlier.candidate].verdict is Verdict.KEPT:
            follows(later.candidate, earlier.candidate)
    order = sorted(places, key=lambda n: (decided[n].verdict is not Verdict.KEPT, places[n]))
    return [decided[n] for n in order]


def _without(
    whole: Candidate, gone: Mapping[Statement, Statement], candidates: Sequence[Candidate], answers: Answers
) -> Candidate:
    """A candidate without the statements that hold no more: the rest of it, or none of it."""
    said = list(statements_in(next(iter(gone)).candidate, whole))
    left = [one for one in said if one not in gone and not says_nothing(one.text)]
    at_length = any(len(line) > WHOLE_CHARS for line in whole.hit.text.split("\n"))
    if at_length or any(not one.by_assistant for one in left):
        score = whole.score if at_length else _of_rest(whole.score, said, left, answers)
        return whole._replace(hit=whole.hit._replace(text=without(whole.hit.text, gone)), score=score)
    by = candidates[next(iter(gone.values())).candidate]
    return whole.dropped(Verdict.SUPERSEDED)._replace(replaced_by=by.hit.uri)


def _of_rest(score: float, said: Sequence[Statement], left: Sequence[Statement], answers: Answers) -> float:
    """The score of what is left of a candidate with this ``score``."""
    read = {text: answers(text) for text in {one.text for one in said}} if len(said) <= MAX_TOLD_WITH else {}
    odds = {text: each for text, each in read.items() if each is not None}
    if not odds or len(odds) < len(read):
        return score
    return logistic(log_odds(score) + max(odds[one.text] for one in left) - max(odds.values()))


def _shown(later: Candidate, earlier: Candidate) -> Candidate:
    """The later one, shown where the earlier one is worth it."""
    if later.verdict not in _BEATEN:
        return later
    return later._replace(verdict=Verdict.KEPT, score=max(earlier.score, later.score))
