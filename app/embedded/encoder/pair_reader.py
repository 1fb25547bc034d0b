"""Two texts read together: does a later statement say that an earlier one holds no more, does a memory help with a
question?

The model sees both texts at once, so that each word of the one is weighed against each of the other; two vectors made
apart cannot tell "the tenants are out, we moved in ourselves" from what it shares a topic with. What was learnt for it
(`app.embedded.encoder.adapter`) ships as ``learnt/<task>.npz``. Some 35 milliseconds a pair, where the model's
matrices are kept as floats (85 MB).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from app.core.recall.text_pairs import Task, Texts
from app.embedded.encoder.adapter import Adapter
from app.embedded.encoder.encoder import PREFIX, Encoder, MatrixOf, in_batches
from app.embedded.encoder.tokenizer import Tokenizer
from app.embedded.encoder.weights import Floats, Weights

MAX_TOKENS = 92
"""Of each text with its prefix: what follows is not read."""
PREFIXES: Mapping[Task, tuple[str, str]] = {"replaces": (PREFIX, PREFIX), "answers": ("query: ", PREFIX)}
"""What the model was trained to see in front of what is stored, and of what is asked."""

Tokens = list[int]


def marked(tokenizer: Tokenizer, task: Task, texts: Texts) -> tuple[Tokens, Tokens]:
    """The tokens of both texts that are read."""
    first, second = (
        # A token has four characters in practice; a long text must not be cut into tokens only to drop them.
        tokenizer.tokens(prefix + text[: 8 * MAX_TOKENS])[:MAX_TOKENS]
        for prefix, text in zip(PREFIXES[task], texts, strict=True)
    )
    return first, second


class PairReader:
    """Judges pairs of texts for one task. ``matrix`` as for `Encoder`. One thread at a time."""

    def __init__(self, task: Task, weights: Weights, adapter: Adapter, matrix: MatrixOf | None = None) -> None:
        self._task: Task = task
        self._begin, self._end = weights.vocabulary.begin, weights.vocabulary.end
        self._encoder = Encoder(weights, adapter, matrix)
        self._tokenizer = Tokenizer(weights.vocabulary)
        self._head = adapter.head

    def log_odds(self, pairs: Sequence[Texts]) -> list[float]:
        """For each pair the log-odds that the task asks for: that the second text, told later, replaces the first one;
        that it helps to answer the first one."""
        read = [marked(self._tokenizer, self._task, pair) for pair in pairs]
        found = [0.0] * len(read)
        for batch in in_batches([len(first) + len(second) + 4 for first, second in read]):
            for at, odds in zip(batch, self._head(self._known([read[at] for at in batch])), strict=True):
                found[at] = odds
        return found

    def _known(self, read: Sequence[tuple[Tokens, Tokens]]) -> Floats:
        """What the head sees of each pair: both means, where they differ, and where they agree."""
        begin, end = self._begin, self._end
        state, present = self._encoder.states([[begin, *one, end, end, *two, end] for one, two in read])
        rows = [
            (states[: len(one) + 2].mean(axis=0), states[len(one) + 2 : count].mean(axis=0))
            for (one, _), states, count in zip(read, state, present.sum(axis=1), strict=True)
        ]
        return np.array([np.concatenate([one, two, np.abs(one - two), one * two]) for one, two in rows])
