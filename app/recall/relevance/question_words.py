"""What the words of a question tell of a memory that has them, and of one that has not.

How rare a word is says only a part of that. A memory without the "phone" or the "birthday" that is asked for hardly
answers, whatever else it shares with the question; "plan", "draft" and "tonight" may be missing. So what each word
tells is learnt (``python -m training.relevance``) from the questions written for this repository: for those that stand
in many of them a weight of its own, for all others one.
"""

import json
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

OTHERS = ""
"""The key of what every word tells that is not known."""


class Told(NamedTuple):
    """Log-odds that a memory answers: more where it has the word, and less where it has not."""

    found: float
    missing: float


class QuestionWords:
    """What is known of words, as `app.text.words.token_set` makes them."""

    def __init__(self, told: Mapping[str, Told]) -> None:
        self.told = told

    def of(self, words: Collection[str]) -> Mapping[str, Told]:
        """What each of ``words`` tells."""
        others = self.told[OTHERS]
        return {word: self.told.get(word, others) for word in words}


@cache
def shipped() -> QuestionWords:
    """What was learnt: ``weights/question_words.json``."""
    text = (files(__package__) / "weights" / "question_words.json").read_text(encoding="utf-8")
    return QuestionWords({word: Told(*told) for word, told in json.loads(text).items()})
