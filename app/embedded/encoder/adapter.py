"""What was learnt on top of the model for one task: small changes of its matrices, and a head that gives a number.

Each matrix gets the product of two thin ones beside it (LoRA: Hu et al., 2021), so that what ships is a fortieth of the
model. `training.reading` writes the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.embedded.encoder.weights import Floats

MATRICES = ("qkv", "attended", "inner", "outer")
"""Of each layer, as `app.embedded.encoder.weights.Layer` names them."""


@dataclass(frozen=True, slots=True)
class Head:
    """Two layers: from what is known of a pair of texts to log-odds."""

    inner: Floats
    inner_bias: Floats
    outer: Floats
    bias: float

    def __call__(self, rows: Floats) -> list[float]:
        """The log-odds for each row."""
        found = np.tanh(rows @ self.inner.T + self.inner_bias) @ self.outer + self.bias
        return [float(one) for one in found]


@dataclass(frozen=True, slots=True)
class Adapter:
    """Changes by layer and matrix: (rank, in) and (out, rank)."""

    down: Mapping[str, Floats]
    up: Mapping[str, Floats]
    head: Head


def read_adapter(path: Path) -> Adapter:
    """The adapter in a file that was written with `numpy.savez`, in half precision. Raises `OSError`, `ValueError`."""
    with np.load(path, allow_pickle=False) as file:
        parts = {name: file[name].astype(np.float32) for name in file.files}
    try:
        return Adapter(
            {matrix: parts[f"{matrix}.down"] for matrix in MATRICES},
            {matrix: parts[f"{matrix}.up"] for matrix in MATRICES},
            Head(parts["head.inner"], parts["head.inner_bias"], parts["head.outer"], float(parts["head.bias"][0])),
        )
    except KeyError as error:
        raise ValueError(f"{path}: no {error}") from error
