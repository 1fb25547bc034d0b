"""From two lists of chunks to one list of hits: scores (`app.embedded.search.scores`), variety, excerpts
(`app.embedded.search.excerpts`). Pure; `app.embedded.index.index` does the looking up.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime

from app.classify.fillers import is_no_query
from app.core.recall.hits import Evidence, Hit
from app.embedded.index.chunk_table import Chunk
from app.embedded.index.documents import Document
from app.embedded.index.similar import Similar
from app.embedded.search.excerpts import Excerpt, excerpts_of, named_turns, said, wholes
from app.embedded.search.scores import Scored, is_echo, merged
from app.settings import SearchSettings
from app.text import mmr
from app.text.log_odds import logistic
from app.text.sentences import ends_in_question
from app.text.similarity import words_in
from app.text.words import tokens

ACKNOWLEDGEMENT_CHARS = 40
"""What is longer acknowledges nothing only."""
LONG_TURN_CHARS = 800
"""From here on a record taken from a turn stands for the turn."""
VARIED = 40
"""How many of the best are put into a varied order; the work grows with the square of it."""
ALIKE = 0.4
"""Share of words from which on two texts say the same. Less is no repetition: those who talk about one thing use the
same words."""
MAX_CANDIDATES = 400
"""Most candidates of each search, whatever the limit."""
RANK_STEP = 0.9999
"""What is left of the score of the hit before, at most: an order of hits that their scores keep."""
WORD_DOUBT = 0.75
"""The doubt that each word of the query leaves which a hit holds, however many more the query has."""
FAR_OUT, FAR_OUT_PER = 3.0, 0.7
"""Standard deviations above the mean similarity at which a hit is as likely as not about the query, and those that
multiply its odds by e."""
SUREST = 0.95
"""The highest score."""


def neighbours(chunks: Iterable[Chunk], best: Collection[int]) -> set[tuple[int, int]]:
    """The places beside the turns with the ``best`` ids, without those that are among ``chunks`` themselves."""
    turns = {chunk.place: chunk.id in best for chunk in chunks if chunk.document.speaker}
    beside = {(file, ordinal + step) for (file, ordinal), good in turns.items() if good for step in (-1, 1)}
    return {place for place in beside if place not in turns and place[1] >= 0}


def hits(
    query: str,
    words: Mapping[int, float],
    similar: Similar,
    chunks: Sequence[Chunk],
    settings: SearchSettings,
    now: datetime,
    limit: int,
    rarity: Mapping[str, float],
    pieces: int,
    *,
    all_at: Callable[[Collection[tuple[int, int]]], Sequence[Chunk]] | None = None,
) -> list[Hit]:
    """The best ``limit`` hits of what holds ``now``. ``words`` are BM25 scores by chunk id, ``chunks`` the candidates
    with neighbours, ``rarity`` says how much each word of the query tells, among how many ``pieces`` (`Index.rarity`).
    ``all_at`` gives all pieces of the turns at these places; then hits have their whole.

    Scores are between 0 and 1, in the order of the hits: what speaks for the best of them, and of the others the share
    that the search found for them.
    """
    asked = frozenset(rarity)
    holding = [chunk for chunk in _telling(chunks, words, asked) if not _is_over(chunk.document, now)]
    scored = merged(query, words, similar, holding, settings, now)
    order = _without_doubles(sorted(scored, key=lambda s: (-s.score, s.document.uri)))
    varied = [*_varied(order[:VARIED], settings.mmr_lambda), *order[VARIED : 4 * limit]]
    excerpts = excerpts_of(varied)[:limit]
    named = named_turns(holding)
    cosines = similar.of([chunk.id for excerpt in excerpts for chunk in excerpt.chunks])
    vectors = similar.vectors([chunk.id for excerpt in excerpts if (chunk := excerpt.only)])
    texts = [said(excerpt.documents, named) for excerpt in excerpts]
    whole_texts = wholes(excerpts, all_at, named) if all_at else [None] * len(excerpts)
    evidence = [
        _evidence(excerpt, text, rarity, pieces, cosines, vectors, similar)
        for excerpt, text in zip(excerpts, texts, strict=True)
    ]
    top = max(map(_likely, evidence, [len(_held(text, rarity)) for text in texts]), default=0.0)
    best = max((excerpt.best for excerpt in excerpts), default=0.0) or 1.0
    found: list[Hit] = []
    for excerpt, text, whole, known in zip(excerpts, texts, whole_texts, evidence, strict=True):
        score = min(top * excerpt.best / best, found[-1].score * RANK_STEP if found else 1.0)
        found.append(_hit(excerpt.documents[0], text, score, known, whole))
    return found


def _is_over(document: Document, now: datetime) -> bool:
    return bool(document.until) and datetime.fromisoformat(document.until) <= now


def _telling(chunks: Sequence[Chunk], words: Collection[int], asked: Collection[str]) -> list[Chunk]:
    """Without the "Got it." of an assistant, which stands beside many a fact and tells nothing; found by its ``words``,
    or as the answer to a question that is not the one ``asked`` now, it does."""
    answers = {
        (chunk.file, chunk.document.ordinal + 1)
        for chunk in chunks
        if ends_in_question(chunk.document.text) and not is_echo(chunk.document.text, asked)
    }

    def tells(chunk: Chunk) -> bool:
        document = chunk.document
        if document.speaker != "assistant" or len(document.text) > ACKNOWLEDGEMENT_CHARS:
            return True
        return chunk.id in words or chunk.place in answers or not is_no_query(document.text)

    return [chunk for chunk in chunks if tells(chunk)]


def _without_doubles(order: Sequence[Scored]) -> list[Scored]:
    """Of what was said and a record taken from it one stays: the record where the turn is long or says nothing else."""
    records: dict[str, list[Document]] = defaultdict(list)
    said: dict[str, list[Document]] = defaultdict(list)
    for document in (scored.document for scored in order if scored.document.source):
        (said if document.speaker else records)[document.source].append(document)
    both = records.keys() & said.keys()

    def stays(document: Document) -> bool:
        if document.source not in both:
            return True
        if document.speaker:
            return not any(_replaces(record, document) for record in records[document.source])
        told = [piece for piece in said[document.source] if _holds(piece, document)]
        return not told or any(_replaces(document, piece) for piece in told)

    return [scored for scored in order if stays(scored.document)]


def _holds(piece: Document, record: Document) -> bool:
    """Whether a record was taken from this piece of its turn."""
    return piece.parts == 1 or record.text in piece.text


def _replaces(record: Document, piece: Document) -> bool:
    return _holds(piece, record) and (piece.length > LONG_TURN_CHARS or len(record.text) >= len(piece.text))


def _varied(order: Sequence[Scored], mmr_lambda: float) -> list[Scored]:
    """Each next one is good and says something new."""
    best = order[0].score or 1.0 if order else 1.0
    said = (text.lower().split() if text.isascii() else tokens(text) for text in (s.document.text for s in order))
    return [order[i] for i in mmr.varied([s.score / best for s in order], said, mmr_lambda, ALIKE)]


def _hit(first: Document, text: str, score: float, evidence: Evidence, whole: str | None) -> Hit:
    return Hit(
        uri=first.uri,
        text=text,
        score=score,
        category=first.category,
        peer=first.peer,
        updated_at=first.at,
        evidence=evidence,
        whole=whole,
    )


def _evidence(
    excerpt: Excerpt,
    text: str,
    rarity: Mapping[str, float],
    pieces: int,
    cosines: Mapping[int, float],
    vectors: Mapping[int, bytes],
    similar: Similar,
) -> Evidence:
    total = sum(rarity.values())
    held = _held(text, rarity)
    near = max((cosines[chunk.id] for chunk in excerpt.chunks if chunk.id in cosines), default=None)
    return Evidence(
        similarity=near,
        background=similar.background,
        odds=similar.calibration.odds(near) if similar.calibration and near is not None else None,
        vector=vectors.get(excerpt.only.id) if similar.calibration and excerpt.only else None,
        words=sum(rarity[word] for word in held) / total if total else 0.0,
        pieces=pieces,
    )


def _held(text: str, rarity: Mapping[str, float]) -> set[str]:
    """The words of the query that a text holds, inflected or not."""
    return rarity.keys() & {*tokens(text), *words_in(text, rarity)}


def _likely(evidence: Evidence, held: int) -> float:
    """How likely a hit is about the query, by the words that it holds, or by how far its similarity stands out."""
    by_words = max(0.1 + 1.2 * (evidence.words or 0.0), 1 - WORD_DOUBT**held)
    by_meaning = 0.0
    if evidence.similarity is not None and evidence.background is not None:
        mean, deviation = evidence.background
        by_meaning = logistic(((evidence.similarity - mean) / deviation - FAR_OUT) / FAR_OUT_PER)
    return min(SUREST, max(by_words, by_meaning))
