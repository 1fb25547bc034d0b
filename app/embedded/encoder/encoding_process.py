"""The process that encodes: ``python -m app.embedded.encoder.encoding_process <model file>``.

Over its standard input it gets requests, each a length and a JSON list of texts, and answers each on its standard
output with a length and the vectors, 32-bit floats one behind the other. It ends when its parent does, or has nothing
to do for a while.
"""

import json
import os
import select
import sys
from pathlib import Path

from app.embedded.encoder.framing import read_frame, write_frame

NICE = 19
"""Whatever else wants the processor goes first."""
IDLE_S = 60.0
"""How long the weights (about 60 MB) are kept in memory for more texts."""


def serve(model: Path) -> None:
    """Answer requests until there are no more."""
    from app.embedded.encoder.encoder import Encoder
    from app.embedded.encoder.weights import read_weights

    encoder = Encoder(read_weights(model))
    requests, answers = open(0, "rb", buffering=0, closefd=False), open(1, "wb", buffering=0, closefd=False)  # noqa: SIM115
    write_frame(answers, b"ready")
    while select.select([requests], [], [], IDLE_S)[0]:
        request = read_frame(requests)
        if request is None:
            return
        write_frame(answers, encoder.passages(json.loads(request)).tobytes())


if __name__ == "__main__":
    os.nice(NICE)
    serve(Path(sys.argv[1]))
