"""Pairs of texts as recalls would have them read, for those who learn what to make of it."""

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from app.core.recall.text_pairs import TASKS, KnownPair, Task, Texts
from app.embedded.encoder.adapter import read_adapter
from app.embedded.encoder.pair_reader import PairReader
from app.embedded.encoder.weights import read_weights
from app.embedded.index.embedders import adapter_file, model_file

T = TypeVar("T")


KEPT = Path(__file__).parents[1] / "build" / "read"
"""Where the learning scripts keep what was read: reading all pairs takes a quarter of an hour."""


class ReadTogether:
    """A `app.core.recall.text_pairs.KnownPair` that reads what it does not know, each pair once.

    With a directory ``kept`` each pair is read once for all time, as long as the weights of its task are the same.
    """

    def __init__(self, kept: Path | None = None) -> None:
        weights = read_weights(model_file())
        matrices = cache(weights.matrix)
        self._readers = {task: PairReader(task, weights, read_adapter(adapter_file(task)), matrices) for task in TASKS}
        self._files = {task: kept / f"{task}.{_digest(adapter_file(task))}.jsonl" for task in TASKS} if kept else {}
        self._known: dict[tuple[Task, Texts], float] = {}
        for task, file in self._files.items():
            for line in file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else ():
                first, second, odds = json.loads(line)
                self._known[task, (first, second)] = odds

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
                read = list(zip(pairs, self._readers[task].log_odds(pairs), strict=True))
                self._known.update(((task, texts), odds) for texts, odds in read)
                self._keep(task, read)

    def _keep(self, task: Task, read: Sequence[tuple[Texts, float]]) -> None:
        if file := self._files.get(task):
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as lines:
                lines.writelines(json.dumps([*texts, float(odds)], ensure_ascii=False) + "\n" for texts, odds in read)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
