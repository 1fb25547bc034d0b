"""The encoder's forward pass, for texts in batches of like length. Each matrix is made floats of when a batch comes to
it: that takes a tenth of a second for all of them, little beside a full batch, and 85 MB less than to keep them."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from app.embedded.encoder.adapter import Adapter
from app.embedded.encoder.tokenizer import Tokenizer
from app.embedded.encoder.weights import Floats, Weights, rows_in_four_bits

BATCH_TOKENS = 1024
"""Tokens of one pass, padding included: enough for BLAS, and a few megabytes for what is in between."""
BLOCK_ROWS = 256
"""Rows of the widest layer at a time: they stay in the processor's cache."""
PREFIX = "passage: "
"""What the model was trained to see in front of a text that is searched for."""

MatrixOf = Callable[[int, str], Floats]


class Encoder:
    """Texts to vectors; with an ``adapter`` as that task wants them. ``matrix`` gives those of `Weights.matrix`, where
    they are kept. One thread at a time."""

    def __init__(self, weights: Weights, adapter: Adapter | None = None, matrix: MatrixOf | None = None) -> None:
        self._weights = weights
        self._adapter = adapter
        self._matrix = matrix or weights.matrix
        self._tokenizer = Tokenizer(weights.vocabulary)
        self._room = weights.longest - 2

    def passages(self, texts: Sequence[str]) -> Floats:
        """A row of unit length for each text. One that is longer than the model can take is encoded in parts, whose
        mean counts each part by its length."""
        parts = [(n, part) for n, text in enumerate(texts) for part in self._parts(text)]
        sums = np.zeros((len(texts), self._weights.positions.shape[1]), np.float32)
        for batch in in_batches([len(tokens) for _, tokens in parts]):
            means = _means(*self.states([parts[at][1] for at in batch]))
            for at, mean in zip(batch, means, strict=True):
                number, tokens = parts[at]
                sums[number] += (len(tokens) - 2) * mean
        sums /= np.maximum(1e-12, np.linalg.norm(sums, axis=1, keepdims=True))
        return sums

    def _parts(self, text: str) -> Iterator[list[int]]:
        vocabulary = self._weights.vocabulary
        tokens = self._tokenizer.tokens(PREFIX + text)
        for start in range(0, len(tokens), self._room):
            yield [vocabulary.begin, *tokens[start : start + self._room], vocabulary.end]

    def states(self, batch: Sequence[Sequence[int]]) -> tuple[Floats, NDArray[np.bool_]]:
        """The last hidden states (texts, tokens, width), and which tokens (texts, tokens) are no padding."""
        longest = max(map(len, batch))
        ids = np.full((len(batch), longest), self._weights.vocabulary.end, np.int64)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
        present = np.arange(longest) < np.array([len(tokens) for tokens in batch])[:, None]
        blocked = np.where(present, np.float32(0), np.float32(-1e9))[:, None, None, :]
        state = rows_in_four_bits(self._weights.words[ids.ravel()]).reshape(len(batch), longest, -1)
        state += self._weights.positions[:longest]
        _normalise(state, self._weights.norm, self._weights.epsilon)
        for number, layer in enumerate(self._weights.layers):
            state += self._attended(state, number, blocked)
            _normalise(state, layer.norm, self._weights.epsilon)
            self._through_inner(state.reshape(-1, state.shape[2]), number)
            _normalise(state, layer.outer_norm, self._weights.epsilon)
        return state, present

    def _times(self, rows: Floats, matrix: Floats, number: int, name: str) -> Floats:
        """``rows`` times a matrix of a layer, with what the adapter changes of it."""
        found: Floats = rows @ matrix
        if self._adapter is not None:
            found += rows @ self._adapter.down[name][number].T @ self._adapter.up[name][number].T
        return found

    def _attended(self, state: Floats, number: int, blocked: Floats) -> Floats:
        layer = self._weights.layers[number]
        texts, length, width = state.shape
        heads = self._weights.heads
        qkv = self._times(state.reshape(-1, width), self._matrix(number, "qkv"), number, "qkv")
        qkv += layer.qkv_bias
        parts = qkv.reshape(texts, length, 3, heads, width // heads)
        mixed = np.empty((texts, length, heads, width // heads), np.float32)
        for text in range(texts):  # of one text at a time: what each token makes of each other is the largest by far
            query, key, value = (np.ascontiguousarray(parts[text, :, n].transpose(1, 0, 2)) for n in range(3))
            mixed[text] = _mixed(query, key, value, blocked[text]).transpose(1, 0, 2)
        attended = self._times(mixed.reshape(-1, width), self._matrix(number, "attended"), number, "attended")
        attended += layer.attended_bias
        return attended.reshape(state.shape)

    def _through_inner(self, rows: Floats, number: int) -> None:
        """Add to ``rows`` what the two wide matrices make of them."""
        layer = self._weights.layers[number]
        widened, narrowed = self._matrix(number, "inner"), self._matrix(number, "outer")
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            inner = self._times(block, widened, number, "inner")
            inner += layer.inner_bias
            _gelu(inner)
            narrow = self._times(inner, narrowed, number, "outer")
            narrow += layer.outer_bias
            block += narrow


def _means(state: Floats, present: NDArray[np.bool_]) -> Floats:
    """The mean of each text's states."""
    state *= present[:, :, None]
    means: Floats = state.sum(axis=1) / present.sum(axis=1, dtype=np.float32)[:, None]
    return means


def _mixed(query: Floats, key: Floats, value: Floats, blocked: Floats) -> Floats:
    """What the tokens of one text take from each other; all are (heads, tokens, width of a head)."""
    np.multiply(query, np.float32(query.shape[2] ** -0.5), out=query)
    weights: Floats = query @ key.transpose(0, 2, 1)
    weights += blocked
    weights -= weights.max(axis=2, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=2, keepdims=True)
    found: Floats = weights @ value
    return found


def _gelu(x: Floats) -> None:
    """In place, by the approximation with the hyperbolic tangent (Hendrycks & Gimpel, 2016)."""
    gate = x * x
    gate *= np.float32(0.044715 * 0.7978845608)
    gate += np.float32(0.7978845608)
    gate *= x
    np.tanh(gate, out=gate)
    gate += 1
    gate *= x
    np.multiply(gate, np.float32(0.5), out=x)


def _normalise(state: Floats, norm: tuple[Floats, Floats], epsilon: float) -> None:
    """Layer normalisation, in place."""
    weight, bias = norm
    state -= state.mean(axis=-1, keepdims=True)
    spread = np.einsum("...i,...i->...", state, state) / np.float32(state.shape[-1])
    state *= (1 / np.sqrt(spread + np.float32(epsilon)))[..., None]
    state *= weight
    state += bias


def in_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indexes of texts that are encoded together: neighbours in length, so that little is padding."""
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[at] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch
