"""The index of one user at work: kept in step with the files, repaired, made anew, given its vectors. Synchronous."""

import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import structlog

from app.atrest.residue import Needles, with_logs
from app.core.deadline import Deadline
from app.core.recall.hits import Hit
from app.embedded.index import superseded_rows
from app.embedded.index.chunk_table import Chunk
from app.embedded.index.documents import Document
from app.embedded.index.embedders import Embedder
from app.embedded.index.embedding import PatientEmbedder
from app.embedded.index.index import Index
from app.embedded.index.memory_rows import MemoryRows
from app.embedded.index.similar import NOTHING_SIMILAR, Similar
from app.embedded.index.sqlite import Damaged, SqliteError
from app.embedded.search import best_hits, excerpts
from app.embedded.storage.withheld import Withheld
from app.settings import SearchSettings
from app.text.past import asks_about_past

Answer = TypeVar("Answer")
Admits = Callable[[Document], bool]


def admits_all(_document: Document) -> bool:
    """Any document."""
    return True


LATEST_PIECES = 16
"""Pieces without a vector that may be what was told a moment ago; more are a pile that no search waits for."""
LATEST_WAIT_S = 0.5
"""Longest wait of a search for their vectors. A fact takes a twentieth of a second, a usual turn a fifth."""
LATEST_SHARE = 0.3
"""The same as a part of the time that the search has: it is to end with the vectors that there are."""

log = structlog.get_logger(__name__)


