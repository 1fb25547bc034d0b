"""From two lists of chunks to one list of hits: scores (`app.embedded.search.scores`), variety, excerpts. Pure;
`app.embedded.index.index` does the looking up.

Hits that are neighbours in a session come back as one excerpt, which says the date once for all of them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.classify.fillers import is_no_query
from app.core.recall.hits import Hit
from app.embedded.index.documents import Document
from app.embedded.index.index import Chunk
from app.embedded.search.scores import Scored, merged
from app.embedded.search.speakers import quoted_speaker, usual_speakers
from app.settings import SearchSettings
from app.text import mmr
from app.text.dates import day_of
from app.text.log_odds import log_odds, logistic
from app.text.sentences import ends_in_question
from app.text.similarity import shares
from app.text.words import token_set, tokens

EXCERPT_CHARS = 800
"""Longest excerpt of several turns."""
EXCERPT_REACH = 3
"""Turns this near to one in an excerpt may join it."""
_NEAR = tuple(sorted(range(-EXCERPT_REACH, EXCERPT_REACH + 1), key=abs))
EXCERPT_SHARE = 0.6
"""A turn joins only with at least this share of the best one's score."""
ACKNOWLEDGEMENT_CHARS = 40
"""What is longer acknowledges nothing only."""
LONG_TURN_CHARS = 800
"""From here on a record taken from a turn stands for the turn."""
VARIED = 40
"""How many of the best are put into a varied order; the work grows with the square of it."""
ALIKE = 0.4
"""Share of words from which on two texts say the same. Less is no repetition: those who talk about one thing use the
same words."""
NAMED_TURNS = 2
"""Fewest turns with a name in front that show that a role goes by it."""
MAX_CANDIDATES = 400
"""Most candidates of each search, whatever the limit."""
RANK_STEP = 0.03
"""Log-odds between one hit's score and the next one's."""
CONFIDENT = 5
"""How many hits are looked at for how much of the query they have."""
VECTOR_CONFIDENCE = 0.6
"""How sure a semantic match is when no word tells."""


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
    """The best ``limit`` hits of what holds ``now``. ``words`` and ``vectors`` are scores by chunk id, ``chunks`` the
    candidates with neighbours.

    Scores are between 0 and 1. Their order is the order of the hits, and the first says how much of the query was
    found.
    """
    holding = [chunk for chunk in _telling(chunks, words) if not _is_over(chunk.document, now)]
    scored = merged(query, words, vectors, holding, settings, now)
    order = _without_doubles(sorted(scored, key=lambda s: (-s.score, s.document.uri)))
    varied = [*_varied(order[:VARIED], settings.mmr_lambda), *order[VARIED : 4 * limit]]
    excerpts = _excerpts(varied)[:limit]
    named = _named(holding)
    texts = [said(turns, named) for turns in excerpts]
    top = log_odds(_confidence(query, texts[:CONFIDENT], semantic=bool(vectors)))
    return [
        _hit(turns[0], text, logistic(top - RANK_STEP * rank))
        for rank, (turns, text) in enumerate(zip(excerpts, texts, strict=True))
    ]


def _is_over(document: Document, now: datetime) -> bool:
    return bool(document.until) and datetime.fromisoformat(document.until) <= now


def _telling(chunks: Sequence[Chunk], words: Collection[int]) -> list[Chunk]:
    """Without the "Got it." of an assistant, which stands beside many a fact and tells nothing; found by its ``words``,
    or as the answer to a question, it does."""
    answers = {
        (file, turn + 1) for file, turn in (chunk.place for chunk in chunks if ends_in_question(chunk.document.text))
    }

    def tells(chunk: Chunk) -> bool:
        document = chunk.document
        if document.speaker != "assistant" or len(document.text) > ACKNOWLEDGEMENT_CHARS:
            return True
        return chunk.id in words or chunk.place in answers or not is_no_query(document.text)

    return [chunk for chunk in chunks if tells(chunk)]


def _without_doubles(order: Sequence[Scored]) -> list[Scored]:
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


def _varied(order: Sequence[Scored], mmr_lambda: float) -> list[Scored]:
    """Each next one is good and says something new."""
    best = order[0].score or 1.0 if order else 1.0
    said = (text.lower().split() if text.isascii() else tokens(text) for text in (s.document.text for s in order))
    return [order[i] for i in mmr.varied([s.score / best for s in order], said, mmr_lambda, ALIKE)]


def _excerpts(order: Sequence[Scored]) -> list[list[Document]]:
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

    def takes(self, scored: Scored) -> bool:
        """Whether a turn near by is good enough, and there is room for it."""
        document = scored.chunk.document
        return (
            document.realm == self.realm
            and scored.score >= EXCERPT_SHARE * self.best
            and self.chars + len(document.text) <= EXCERPT_CHARS
        )


def _hit(first: Document, text: str, score: float) -> Hit:
    return Hit(
        uri=first.uri,
        text=text,
        score=score,
        category=first.category,
        peer=first.peer,
        updated_at=first.at,
    )


def _named(chunks: Sequence[Chunk]) -> set[str]:
    """The URIs of turns that begin with the name that their session's role goes by: it stands for the role."""
    turns = [((chunk.file, chunk.document.speaker), chunk.document) for chunk in chunks if chunk.document.speaker]
    usual = usual_speakers(((of, document.text) for of, document in turns), NAMED_TURNS)
    return {document.uri for of, document in turns if of in usual and quoted_speaker(document.text) == usual[of]}


def said(documents: Sequence[Document], named: Collection[str] = ()) -> str:
    """Date and role in front of turns, each day once; everything else as it is. Those in ``named`` begin with a name
    that stands for the role."""
    lines: list[str] = []
    day = ""
    for document in documents:
        if not document.speaker:
            lines.append(document.text)
            continue
        line = document.text if document.uri in named else f"{document.speaker}: {document.text}"
        today = day_of(document.at)
        lines.append(line if today == day else f"{today} {line}")
        day = today
    return "\n".join(lines)


def _confidence(query: str, texts: Sequence[str], *, semantic: bool) -> float:
    """How much of the query the best text has, rare words counting more: a probability that this is about the query."""
    wanted = token_set(query)
    found: list[Collection[str]] = [wanted.intersection(tokens(text)) for text in texts]
    covered = max(shares(wanted, found), default=0.0)
    return min(0.95, max(0.1 + 1.2 * covered, VECTOR_CONFIDENCE if semantic else 0.0))
