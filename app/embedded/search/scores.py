"""One score for what was found by words, by vectors, or by both. Pure.

Turns of a session are read together: what answers a question often shares no word with it ("The Alps!"), but stands
beside a turn that does, in a conversation that was about it. So a turn's score takes in its neighbours' and its
conversation's.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from app.embedded.index.chunk_table import Chunk
from app.embedded.index.documents import Document
from app.embedded.index.similar import Similar
from app.embedded.search.speakers import quoted_speaker, usual_speakers
from app.settings import SearchSettings
from app.text.dates import moment_of
from app.text.days import Day, days_in
from app.text.sentences import ends_in_question
from app.text.words import STOP_WORDS, tokens

WORD_NEIGHBOURS = (0.35, 0.2, 0.1)
"""Shares of the BM25 scores of the turns beside a turn, of those one further, and so on, that it gets."""
VECTOR_NEIGHBOURS = (0.5, 0.3)
"""The same of similarities."""
SAME_TURN = 0.3
"""What a piece gets of the lead that the best piece of its turn has."""
VECTORS = 0.5
"""What similarities count for against words."""
NOTICED = 1.0
"""Standard deviations above the mean of all similarities from which on one tells something."""
STEEPNESS = 2
"""Power of the deviations beyond that: many texts stand out a little, and one that stands out far tells more."""
OTHER_SPEAKER = 0.4
"""Factor for what another says than the one whom the query names: who is asked about mostly says it first-hand."""
OTHER_MONTH = 0.5
"""Factor for what neither was said on a day that the query names, nor names one itself."""
QUESTION, ASKED_CHARS = 0.8, 100
"""Factor for a turn that is a question and little more (characters): it seldom answers one."""
ECHO = 0.25
"""Factor for a question that says nothing which the query does not say: it was asked before, and is no answer."""
BREVITY = 0.45
"""A text's score is divided by its length to this power: the block's characters are what hits compete for."""
BRIEF_CHARS = 30
"""A text shorter than this gains nothing more."""
OUTDATED = 0.3
"""Factor for a turn whose statement a later one took the place of."""
LENGTHY = 0.8
"""A piece of a long turn is one of many things that were said in it: its score is divided by their number to this
power."""
CONVERSATION_TURNS = 3
"""A conversation (one session on one day) is about the query as much as so many of its best turns are, on average, or
all of its turns where they are fewer: a thing told alone is not less to the point than one in a long talk."""
CONVERSATION = 1.5
"""How much more, at most, a turn counts for its conversation."""
DECAY_FLOOR = 0.9
"""What age leaves of a score at least (`sum`): an old fact is still the answer when nothing newer is."""
TIMELESS = frozenset({"profile", "preferences", "entities", "experiences", "resource", "skill"})
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
    similar: Similar,
    chunks: Sequence[Chunk],
    settings: SearchSettings,
    now: datetime,
) -> list[Scored]:
    """The ``chunks`` that have a score, in no order. ``words`` are BM25 scores by chunk id."""
    if settings.merge == "weighted":
        total, floor = _weighted(words, similar.best, settings), 0.0
    else:
        total, floor = _added(query, words, similar, chunks), DECAY_FLOOR
    found = [chunk for chunk in chunks if chunk.id in total]
    scores = [total[chunk.id] for chunk in found]
    if settings.merge == "sum":
        scores = _with_conversations(found, _weighed(query, found, scores), chunks)
    return [
        Scored(chunk, score * _decay(chunk.document, now, settings.half_life_days, floor))
        for chunk, score in zip(found, scores, strict=True)
    ]


def is_echo(text: str, asked: Collection[str]) -> bool:
    """Whether ``text`` is a question that says nothing but what was ``asked`` (words that say something)."""
    if not ends_in_question(text) or len(text) > ASKED_CHARS:
        return False
    said = frozenset(tokens(text.partition(": ")[2] or text)) - STOP_WORDS
    return len(said - frozenset(asked)) * 3 <= len(said)


def _added(query: str, words: Mapping[int, float], similar: Similar, chunks: Sequence[Chunk]) -> dict[int, float]:
    """The sum of what words and similarities tell, each as a share of its best, with the neighbours' shares."""
    chunks = sorted(chunks, key=lambda chunk: chunk.document.uri)  # those of equal scores stay in this order
    when = _days_asked(query, chunks)
    total: dict[int, float] = {}
    for scores, shares, weight in (
        (words, WORD_NEIGHBOURS, 1.0),
        (_steep(similar.above(NOTICED, [chunk.id for chunk in chunks])), VECTOR_NEIGHBOURS, VECTORS),
    ):
        dated = {chunk_id: score * when.get(chunk_id, 1.0) for chunk_id, score in scores.items()}
        summed = _with_neighbours(dated, chunks, shares)
        best = max(summed.values(), default=0.0)
        for chunk_id, score in summed.items():
            total[chunk_id] = total.get(chunk_id, 0.0) + (weight * score / best if best else 0.0)
    return total