class LiveIndex:
    """The index of the files under ``root``. Every method may be called from any thread; several processes may share
    the files."""

    def __init__(
        self,
        root: Path,
        uri_root: str,
        settings: SearchSettings,
        embedder: Embedder | None,
        begin_embedding: Callable[[], Future[None] | None],
        is_searchable: Callable[[str], bool],
        withheld: Withheld,
    ) -> None:
        """``is_searchable`` tells which kinds of session are; ``begin_embedding`` runs `embed_all` in the background,
        unless it runs there; what is ``withheld`` is in no hit."""
        self._withheld = withheld
        self._vault = withheld.vault
        self._root = root
        self._uri_root = uri_root
        self._settings = settings
        self._embedder = PatientEmbedder(embedder)
        self._begin_embedding = begin_embedding
        self._is_searchable = is_searchable
        self._guard = threading.Lock()
        self._is_behind = True  # perhaps: texts that no append brought have no vectors yet
        self._closed = False
        self._index = self._open_index()
        self._inode = self._inode_now()

    def stop(self) -> None:
        """Embed nothing more."""
        self._closed = True

    def close(self) -> None:
        """Close the index. It is not to be used after that."""
        self._index.close()

    # searching

    def word_scores(self, query: str, realms: Sequence[str], limit: int) -> dict[int, float]:
        """BM25 scores by chunk id, after a look for edited files."""
        return self._with_index(lambda index: dict(index.search_words(query, realms, limit)))

    def search_vectors(self, query: str, realms: Sequence[str], limit: int, deadline: Deadline) -> Similar:
        """What is near in meaning; nothing when there is no embedder, or it fails.

        What was told a moment ago is what is asked for next, and words alone seldom tell that it answers or takes the
        place of something: a search waits a little for its vectors, unless a pile of texts waits for them.
        """
        if not self._embedder.is_ready:
            return NOTHING_SIMILAR
        if self._is_behind:
            self._is_behind = False
            self.embed()
        asked = self._embedder.asked(query)
        if asked is None:
            return NOTHING_SIMILAR
        if 0 < len(self._index.vectors.waiting(LATEST_PIECES + 1)) <= LATEST_PIECES and (embedding := self.embed()):
            wait([embedding], min(LATEST_WAIT_S, deadline.remaining * LATEST_SHARE))
        return replace(self._index.vectors.search(asked[0], realms, limit), calibration=asked[1])

    def hits(
        self,
        query: str,
        words: dict[int, float],
        similar: Similar,
        realms: Sequence[str],
        limit: int,
        now: datetime,
        admits: Admits = admits_all,
        *,
        whole: bool = False,
    ) -> list[Hit]:
        """The best hits from what both searches found, of the documents that ``admits`` takes; with the ``whole`` of
        the turns that they are pieces of."""
        found = self._index.chunks({**words, **similar.best})
        if self._settings.merge == "sum":
            best = {*list(words)[:limit], *list(similar.best)[:limit]}
            beside = self._index.turns_at(best_hits.neighbours(found, best))
            found += [chunk for chunk in beside if chunk.document.realm in realms]
        of_past = asks_about_past(query)
        found = self._to_show([chunk for chunk in found if admits(chunk.document)], of_past=of_past)
        rarity, pieces = self._index.rarity(query)

        def all_at(places: Collection[tuple[int, int]]) -> Sequence[Chunk]:
            return self._to_show(self._index.turns_at(places, whole=True), of_past=of_past)

        return best_hits.hits(
            query, words, similar, found, self._settings, now, limit, rarity, pieces, all_at=all_at if whole else None
        )

    def _to_show(self, chunks: Sequence[Chunk], *, of_past: bool) -> list[Chunk]:
        """What may be shown of the chunks, and is not outdated unless the question is ``of_past``."""
        found = [left for chunk in chunks if (left := self._left_of(chunk))]
        return found if of_past else self._current(found)

    def texts(self, uris: Sequence[str]) -> dict[str, str]:
        """What stands at these URIs, as a hit says it, after a look for edited files."""
        found = self._with_index(lambda index: index.documents(uris))
        shown = ((document.uri, self._shown(document)) for document in found)
        return {uri: excerpts.said([document]) for uri, document in shown if document}

    def memories(self, work: Callable[[MemoryRows], Answer], *, look: bool = True) -> Answer:
        """``work`` on the table of memories, after a ``look`` for edited files."""
        return self._with_index(lambda index: work(index.memories), look=look)

    def sources_at(self, uris: Sequence[str]) -> list[str]:
        """The source ids of the messages at these URIs, where they have any."""
        return [document.source for document in self._index.documents(uris) if document.source]

    def _current(self, found: Sequence[Chunk]) -> list[Chunk]:
        """Turns without what a later statement stands in the place of."""
        sources = {chunk.document.source for chunk in found if chunk.document.speaker}
        gone = self._index.superseded.of(sorted(sources)) if sources else {}
        left: list[Chunk] = []
        for chunk in found:
            document = chunk.document
            values = gone.get(document.source) if document.speaker else None
            if values is None:
                left.append(chunk)
            elif text := superseded_rows.left_of(document.text, values):
                left.append(chunk._replace(document=document._replace(text=text)))
        return left

    def _left_of(self, chunk: Chunk) -> Chunk | None:
        document = self._shown(chunk.document)
        if document is chunk.document:
            return chunk
        return chunk._replace(document=document) if document else None

    def _shown(self, document: Document) -> Document | None:
        """What may be shown of a turn or a note; a record was changed or removed itself."""
        if not (document.speaker or document.is_note):
            return document
        text = self._withheld.left_of(
            document.text, document.at, document.source, answers=document.speaker == "assistant"
        )
        if text == document.text:
            return document
        return document._replace(text=text) if text else None

    # keeping up with the files

    def take_in(self, paths: Sequence[Path]) -> None:
        """Take written files in. The files are safe whatever happens here: the next search repairs the index."""
        try:
            for path in paths:
                self._index.sync_file(path)
        except (SqliteError, OSError) as error:
            log.warning("index_behind", error=repr(error))
            self._index.look_again()

    def scrub(self, paths: Sequence[Path]) -> None:
        """Have the index lose what these files lost for good; where that fails, the index itself goes."""
        try:
            self._with_index(lambda index: index.scrub(paths))
        except SqliteError as error:
            log.warning("index_not_scrubbed", error=repr(error))
            with self._guard:
                self._reopen(afresh=True)

    def is_clean_of(self, needles: Needles) -> bool:
        """Whether none of the texts stands in the index' file; where one does, it is built anew."""
        if self._holds(needles):
            with self._guard:
                self._reopen(afresh=True)
        return not self._holds(needles)

    def _holds(self, needles: Needles) -> bool:
        return any(needles.are_in(path, self._vault.open_pages) for path in with_logs(self._root / "index.db"))

    def _with_index(self, work: Callable[[Index], Answer], *, look: bool = True) -> Answer:
        """``work`` on an index in step with the files; one that was deleted or is damaged is built anew."""
        try:
            return work(self._fresh_index(look=look))
        except Damaged as error:
            log.warning("index_damaged", error=repr(error))
            with self._guard:
                self._reopen(afresh=True)
            return work(self._fresh_index())

    def _fresh_index(self, *, look: bool = True) -> Index:
        with self._guard:
            if self._inode_now() != self._inode:
                self._reopen()
            if look and self._index.sync():
                self._is_behind = True
            return self._index

    def _reopen(self, *, afresh: bool = False) -> None:
        self._index.close()
        self._index = self._open_index(afresh=afresh)
        self._inode = self._inode_now()
        self._is_behind = True

    def _open_index(self, *, afresh: bool = False) -> Index:
        name = self._embedder.name
        try:
            index = Index(
                self._root,
                self._uri_root,
                embedder=name,
                is_searchable=self._is_searchable,
                afresh=afresh,
                vault=self._vault,
            )
            index.sync(at_once=True)
        except Damaged:
            if afresh:
                raise
            return self._open_index(afresh=True)
        return index

    def _inode_now(self) -> int:
        try:
            return (self._root / "index.db").stat().st_ino
        except FileNotFoundError:
            return 0

    # vectors

    def embed(self) -> Future[None] | None:
        """Begin to embed what has no vector yet, in the background; None where nothing can begin now."""
        return self._begin_embedding() if self._embedder.is_ready and not self._closed else None

    def embed_all(self) -> None:
        """Embed what has no vector yet; a failing embedder is left alone for a while."""
        self._embedder.embed_all(lambda: self._index.vectors, lambda: self._closed)
