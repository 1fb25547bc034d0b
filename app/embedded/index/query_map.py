"""A learnt map from a question's vector to where its answers lie.

An embedder is trained on the web's questions. What people ask about themselves ("where do I live?") lies elsewhere than
what they said ("we moved to Leeds"), by a difference that is much the same for all of them and can be learnt from a few
hundred pairs. Only the question's vector is moved: what is stored stays as it is.
"""

import base64
import json
from functools import cache
from importlib.resources import files
from typing import Any


class QueryMap:
    """``(vector - mean) @ matrix``, of unit length. Needs numpy."""

    def __init__(self, mean: Any, matrix: Any) -> None:
        self._mean = mean
        self._matrix = matrix

    def apply(self, vector: bytes) -> bytes:
        """The mapped vector, in the same form: packed 32-bit floats of unit length."""
        import numpy as np

        mapped = (np.frombuffer(vector, dtype="<f4") - self._mean) @ self._matrix
        unit: bytes = (mapped / (np.linalg.norm(mapped) or 1.0)).astype("<f4").tobytes()
        return unit


@cache
def load_query_map(name: str) -> QueryMap:
    """The map that ships as ``weights/<name>.json``: a matrix in one byte a number, row by row."""
    import numpy as np

    data = json.loads((files(__package__) / "weights" / f"{name}.json").read_text(encoding="utf-8"))
    mean = np.array(data["mean"], dtype="<f4")
    rows = np.frombuffer(base64.b64decode(data["matrix"]), dtype=np.int8).reshape(len(mean), len(mean))
    return QueryMap(mean, rows.astype("<f4"))
