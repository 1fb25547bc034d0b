"""The process that encodes: ``python -m app.embedded.encoder.encoding_process <model file> [<adapter file> ...]``.

Over its standard input it gets requests, each a length and a JSON list, and answers each on its standard output with a
length and 32-bit floats: for a list of texts their vectors, one behind the other; with adapters, each named for a task,
for the task and the pairs of texts behind it a number each. It ends when its parent does, or has nothing to do for a
while.
"""

import json
import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

from app.core.recall.text_pairs import Task
from app.embedded.encoder.framing import read_frame, write_frame

NICE = 19
"""Of the process that makes vectors: whatever else wants the processor goes first. For pairs an answer waits."""
IDLE_S, IDLE_PAIRS_S = 60.0, 600.0
"""How long the weights (about 60 MB, 150 MB for pairs) are kept in memory for more texts, and for more pairs."""


def serve(files: list[Path]) -> None:
    """Answer requests until there are no more."""
    answered, idle_s = _answering(*files), IDLE_S if len(files) == 1 else IDLE_PAIRS_S
    requests, answers = open(0, "rb", buffering=0, closefd=False), open(1, "wb", buffering=0, closefd=False)  # noqa: SIM115
    write_frame(answers, b"ready")
    while select.select([requests], [], [], idle_s)[0]:
        request = read_frame(requests)
        if request is None:
            return
        write_frame(answers, answered(json.loads(request)))


def _answering(model: Path, *adapters: Path) -> Callable[[list[Any]], bytes]:
    from app.embedded.encoder.weights import read_weights

    weights = read_weights(model)
    if not adapters:
        from app.embedded.encoder.encoder import Encoder

        encoder = Encoder(weights)
        return lambda texts: encoder.passages(texts).tobytes()
    from array import array

    from app.embedded.encoder.adapter import read_adapter
    from app.embedded.encoder.pair_reader import PairReader

    kept = cache(weights.matrix)  # an answer waits, and to make floats of them takes longer than to read eight pairs
    readers = {path.stem: PairReader(cast(Task, path.stem), weights, read_adapter(path), kept) for path in adapters}

    def read(request: list[Any]) -> bytes:
        task, *pairs = request
        return array("f", readers[task].log_odds([(first, second) for first, second in pairs])).tobytes()

    return read


if __name__ == "__main__":
    named = [Path(name) for name in sys.argv[1:]]
    if len(named) == 1:
        os.nice(NICE)
    with suppress(BrokenPipeError):  # its parent ended meanwhile
        serve(named)
