"""From two lists of chunks to one list of hits: merge, decay, variety, excerpts. Pure; `app.embedded.index` does the
looking up.

Two turns next to each other in a session are read together: what answers a question often shares no word with it ("The
Alps!"), but stands beside a turn that does. So a turn's score takes in its neighbours', and hits that are neighbours
come back as one excerpt, which also says the date and the speaker once for all of them.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from app.core.hits import Hit
from app.core.words import STOP_WORDS, token_set, tokens
from app.embedded.documents import Document, day_of
from app.embedded.index import Chunk
from app.settings import SearchSettings

WORD_NEIGHBOUR = 0.5
"""Share of a neighbour's BM25 score that a turn gets."""
VECTOR_NEIGHBOUR = 0.3
"""Share of a neighbour's similarity, less than for words because a turn is embedded with the one before it."""
NAMED_SPEAKER = 2.5
"""Factor for what was said by someone whom the query names: who is asked about mostly says it first-hand."""
QUESTION = 0.8
"""Factor for a turn that ends in a question: it seldom answers one."""
RRF_K = 20
"""Rank constant of reciprocal rank fusion: for lists of some hundred, smaller than the usual 60."""
DECAY_FLOOR = 0.9
"""What age leaves of a score at least (`rrf`): an old fact is still the answer when nothing newer is."""
TIMELESS = frozenset({"profile", "preferences", "entities", "experiences"})
"""Categories that do not age (seed: long-term knowledge)."""
EXCERPT_CHARS = 800
"""Longest excerpt of several turns."""
EXCERPT_REACH = 3
"""Turns this near to one in an excerpt may join it."""
_NEAR = tuple(sorted(range(-EXCERPT_REACH, EXCERPT_REACH + 1), key=abs))
EXCERPT_SHARE = 0.6
"""A turn joins only with at least this share of the best one's score."""
LONG_TURN_CHARS = 800
"""From here on a record taken from a turn stands for the turn."""
VARIED = 40
"""How many of the best are put into a varied order; the work grows with the square of it."""
MAX_CANDIDATES = 400
"""Most candidates of each search, whatever the limit."""
RANK_STEP = 0.03
"""Log-odds between one hit's score and the next one's."""
CONFIDENT = 5
"""How many hits are looked at for how much of the query they have."""
VECTOR_CONFIDENCE = 0.6
"""How sure a semantic match is when no word tells."""

_LABEL = re.compile(r"[^\s:：][^:：\n]{0,30}[:：]\s")


@dataclass(frozen=True, slots=True)
class _Scored:
    chunk: Chunk
    score: float

    @property
    def document(self) -> Document:
        return self.chunk.document


def neighbours(chunks: Iterable[Chunk], best: Collection[int]) -> set[tuple[int, int]]:
    """The places beside the turns with the ``best`` ids, without those that are among ``chunks`` themselves."""
    turns = {chunk.place: chunk.id in best for chunk in chunks if chunk.document.speaker}
    beside = {(file, ordinal + step) for (file, ordinal), good in turns.items() if good for step in (-1, 1)}
    return {place for place in beside if place not in turns and place[1] >= 0}


def hits(
    query: str,
    words: Mapping[int, float],
    vectors: Mapping[int, float],
    chunks: Sequence[Chunk],
    settings: SearchSettings,
    now: datetime,
    limit: int,
) -> list[Hit]:
    """The best ``limit`` hits. ``words`` and ``vectors`` are scores by chunk id, ``chunks`` the candidates with
    neighbours.

    Scores are between 0 and 1. Their order is the order of the hits, and the first says how much of the query was
    found.
    """
    if settings.merge == "weighted":
        merged = _weighted(words, vectors, chunks, settings)
    else:
        asked = frozenset(tokens(query)) - STOP_WORDS
        merged = [_Scored(s.chunk, s.score * _voice(s.document, asked)) for s in _fused(words, vectors, chunks)]
    floor = 0.0 if settings.merge == "weighted" else DECAY_FLOOR
    aged = [_Scored(s.chunk, s.score * _decay(s.document, now, settings.half_life_days, floor)) for s in merged]
    order = _without_doubles(sorted(aged, key=lambda s: (-s.score, s.document.uri)))
    varied = [*_varied(order[:VARIED], settings.mmr_lambda), *order[VARIED : 4 * limit]]
    excerpts = _excerpts(varied)[:limit]
    top = _log_odds(_confidence(query, [_said(turns) for turns in excerpts[:CONFIDENT]], semantic=bool(vectors)))
    return [_hit(turns, _logistic(top - RANK_STEP * rank)) for rank, turns in enumerate(excerpts)]


