"""One score for what was found by words, by vectors, or by both. Pure.

Turns of a session are read together: what answers a question often shares no word with it ("The Alps!"), but stands
beside a turn that does, in a conversation that was about it. So a turn's score takes in its neighbours' and its
conversation's.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from app.embedded.index.documents import Document
from app.embedded.index.index import Chunk
from app.embedded.search.speakers import quoted_speaker, usual_speakers
from app.settings import SearchSettings
from app.text.dates import moment_of
from app.text.sentences import ends_in_question
from app.text.words import STOP_WORDS, tokens

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
"""Categories that do not age."""


class Scored(NamedTuple):
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
        total, floor = _weighted(words, vectors, settings), 0.0
    else:
        total, floor = _fused(words, vectors, chunks), DECAY_FLOOR
    found = [chunk for chunk in chunks if chunk.id in total]
    scores = [total[chunk.id] for chunk in found]
    if settings.merge == "rrf":
        scores = _with_conversations(found, _weighed(query, found, scores))
    return [
        Scored(chunk, score * _decay(chunk.document, now, settings.half_life_days, floor))
        for chunk, score in zip(found, scores, strict=True)
    ]


def _fused(words: Mapping[int, float], vectors: Mapping[int, float], chunks: Sequence[Chunk]) -> dict[int, float]:
    """Reciprocal rank fusion (Cormack et al., 2009) of both lists, each with its neighbours' shares."""
    base = min(vectors.values(), default=0.0)
    above = {chunk_id: score - base for chunk_id, score in vectors.items()}
    chunks = sorted(chunks, key=lambda chunk: chunk.document.uri)  # those of equal scores stay in this order
    fused: dict[int, float] = {}
    for scores, shares in ((words, WORD_NEIGHBOURS), (above, VECTOR_NEIGHBOURS)):
        total = _with_neighbours(scores, chunks, shares) if scores else {}
        for rank, chunk_id in enumerate(sorted(total, key=total.__getitem__, reverse=True)):
            fused[chunk_id] = fused.get(chunk_id, 0.0) + 1 / (RRF_K + rank)
    return fused


def _with_neighbours(scores: Mapping[int, float], chunks: Sequence[Chunk], shares: Sequence[float]) -> dict[int, float]:
    """Scores with the neighbours' shares added, of those that were found and of those beside them."""
    places = {chunk.id: chunk.place for chunk in chunks if chunk.document.speaker}
    turns: dict[tuple[int, int], float] = {}
    for chunk_id in scores.keys() & places.keys():
        place = places[chunk_id]
        turns[place] = max(turns.get(place, 0.0), scores[chunk_id])
    gained: dict[tuple[int, int], float] = defaultdict(float)
    reach = [(step * side, share) for step, share in enumerate(shares, 1) for side in (-1, 1)]
    for (file, ordinal), score in turns.items():
        for offset, share in reach:
            gained[file, ordinal + offset] += share * score
    total = {}
    for chunk in chunks:
        score = scores.get(chunk.id, 0.0) + (gained.get(places[chunk.id], 0.0) if chunk.id in places else 0.0)
        if score > 0 or chunk.id in scores:
            total[chunk.id] = score
    return total


def _weighed(query: str, chunks: Sequence[Chunk], scores: Sequence[float]) -> list[float]:
    """The scores of ``chunks`` by who said it, how, and at what length."""
    asked = frozenset(tokens(query)) - STOP_WORDS
    turns = (((c.file, c.document.speaker), c.document.text) for c in chunks if c.document.speaker)
    usual = usual_speakers(turns)
    named = {of for of, name in usual.items() if not asked.isdisjoint(tokens(name))}
    weighed = []
    for chunk, score in zip(chunks, scores, strict=True):
        text = chunk.document.text
        factor = max(BRIEF_CHARS, len(text)) ** -BREVITY
        if chunk.document.speaker:
            of = (chunk.file, chunk.document.speaker)
            first_hand = of in named and quoted_speaker(text) == usual[of]
            factor *= (NAMED_SPEAKER if first_hand else 1.0) * (QUESTION if ends_in_question(text) else 1.0)
        weighed.append(score * factor)
    return weighed


def _with_conversations(chunks: Sequence[Chunk], scores: Sequence[float]) -> list[float]:
    """Up to twice the score for a turn from a conversation about the query. What was distilled from a conversation, or
    written by a person, is no worse than a turn of the best one."""
    conversations = [_conversation(chunk) for chunk in chunks]
    turns: dict[tuple[int, str], list[float]] = defaultdict(list)
    for conversation, score in zip(conversations, scores, strict=True):
        if conversation:
            turns[conversation].append(score)
    best = max(scores, default=1.0)
    about: dict[tuple[int, str] | None, float] = {
        conversation: sum(sorted(of_it)[-CONVERSATION_TURNS:]) / CONVERSATION_TURNS / best
        for conversation, of_it in turns.items()
    }
    about[None] = max(about.values(), default=0.0)
    return [score * (1 + about[conversation]) for conversation, score in zip(conversations, scores, strict=True)]


def _conversation(chunk: Chunk) -> tuple[int, str] | None:
    """The session and the day that a turn belongs to; None for what is no turn."""
    return (chunk.file, chunk.document.at[:10]) if chunk.document.speaker else None


def _weighted(words: Mapping[int, float], vectors: Mapping[int, float], settings: SearchSettings) -> dict[int, float]:
    """The weighted merge: cosine and 1 / (1 + rank by words), by weight."""
    scores = {chunk_id: settings.vector_weight * cosine for chunk_id, cosine in vectors.items()}
    for rank, chunk_id in enumerate(sorted(words, key=words.__getitem__, reverse=True)):
        scores[chunk_id] = scores.get(chunk_id, 0.0) + settings.text_weight / (1 + rank)
    return scores


def _decay(document: Document, now: datetime, half_life_days: float, floor: float) -> float:
    if not half_life_days or document.category in TIMELESS:
        return 1.0
    at = moment_of(document.at)
    if at is None:
        return 1.0
    age = (now - at).total_seconds() / 86400
    return floor + (1 - floor) * float(0.5 ** (max(0.0, age) / half_life_days))