def _steep(scores: Mapping[int, float]) -> dict[int, float]:
    return {chunk_id: float(score**STEEPNESS) for chunk_id, score in scores.items()}


def _days_asked(query: str, chunks: Sequence[Chunk]) -> dict[int, float]:
    """Factors, by id, for chunks of other days than the query names; none where it names none."""
    asked = days_in(query)
    if not asked:
        return {}
    return {chunk.id: OTHER_MONTH for chunk in chunks if not _is_of(asked, chunk.document)}


def _is_of(asked: Collection[Day], document: Document) -> bool:
    """Whether what was said, or the day when it was said, agrees with a month that is ``asked`` about."""
    at = moment_of(document.at)
    said_on = Day(at.year, at.month, at.day) if at else Day(0, 0, 0)
    if any(day._replace(day=0).agrees(said_on) for day in asked) and said_on.month:
        return True
    text = document.text.lower()
    if not any(day.may_stand_in(text) for day in asked):
        return False
    named = (day if day.year else day._replace(year=said_on.year) for day in days_in(document.text))
    return any(day._replace(day=0).agrees(other) for other in named for day in asked)


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
        score = own = scores.get(chunk.id, 0.0)
        if chunk.id in places:
            score += gained.get(chunk.place, 0.0) + SAME_TURN * (turns.get(chunk.place, own) - own)
        if score > 0 or chunk.id in scores:
            total[chunk.id] = score
    return total


def _weighed(query: str, chunks: Sequence[Chunk], scores: Sequence[float]) -> list[float]:
    """The scores of ``chunks`` by who said it, how, and at what length."""
    asked = frozenset(tokens(query)) - STOP_WORDS
    heads = (chunk for chunk in chunks if chunk.document.speaker and not chunk.document.part)
    usual = usual_speakers(((chunk.file, chunk.document.speaker), chunk.document.text) for chunk in heads)
    outdated = {source for chunk in chunks if chunk.document.replaces for source in chunk.document.replaces.split("\n")}
    named = {of for of, name in usual.items() if not asked.isdisjoint(tokens(name))}
    weighed = []
    for chunk, score in zip(chunks, scores, strict=True):
        document = chunk.document
        factor = float(max(BRIEF_CHARS, len(document.text)) ** -BREVITY)
        if document.speaker:
            of = (chunk.file, document.speaker)
            factor *= OUTDATED if document.source in outdated else 1.0
            factor *= float(max(1.0, document.length / max(1, len(document.text))) ** -LENGTHY)
            if named and of in usual and of not in named and quoted_speaker(document.text) == usual[of]:
                factor *= OTHER_SPEAKER
            if ends_in_question(document.text) and len(document.text) <= ASKED_CHARS:
                factor *= ECHO if is_echo(document.text, asked) else QUESTION
        weighed.append(score * factor)
    return weighed


def _with_conversations(chunks: Sequence[Chunk], scores: Sequence[float], known: Iterable[Chunk]) -> list[float]:
    """More for a turn from a conversation about the query. What was distilled from a conversation, or written by a
    person, is no worse than a turn of the best one. ``known`` are all turns of which is known, found or beside them."""
    conversations = [_conversation(chunk) for chunk in chunks]
    sizes = Counter(_conversation(turn) for turn in {chunk.place: chunk for chunk in known}.values())
    turns: dict[tuple[int, str], list[float]] = defaultdict(list)
    for conversation, score in zip(conversations, scores, strict=True):
        if conversation:
            turns[conversation].append(score)
    best = max(scores, default=1.0) or 1.0
    about: dict[tuple[int, str] | None, float] = {
        conversation: sum(sorted(of_it)[-CONVERSATION_TURNS:]) / min(CONVERSATION_TURNS, sizes[conversation]) / best
        for conversation, of_it in turns.items()
    }
    about[None] = max(about.values(), default=0.0)
    return [
        score * (1 + CONVERSATION * about[conversation])
        for conversation, score in zip(conversations, scores, strict=True)
    ]


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