def _fused(words: Mapping[int, float], vectors: Mapping[int, float], chunks: Sequence[Chunk]) -> list[_Scored]:
    """Reciprocal rank fusion (Cormack et al., 2009) of both lists, each with its neighbours' share."""
    base = min(vectors.values(), default=0.0)
    lists = [
        _with_neighbours(words, chunks, WORD_NEIGHBOUR),
        _with_neighbours({i: score - base for i, score in vectors.items()}, chunks, VECTOR_NEIGHBOUR),
    ]
    fused: dict[int, float] = {}
    for scores in lists:
        by_uri = {chunk.id: chunk.document.uri for chunk in chunks}
        for rank, chunk_id in enumerate(sorted(scores, key=lambda i: (-scores[i], by_uri[i]))):
            fused[chunk_id] = fused.get(chunk_id, 0.0) + 1 / (RRF_K + rank)
    return [_Scored(chunk, fused[chunk.id]) for chunk in chunks if chunk.id in fused]


def _with_neighbours(scores: Mapping[int, float], chunks: Sequence[Chunk], share: float) -> dict[int, float]:
    """Scores with the neighbours' share added; chunks that come to nothing are left out."""
    at: dict[tuple[int, int], float] = {}
    for chunk in chunks:
        if chunk.document.speaker:
            at[chunk.place] = max(at.get(chunk.place, 0.0), scores.get(chunk.id, 0.0))
    total: dict[int, float] = {}
    for chunk in chunks:
        score = scores.get(chunk.id, 0.0)
        if chunk.document.speaker:
            file, ordinal = chunk.place
            score += share * (at.get((file, ordinal - 1), 0.0) + at.get((file, ordinal + 1), 0.0))
        if score > 0:
            total[chunk.id] = score
    return total


def _voice(document: Document, asked: frozenset[str]) -> float:
    """How much a turn counts by who said it and how."""
    if not document.speaker:
        return 1.0
    label = _LABEL.match(document.text)
    named = label is not None and not asked.isdisjoint(tokens(label.group()))
    asks = document.text.rstrip().endswith(("?", "？"))
    return (NAMED_SPEAKER if named else 1.0) * (QUESTION if asks else 1.0)


def _weighted(
    words: Mapping[int, float], vectors: Mapping[int, float], chunks: Sequence[Chunk], settings: SearchSettings
) -> list[_Scored]:
    """The seed's merge: cosine and 1 / (1 + rank by words), by weight."""
    rank = {chunk_id: place for place, chunk_id in enumerate(sorted(words, key=lambda i: -words[i]))}
    return [
        _Scored(
            chunk,
            settings.vector_weight * vectors.get(chunk.id, 0.0)
            + settings.text_weight * (1 / (1 + rank[chunk.id]) if chunk.id in rank else 0.0),
        )
        for chunk in chunks
        if chunk.id in words or chunk.id in vectors
    ]


