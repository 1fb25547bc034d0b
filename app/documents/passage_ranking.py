"""Which passages answer a question best, whichever backend found them. Pure.

Words and meaning are added up on one scale: how many deviations a similarity stands above what is usual for the
question, and the share of the best BM25. A passage counts for more where its document has others that are about the
question, and what stands beside it and is nearly as good comes with it: an answer seldom ends where a passage does.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from app.core.recall.hits import Evidence, Hit
from app.text.log_odds import logistic
from app.text.similarity import words_in
from app.text.words import token_set

CANDIDATES = 64
"""Passages that each search is asked for at the least."""
JOINED_CHARS = 1_200
"""Passages that stand side by side come as one, up to this length."""
JOINED_SHARE = 0.6
"""A passage joins a better one with at least this share of its score."""
DOCUMENT, DOCUMENT_PASSAGES = 0.3, 3
"""The share of the mean score of its document's best passages, and so many of them, that a passage gets."""
FAR_OUT = 3.0
"""Deviations above the usual at which a passage is as likely as not about the question."""
SUREST = 0.95
RANK_STEP = 0.9999
"""What is left of the score of the one before, at most."""
_LEAST_DEVIATION = 1e-4


class Found(NamedTuple):
    """A passage that a search found. Its text begins with its place; ``#<number>`` ends its URI."""

    hit: Hit
    similarity: float | None
    """Of its vector to the question's; None where it has none."""
    words: float
    """Its BM25; 0 where it was found by meaning alone."""


class Scale(NamedTuple):
    """What similarities are set against, and what words count for then."""

    background: tuple[float, float] | None
    """Their mean and deviation; None where there are none, or too few."""
    words: float


BY_INDEX = 1.5
"""What words count for where the background is that of all passages."""
BY_CANDIDATES = 3.0
"""The same where it is that of the nearest ones: they differ less, so that each deviation tells less."""


def of_candidates(similarities: Sequence[float]) -> Scale:
    """The scale of a search that tells of nothing but the nearest."""
    if not similarities:
        return Scale(None, BY_CANDIDATES)
    mean = math.fsum(similarities) / len(similarities)
    deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in similarities) / len(similarities))
    return Scale((mean, deviation), BY_CANDIDATES)


def ranked(query: str, found: Sequence[Found], scale: Scale, limit: int) -> list[Hit]:
    """The best ``limit`` of what was found, best first, with evidence and scores between 0 and 1."""
    totals = _totals(found, scale)
    order = sorted(range(len(found)), key=lambda n: (-totals[n], found[n].hit.uri))
    rarity = _rarity(query, [one.hit.text for one in found])
    shown: list[Hit] = []
    best = top = 0.0
    for group in _joined(found, totals, order)[:limit]:
        first = group[0]
        hit = _one([found[n] for n in sorted(group, key=lambda n: _place(found[n])[1])], first=found[first].hit)
        evidence = _evidence([found[n] for n in group], hit.text, rarity, scale)
        if not shown:
            best, top = totals[first], _likely(evidence)
        share = totals[first] / best if best > 0 else 1.0
        score = max(0.0, min(top * share, shown[-1].score * RANK_STEP if shown else 1.0))
        shown.append(hit._replace(score=score, evidence=evidence))
    return shown


def _totals(found: Sequence[Found], scale: Scale) -> list[float]:
    most = max((one.words for one in found), default=0.0) or 1.0
    own = [_height(one.similarity, scale) + scale.words * one.words / most for one in found]
    of: dict[str, list[float]] = defaultdict(list)
    for one, score in zip(found, own, strict=True):
        of[_place(one)[0]].append(score)
    about = {document: sum(sorted(scores)[-DOCUMENT_PASSAGES:]) / DOCUMENT_PASSAGES for document, scores in of.items()}
    return [score + DOCUMENT * about[_place(one)[0]] for one, score in zip(found, own, strict=True)]


def _height(similarity: float | None, scale: Scale) -> float:
    if similarity is None or scale.background is None:
        return 0.0
    mean, deviation = scale.background
    return (similarity - mean) / max(deviation, _LEAST_DEVIATION)


def _joined(found: Sequence[Found], totals: Sequence[float], order: Sequence[int]) -> list[list[int]]:
    """The passages in their order, each with those beside it that join it, the best of them first."""
    at = {_place(found[n]): n for n in order}
    taken: set[int] = set()
    groups: list[list[int]] = []
    for n in order:
        if n in taken:
            continue
        taken.add(n)
        groups.append([n, *_neighbours(n, found, totals, at, taken)])
    return groups


def _neighbours(
    n: int, found: Sequence[Found], totals: Sequence[float], at: Mapping[tuple[str, int], int], taken: set[int]
) -> list[int]:
    document, number = _place(found[n])
    heading, _, text = found[n].hit.text.partition("\n")
    chars = len(text)
    edges = [number - 1, number + 1]
    joined: list[int] = []
    while number >= 0:
        beside = [(at.get((document, edge), -1), side) for side, edge in enumerate(edges)]
        fits = [
            (totals[other], side, other)
            for other, side in beside
            if other >= 0
            and other not in taken
            and totals[other] >= JOINED_SHARE * totals[n]
            and found[other].hit.text.partition("\n")[0] == heading
            and chars + len(found[other].hit.text) - len(heading) <= JOINED_CHARS
        ]
        if not fits:
            break
        _, side, other = max(fits)
        taken.add(other)
        joined.append(other)
        chars += len(found[other].hit.text) - len(heading)
        edges[side] += 1 if side else -1
    return joined


def _place(one: Found) -> tuple[str, int]:
    """The document that a passage stands in, and its number there; -1 for what has none."""
    document, _, number = one.hit.uri.rpartition("#")
    return (document, int(number)) if document and number.isdecimal() else (one.hit.uri, -1)


def _one(passages: Sequence[Found], first: Hit) -> Hit:
    """Passages that stand side by side as one hit, at the place of the first of them."""
    if len(passages) == 1:
        return first
    texts = [one.hit.text.partition("\n")[2] for one in passages]
    place = first.text.partition("\n")[0]
    return passages[0].hit._replace(text="\n".join([place, "\n\n".join(texts)]))


def _evidence(passages: Sequence[Found], text: str, rarity: Mapping[str, float], scale: Scale) -> Evidence:
    total = sum(rarity.values())
    near = max((one.similarity for one in passages if one.similarity is not None), default=None)
    held = sum(rarity[word] for word in words_in(text, rarity))
    return Evidence(similarity=near, background=scale.background, words=held / total if total else 0.0)


def _rarity(query: str, texts: Sequence[str]) -> dict[str, float]:
    """How much each word of the query tells: the fewer of the texts have it, the more."""
    wanted = token_set(query)
    spread = dict.fromkeys(sorted(wanted), 0)
    for text in texts:
        for word in words_in(text, wanted):
            spread[word] += 1
    return {word: math.log(1 + len(texts) / (0.5 + count)) for word, count in spread.items()}


def _likely(evidence: Evidence) -> float:
    """How likely the best is about the question, by its words or by how far its similarity stands out."""
    by_meaning = logistic(_height(evidence.similarity, Scale(evidence.background, 0.0)) - FAR_OUT)
    has_meaning = evidence.similarity is not None and evidence.background is not None
    return min(SUREST, max(0.1 + 0.85 * (evidence.words or 0.0), by_meaning if has_meaning else 0.0))
