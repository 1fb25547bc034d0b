"""Pairs of texts as recalls would have them read, for those who learn what to make of it."""

from collections.abc import Callable
from functools import cache
from typing import TypeVar

from app.core.recall.text_pairs import TASKS, KnownPair, Task, Texts
from app.embedded.encoder.adapter import read_adapter
from app.embedded.encoder.pair_reader import PairReader
from app.embedded.encoder.weights import read_weights
from app.embedded.index.embedders import adapter_file, model_file

T = TypeVar("T")


class ReadTogether:
    """A `app.core.recall.text_pairs.KnownPair` that reads what it does not know, each pair once."""

    def __init__(self) -> None:
        weights = read_weights(model_file())
        kept = cache(weights.matrix)
        self._readers = {task: PairReader(task, weights, read_adapter(adapter_file(task)), kept) for task in TASKS}
        self._known: dict[tuple[Task, Texts], float] = {}

    def __call__(self, task: Task, texts: Texts) -> float:
        """The log-odds of what the task asks."""
        if (task, texts) not in self._known:
            self._known[task, texts] = self._readers[task].log_odds([texts])[0]
        return self._known[task, texts]

    def helping(self, choose: Callable[[KnownPair], T]) -> T:
        """What ``choose`` makes of the pairs that it wants to know, which are read together: three times as fast."""
        wanted: set[tuple[Task, Texts]] = set()

        def known(task: Task, texts: Texts) -> float | None:
            wanted.add((task, texts))
            return self._known.get((task, texts))

        while True:
            chosen = choose(known)
            missing = wanted - self._known.keys()
            if not missing:
                return chosen
            for task in TASKS:
                pairs = [texts for of, texts in missing if of == task]
                self._known.update(
                    zip(((task, texts) for texts in pairs), self._readers[task].log_odds(pairs), strict=True)
                )
