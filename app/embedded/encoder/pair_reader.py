"""Two statements read together: does the later one say that the earlier one holds no more?

The model sees both texts at once, so that each word of the one is weighed against each of the other; two vectors made
apart cannot tell "the tenants are out, we moved in ourselves" from what it shares a topic with. What was learnt for it
(`app.embedded.encoder.adapter`) ships as ``learnt/replaces.npz``. Ten milliseconds a pair, in whole batches.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from app.embedded.encoder.adapter import Adapter
from app.embedded.encoder.encoder import PREFIX, Encoder, in_batches
from app.embedded.encoder.weights import Floats, Weights

MAX_TOKENS = 90
"""Of each text: what follows is not read."""


class PairReader:
    """Judges pairs of texts. One thread at a time."""

    def __init__(self, weights: Weights, adapter: Adapter) -> None:
        self._begin, self._end = weights.vocabulary.begin, weights.vocabulary.end
        self._encoder = Encoder(weights, adapter)
        self._head = adapter.head

    def log_odds(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (earlier, later) the log-odds that the later one replaces the earlier one."""
        texts = {text: self._marked(text) for text in set(chain.from_iterable(pairs))}
        read = [(texts[earlier], texts[later]) for earlier, later in pairs]
        found = [0.0] * len(read)
        for batch in in_batches([len(earlier) + len(later) + 4 for earlier, later in read]):
            for at, odds in zip(batch, self._head(self._known([read[at] for at in batch])), strict=True):
                found[at] = odds
        return found

    def _marked(self, text: str) -> list[int]:
        # Four characters a token at most in practice; a long text must not be cut into tokens only to drop them.
        return self._encoder.tokens(PREFIX + text[: 8 * MAX_TOKENS])[: MAX_TOKENS + PREFIX_TOKENS]

    def _known(self, read: Sequence[tuple[list[int], list[int]]]) -> Floats:
        """What the head sees of each pair: both means, where they differ, and where they agree."""
        begin, end = self._begin, self._end
        state, present = self._encoder.states([[begin, *one, end, end, *two, end] for one, two in read])
        rows = [
            (states[: len(one) + 2].mean(axis=0), states[len(one) + 2 : count].mean(axis=0))
            for (one, _), states, count in zip(read, state, present.sum(axis=1), strict=True)
        ]
        return np.array([np.concatenate([one, two, np.abs(one - two), one * two]) for one, two in rows])


PREFIX_TOKENS = 2
"""``passage`` and the colon."""
