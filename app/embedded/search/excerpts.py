"""Excerpts: hits that are neighbours in a session come back as one, which says the date once for all of them. Pure."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from app.classify.replaces import WHOLE_CHARS
from app.embedded.index.chunk_table import Chunk
from app.embedded.index.documents import Document
from app.embedded.search.scores import Scored
from app.embedded.search.speakers import quoted_speaker, usual_speakers
from app.text.dates import day_of

EXCERPT_CHARS = 800
"""Longest excerpt of several turns."""
MAX_WHOLE_CHARS = 32_000
"""Longest turn that is shown whole."""
EXCERPT_REACH = 3
"""Turns this near to one in an excerpt may join it."""
_NEAR = tuple(sorted(range(-EXCERPT_REACH, EXCERPT_REACH + 1), key=abs))
EXCERPT_SHARE = 0.6
"""A turn joins only with at least this share of the best one's score."""
NAMED_TURNS = 2
"""Fewest turns with a name in front that show that a role goes by it."""
ELLIPSIS = "…"


@dataclass(slots=True)
class Excerpt:
    """Turns that come back as one hit; ``best`` is the score of the first."""

    best: float
    realm: str
    chunks: list[Chunk] = field(default_factory=list)
    chars: int = 0

    @property
    def documents(self) -> list[Document]:
        """What it holds, as it was said."""
        return sorted((chunk.document for chunk in self.chunks), key=lambda d: (d.ordinal, d.part))

    @property
    def only(self) -> Chunk | None:
        """Its chunk, where it is one that holds all of a short text."""
        chunk = self.chunks[0]
        return chunk if len(self.chunks) == 1 and chunk.document.length <= WHOLE_CHARS else None

    def takes(self, scored: Scored) -> bool:
        """Whether a turn near by is good enough, and there is room for it."""
        document = scored.chunk.document
        return (
            document.realm == self.realm
            and scored.score >= EXCERPT_SHARE * self.best
            and self.chars + len(document.text) <= EXCERPT_CHARS
        )


def excerpts_of(order: Sequence[Scored]) -> list[Excerpt]:
    """Hits in order; turns near to a better one of the same session stand with it, in the order they were said."""
    groups: list[Excerpt] = []
    at: dict[tuple[int, int], Excerpt] = {}
    for scored in order:
        document = scored.chunk.document
        file, ordinal = scored.chunk.place
        group = next((g for step in _NEAR if (g := at.get((file, ordinal + step))) and g.takes(scored)), None)
        if group is None or not document.speaker:
            group = Excerpt(scored.score, document.realm)
            groups.append(group)
        group.chunks.append(scored.chunk)
        group.chars += len(document.text)
        if document.speaker:
            at.setdefault((file, ordinal), group)
    return groups


def wholes(
    excerpts: Sequence[Excerpt],
    all_at: Callable[[Collection[tuple[int, int]]], Sequence[Chunk]],
    named: Collection[str],
) -> list[str | None]:
    """Of each excerpt all that its turns say; None where it holds that already, or a turn is very long."""
    cut = {chunk.place for excerpt in excerpts for chunk in excerpt.chunks if chunk.document.parts > 1}
    pieces: dict[tuple[int, int], list[Chunk]] = defaultdict(list)
    for chunk in all_at(cut):
        pieces[chunk.place].append(chunk)

    def whole(excerpt: Excerpt) -> str | None:
        places = {chunk.place for chunk in excerpt.chunks}
        if not places & pieces.keys() or any(chunk.document.length > MAX_WHOLE_CHARS for chunk in excerpt.chunks):
            return None
        others = [chunk for chunk in excerpt.chunks if chunk.place not in pieces]
        every = [*others, *(chunk for place in places & pieces.keys() for chunk in pieces[place])]
        return said(sorted((chunk.document for chunk in every), key=lambda d: (d.ordinal, d.part)), named)

    return [whole(excerpt) for excerpt in excerpts]


def named_turns(chunks: Sequence[Chunk]) -> set[str]:
    """The URIs of turns that begin with the name that their session's role goes by: it stands for the role."""
    heads = (chunk for chunk in chunks if chunk.document.speaker and not chunk.document.part)
    turns = [((chunk.file, chunk.document.speaker), chunk.document) for chunk in heads]
    usual = usual_speakers(((of, document.text) for of, document in turns), NAMED_TURNS)
    return {document.uri for of, document in turns if of in usual and quoted_speaker(document.text) == usual[of]}


def said(documents: Sequence[Document], named: Collection[str] = ()) -> str:
    """Date and role in front of turns, each day once; everything else as it is. Those in ``named`` begin with a name
    that stands for the role. An ellipsis stands where something of a turn was left out."""
    lines: list[str] = []
    day = ""
    before: Document | None = None
    for document in documents:
        if not document.speaker:
            lines.append(document.text)
            continue
        if before and _follows(document, before):
            lines[-1] = f"{lines[-1].removesuffix(ELLIPSIS).rstrip()}\n{_open_ended(document)}"
        else:
            begun = f"{ELLIPSIS} " if document.part else ""
            line = begun + _open_ended(document)
            line = line if document.uri in named else f"{document.speaker}: {line}"
            today = day_of(document.at)
            lines.append(line if today == day else f"{today} {line}")
            day = today
        before = document
    return "\n".join(lines)


def _follows(document: Document, before: Document) -> bool:
    return (document.ordinal, document.part) == (before.ordinal, before.part + 1)


def _open_ended(document: Document) -> str:
    return f"{document.text} {ELLIPSIS}" if document.part + 1 < document.parts else document.text
