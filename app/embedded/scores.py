"""One score for what was found by words, by vectors, or by both. Pure.

Turns of a session are read together: what answers a question often shares no word with it ("The Alps!"), but stands
beside a turn that does, in a conversation that was about it. So a turn's score takes in its neighbours' and its
conversation's.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from app.core.words import STOP_WORDS, tokens
from app.embedded.documents import Document
from app.embedded.index import Chunk
from app.settings import SearchSettings

WORD_NEIGHBOURS = (0.5, 0.2)
"""Shares of the BM25 scores of the turns beside a turn, and of those one further, that it gets."""
VECTOR_NEIGHBOURS = (0.3, 0.2)
"""The same of similarities; less beside it, because a turn is embedded with the one before it."""
RRF_K = 20
"""Rank constant of reciprocal rank fusion: for lists of some hundred, smaller than the usual 60."""
NAMED_SPEAKER = 2.5
"""Factor for what was said by someone whom the query names: who is asked about mostly says it first-hand."""
QUESTION = 0.8
"""Factor for a turn that ends in a question: it seldom answers one."""
BREVITY = 0.15
"""A text's score is divided by its length to this power: the block's characters are what hits compete for."""
BRIEF_CHARS = 30
"""A text shorter than this gains nothing more."""
CONVERSATION_TURNS = 3
"""A conversation (one session on one day) is about the query as much as so many of its best turns are, on average."""
DECAY_FLOOR = 0.9
"""What age leaves of a score at least (`rrf`): an old fact is still the answer when nothing newer is."""
TIMELESS = frozenset({"profile", "preferences", "entities", "experiences"})
"""Categories that do not age (seed: long-term knowledge)."""

LABEL = re.compile(r"[^\s:：][^:：\n]{0,30}[:：]\s")
"""A speaker's name in front of what was said."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk with its score: positive, and comparable within one search only."""

    chunk: Chunk
    score: float

    @property
    def document(self) -> Document:
        """What the chunk holds."""
        return self.chunk.document


def merged(
    query: str,
    words: Mapping[int, float],
    vectors: Mapping[int, float],
    chunks: Sequence[Chunk],
    settings: SearchSettings,
    now: datetime,
) -> list[Scored]:
    """The ``chunks`` that have a score, in no order. ``words`` and ``vectors`` are scores by chunk id."""
    if settings.merge == "weighted":
        found, floor = _weighted(words, vectors, chunks, settings), 0.0
    else:
        found, floor = _with_conversations(_weighed(query, _fused(words, vectors, chunks))), DECAY_FLOOR
    return [Scored(s.chunk, s.score * _decay(s.document, now, settings.half_life_days, floor)) for s in found]


def _fused(words: Mapping[int, float], vectors: Mapping[int, float], chunks: Sequence[Chunk]) -> list[Scored]:
    """Reciprocal rank fusion (Cormack et al., 2009) of both lists, each with its neighbours' shares."""
    base = min(vectors.values(), default=0.0)
    above = {chunk_id: score - base for chunk_id, score in vectors.items()}
    uris = {chunk.id: chunk.document.uri for chunk in chunks}
    fused: dict[int, float] = {}
    for scores, shares in ((words, WORD_NEIGHBOURS), (above, VECTOR_NEIGHBOURS)):
        total = _with_neighbours(scores, chunks, shares) if scores else {}
        for rank, chunk_id in enumerate(sorted(total, key=lambda i: (-total[i], uris[i]))):
            fused[chunk_id] = fused.get(chunk_id, 0.0) + 1 / (RRF_K + rank)
    return [Scored(chunk, fused[chunk.id]) for chunk in chunks if chunk.id in fused]


def _with_neighbours(scores: Mapping[int, float], chunks: Sequence[Chunk], shares: Sequence[float]) -> dict[int, float]:
    """Scores with the neighbours' shares added; chunks that come to nothing are left out."""
    turns: dict[tuple[int, int], float] = defaultdict(float)
    for chunk in chunks:
        if chunk.id in scores and chunk.document.speaker:
            turns[chunk.place] = max(turns[chunk.place], scores[chunk.id])
    gained: dict[tuple[int, int], float] = defaultdict(float)
    for (file, ordinal), score in turns.items():
        for step, share in enumerate(shares, 1):
            gained[file, ordinal - step] += share * score
            gained[file, ordinal + step] += share * score
    total: dict[int, float] = {}
    for chunk in chunks:
        score = scores.get(chunk.id, 0.0)
        if chunk.place in gained and chunk.document.speaker:
            score += gained[chunk.place]
        if score > 0:
            total[chunk.id] = score
    return total


def _weighed(query: str, found: Iterable[Scored]) -> list[Scored]:
    """Scores by who said it, how, and at what length."""
    asked = frozenset(tokens(query)) - STOP_WORDS
    named: dict[str, bool] = {}
    weighed = []
    for scored in found:
        text = scored.document.text
        factor = max(BRIEF_CHARS, len(text)) ** -BREVITY
        if scored.document.speaker:
            label = match.group() if (match := LABEL.match(text)) else ""
            if label not in named:
                named[label] = not asked.isdisjoint(tokens(label))
            factor *= (NAMED_SPEAKER if named[label] else 1.0) * (QUESTION if _asks(text) else 1.0)
        weighed.append(Scored(scored.chunk, scored.score * factor))
    return weighed


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))


def _with_conversations(found: Sequence[Scored]) -> list[Scored]:
    """Up to twice the score for a turn from a conversation about the query. What was distilled from a conversation, or
    written by a person, is no worse than a turn of the best one."""
    scores: dict[tuple[int, str], list[float]] = defaultdict(list)
    for scored in found:
        if scored.document.speaker:
            scores[_conversation(scored)].append(scored.score)
    best = max((scored.score for scored in found), default=1.0)
    about = {
        conversation: sum(sorted(turns)[-CONVERSATION_TURNS:]) / CONVERSATION_TURNS / best
        for conversation, turns in scores.items()
    }
    most = max(about.values(), default=0.0)
    return [Scored(s.chunk, s.score * (1 + (about[_conversation(s)] if s.document.speaker else most))) for s in found]


def _conversation(scored: Scored) -> tuple[int, str]:
    return scored.chunk.file, scored.document.at[:10]


def _weighted(
    words: Mapping[int, float], vectors: Mapping[int, float], chunks: Sequence[Chunk], settings: SearchSettings
) -> list[Scored]:
    """The seed's merge: cosine and 1 / (1 + rank by words), by weight."""
    rank = {chunk_id: place for place, chunk_id in enumerate(sorted(words, key=lambda i: -words[i]))}
    return [
        Scored(
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
