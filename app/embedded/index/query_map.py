"""A learnt map from a question's vector to where its answers lie.

An embedder is trained on the web's questions. What people ask about themselves ("where do I live?") lies elsewhere than
what they said ("we moved to Leeds"), by a difference that is much the same for all of them and can be learnt from a few
few thousand pairs. Only the question's vector is moved: what is stored stays as it is.

Learnt with it is how near a text must be to answer a question at all. That depends on the question: to "what is my
blood type?" something is always near, and mostly no answer.
"""

import base64
import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from app.core.recall.hits import Calibration


class Nothing(NamedTuple):
    """What answers a question that nothing stored does: an option beside the stored texts, with log-odds of its own."""

    scale: float
    """By what the cosine of a stored text is multiplied."""
    usual: Any
    """The mean vector of stored texts: what all of them have in common says nothing."""
    weights: Any
    bias: float
    """The option's log-odds are ``bias`` and the product of ``weights`` and the question's vector less the mean."""


class QueryMap:
    """``(vector - mean) @ matrix``, of unit length. Needs numpy."""

    def __init__(self, mean: Any, matrix: Any, nothing: Nothing) -> None:
        self._mean = mean
        self._matrix = matrix
        self._nothing = nothing

    def apply(self, vector: bytes) -> bytes:
        """The mapped vector, in the same form: packed 32-bit floats of unit length."""
        mapped: bytes = self._mapped(vector).astype("<f4").tobytes()
        return mapped

    def calibration(self, vector: bytes) -> Calibration:
        """What the cosines with the mapped vector mean."""
        import numpy as np

        scale, usual, weights, bias = self._nothing
        nothing = bias + float((np.frombuffer(vector, dtype="<f4") - self._mean) @ weights)
        return Calibration(scale, nothing + scale * float(usual @ self._mapped(vector)))

    def _mapped(self, vector: bytes) -> Any:
        import numpy as np

        mapped = (np.frombuffer(vector, dtype="<f4") - self._mean) @ self._matrix
        return mapped / (np.linalg.norm(mapped) or 1.0)


@cache
def load_query_map(name: str) -> QueryMap:
    """The map that ships as ``weights/<name>.json``: a matrix in one byte a number, row by row."""
    import numpy as np

    data = json.loads((files(__package__) / "weights" / f"{name}.json").read_text(encoding="utf-8"))
    mean, usual, weights = (np.array(data[name], dtype="<f4") for name in ("mean", "usual", "nothing"))
    rows = np.frombuffer(base64.b64decode(data["matrix"]), dtype=np.int8).reshape(len(mean), len(mean))
    return QueryMap(mean, rows.astype("<f4"), Nothing(data["scale"], usual, weights, data["bias"]))