def _decay(document: Document, now: datetime, half_life_days: float, floor: float) -> float:
    if not half_life_days or document.category in TIMELESS:
        return 1.0
    try:
        at = datetime.fromisoformat(document.at)
    except ValueError:
        return 1.0
    age = (now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds() / 86400
    return floor + (1 - floor) * float(0.5 ** (max(0.0, age) / half_life_days))


def _without_doubles(order: Sequence[_Scored]) -> list[_Scored]:
    """Of a turn and a record taken from it one stays: the record where the turn is long or says nothing else."""
    turns = {s.document.source: s for s in order if s.document.speaker and s.document.source}
    taken = {s.document.source for s in order if not s.document.speaker and s.document.source in turns}
    stands = {source for source in taken if any(_replaces(s.document, turns[source].document) for s in order)}
    kept = []
    for scored in order:
        document = scored.document
        if document.source in taken and (document.source in stands) == bool(document.speaker):
            continue
        kept.append(scored)
    return kept


def _replaces(record: Document, turn: Document) -> bool:
    if record.speaker or record.source != turn.source:
        return False
    return len(turn.text) > LONG_TURN_CHARS or len(record.text) >= len(turn.text)


def _varied(order: Sequence[_Scored], mmr_lambda: float) -> list[_Scored]:
    """Maximal marginal relevance (seed; Carbonell & Goldstein, 1998) over the words of the texts."""
    if mmr_lambda >= 1 or len(order) < 3:
        return list(order)
    best = order[0].score or 1.0
    said = [_word_set(s.document.text) for s in order]
    value = [mmr_lambda * s.score / best for s in order]
    nearest = [0.0] * len(order)
    left = list(range(len(order)))
    chosen: list[_Scored] = []
    while left:
        pick = max(left, key=lambda i: (value[i] - (1 - mmr_lambda) * nearest[i], -i))
        left.remove(pick)
        chosen.append(order[pick])
        for i in left:
            nearest[i] = max(nearest[i], _jaccard(said[pick], said[i]))
    return chosen


def _word_set(text: str) -> frozenset[str]:
    """Good enough to tell that two texts say the same, and ten times as fast as `tokens`."""
    return frozenset(text.lower().split()) if text.isascii() else frozenset(tokens(text))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _excerpts(order: Sequence[_Scored]) -> list[list[Document]]:
    """Hits in order; turns near to a better one of the same session stand with it, in the order they were said."""
    groups: list[_Excerpt] = []
    at: dict[tuple[int, int], _Excerpt] = {}
    for scored in order:
        document = scored.chunk.document
        file, ordinal = scored.chunk.place
        group = next((g for step in _NEAR if (g := at.get((file, ordinal + step))) and g.takes(scored)), None)
        if group is None or not document.speaker:
            group = _Excerpt(scored.score, document.realm)
            groups.append(group)
        group.documents.append(document)
        group.chars += len(document.text)
        if document.speaker:
            at.setdefault((file, ordinal), group)
    return [sorted(group.documents, key=lambda d: (d.ordinal, d.part)) for group in groups]


@dataclass(slots=True)
class _Excerpt:
    """Turns that come back as one hit; ``best`` is the score of the first."""

    best: float
    realm: str
    documents: list[Document] = field(default_factory=list)
    chars: int = 0

    def takes(self, scored: _Scored) -> bool:
        """Whether a turn near by is good enough, and there is room for it."""
        document = scored.chunk.document
        return (
            document.realm == self.realm
            and scored.score >= EXCERPT_SHARE * self.best
            and self.chars + len(document.text) <= EXCERPT_CHARS
        )


def _hit(documents: Sequence[Document], score: float) -> Hit:
    first = documents[0]
    return Hit(
        uri=first.uri,
        text=_said(documents),
        score=score,
        category=first.category,
        peer=first.peer,
        updated_at=first.at,
    )


def _said(documents: Sequence[Document]) -> str:
    """Date and speaker in front of turns, each day once; everything else as it is."""
    lines: list[str] = []
    day = ""
    for document in documents:
        if not document.speaker:
            lines.append(document.text)
            continue
        said = document.text if _LABEL.match(document.text) else f"{document.speaker}: {document.text}"
        today = day_of(document.at)
        lines.append(said if today == day else f"{today} {said}")
        day = today
    return "\n".join(lines)


def _confidence(query: str, texts: Sequence[str], *, semantic: bool) -> float:
    """How much of the query the best text has, rare words counting more: a probability that this is about the query."""
    wanted = token_set(query)
    found: list[Collection[str]] = [wanted.intersection(tokens(text)) for text in texts]
    weights = {word: math.log(1 + len(found) / (1 + sum(word in f for f in found))) for word in sorted(wanted)}
    total = sum(weights.values())
    covered = max((sum(weights[word] for word in f) for f in found), default=0.0) / total if total else 0.0
    return min(0.95, max(0.1 + 1.2 * covered, VECTOR_CONFIDENCE if semantic else 0.0))


def _log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))
