"""Learns what the words of a question tell of a memory (`app.recall.relevance.question_words`).

A logistic regression over hits that were found by words, with a weight for each word of the question that a hit has,
and one for each that it has not, beside the rest of the evidence. Needs PyTorch (``pip install torch``).
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from app.recall.relevance.question_words import OTHERS, QuestionWords, Told
from app.text.similarity import words_in
from app.text.words import token_set
from training.query_map import Matrix

LEAST_ASKED = 15
"""A word that stands in so many questions gets a weight of its own."""
MAX_MISSING = 40
"""Of the words that a hit has not, so many are learnt from: a long prompt is not all about what it says first."""
LEAST_TOLD = 0.05
"""Log-odds by which a word tells more or less than others: one that tells as much is left out."""
EPOCHS, BATCH, RATE, PENALTY = 3, 4096, 0.01, 1e-4
WANTED = 2.0
"""What a missed memory costs against one too many."""


class Row(NamedTuple):
    """A hit: the rest of the evidence, the question's words that it has and those that it has not, and whether it is
    wanted."""

    rest: Sequence[float]
    found: Collection[str]
    missing: Collection[str]
    wanted: bool


def row(question: str, text: str, rest: Sequence[float], wanted: bool) -> Row:
    """What is learnt from a hit."""
    words = token_set(question)
    found = frozenset(words_in(text, words))
    return Row(rest, found, words - found, wanted)


def learn_question_words(questions: Sequence[str], rows: Sequence[Row]) -> QuestionWords:
    """What each word tells that stands in enough of ``questions``, and what the others do."""
    asked = Counter(word for question in questions for word in token_set(question))
    numbers = {OTHERS: 0}
    for word in sorted(word for word, count in asked.items() if count >= LEAST_ASKED):
        numbers[word] = len(numbers)
    torch.manual_seed(0)
    model = _Model(np.array([one.rest for one in rows], dtype=np.float32), len(numbers))
    model.learn(
        [[numbers.get(word, 0) for word in sorted(one.found)] for one in rows],
        [[numbers.get(word, 0) for word in sorted(one.missing)][:MAX_MISSING] for one in rows],
        np.array([one.wanted for one in rows], dtype=np.float32),
    )
    usual = model.usual.weight.detach().numpy()[0]
    found, missing = (bag.weight.detach().numpy()[:, 0] for bag in (model.found, model.missing))
    return QuestionWords(
        {
            word: Told(round(float(usual[0] + found[n]), 2), round(float(usual[1] + missing[n]), 2))
            for word, n in numbers.items()
            if word == OTHERS or max(abs(found[n]), abs(missing[n])) >= LEAST_TOLD
        }
    )


class _Model(nn.Module):
    """The regression: the rest of the evidence, scaled, what any word tells that is found or missing
    (``usual``), and by how much each tells more."""

    def __init__(self, rest: Matrix, words: int) -> None:
        super().__init__()
        scaled = (rest - rest.mean(0)) / (rest.std(0) + 1e-6)
        self._rest = torch.from_numpy(scaled)
        self.rest = nn.Linear(rest.shape[1], 1)
        self.usual = nn.Linear(2, 1, bias=False)
        nn.init.zeros_(self.usual.weight)
        self.found = nn.EmbeddingBag(words, 1, mode="sum", padding_idx=0)
        self.missing = nn.EmbeddingBag(words, 1, mode="sum", padding_idx=0)
        for bag in (self.found, self.missing):
            nn.init.zeros_(bag.weight)

    def learn(self, found: Sequence[list[int]], missing: Sequence[list[int]], wanted: Matrix) -> None:
        """Several passes over all rows."""
        optimizer = torch.optim.Adam(self.parameters(), lr=RATE)
        for _ in range(EPOCHS):
            for chosen in torch.randperm(len(wanted)).split(BATCH):
                counts = torch.tensor([(len(found[n]), len(missing[n])) for n in chosen.tolist()], dtype=torch.float32)
                odds = self.rest(self._rest[chosen]) + self.usual(counts)
                odds = (odds + _sums(self.found, found, chosen) + _sums(self.missing, missing, chosen))[:, 0]
                labels = torch.from_numpy(wanted)[chosen]
                costs = 1 + (WANTED - 1) * labels
                loss = functional.binary_cross_entropy_with_logits(odds, labels, weight=costs)
                loss = loss + PENALTY * (self.found.weight.square().sum() + self.missing.weight.square().sum())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def _sums(bag: nn.EmbeddingBag, words: Sequence[list[int]], chosen: Tensor) -> Tensor:
    of_rows = [words[n] for n in chosen.tolist()]
    starts = np.cumsum([0, *map(len, of_rows[:-1])])
    sums: Tensor = bag(torch.tensor([n for one in of_rows for n in one], dtype=torch.long), torch.from_numpy(starts))
    return sums
