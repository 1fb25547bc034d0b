"""Giving an index the vectors that its chunks do not have yet, a batch at a time."""

import time
from collections.abc import Callable, Sequence

import structlog

from app.classify.terms import EMBEDDED_HEAD_CHARS, EMBEDDED_TAIL_CHARS, sample
from app.core.recall.hits import Calibration
from app.embedded.index.embedders import Embedder, EmbedderClosed, EmbedderError, Vector
from app.embedded.index.sqlite import SqliteError
from app.embedded.index.vectors import Vectors

EMBED_PAUSE_S = 30.0
"""How long a failing embedder is left alone."""

log = structlog.get_logger(__name__)


class PatientEmbedder:
    """An embedder that is left alone for a while when it has failed; without one nothing is ever embedded."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._after = 0.0

    @property
    def name(self) -> str:
        """The embedder's; empty without one."""
        return self._embedder.name if self._embedder else ""

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked now."""
        return self._embedder is not None and time.monotonic() >= self._after

    def asked(self, query: str) -> tuple[Vector, Calibration | None] | None:
        """The vector of a question and what cosines with it mean; None while there is none."""
        if self._embedder is None or not self.is_ready:
            return None
        try:
            return self._embedder.query(query), self._embedder.calibration(query)
        except EmbedderError as error:
            self._failed(error)
            return None

    def plain(self, query: str) -> Vector | None:
        """The vector of a question as the model gives it, for what is no statement of the user; None while there is
        none. Of a long one beginning and end count."""
        if self._embedder is None or not self.is_ready:
            return None
        try:
            return self._embedder.plain(sample(query, EMBEDDED_HEAD_CHARS, EMBEDDED_TAIL_CHARS))
        except EmbedderError as error:
            self._failed(error)
            return None

    def embed_all(self, vectors: Callable[[], Vectors], is_closed: Callable[[], bool]) -> None:
        """Embed what has no vector yet, until nothing is left or all is being closed."""
        embedder = self._embedder
        try:
            while embedder and not is_closed() and (waiting := vectors().waiting(embedder.batch)):
                _embed(embedder, vectors(), waiting)
        except EmbedderClosed:
            return
        except EmbedderError as error:
            self._failed(error)
        except SqliteError as error:
            log.warning("vectors_behind", error=repr(error))

    def _failed(self, error: EmbedderError) -> None:
        self._after = time.monotonic() + EMBED_PAUSE_S
        log.warning("embedder_failed", error=str(error))


def _embed(embedder: Embedder, vectors: Vectors, waiting: Sequence[tuple[int, str]]) -> None:
    texts = list(dict.fromkeys(text for _, text in waiting))
    known = vectors.cached(texts)
    missing = [text for text in texts if text not in known]
    known.update(zip(missing, embedder.passages(missing), strict=True))
    vectors.add([(chunk_id, text, known[text]) for chunk_id, text in waiting])
