"""The words that an index knows a text by."""

from app.text.words import STOP_WORDS, tokens


def terms(text: str) -> list[str]:
    """The words of ``text`` that say something, in order, repeats included; each as FTS5 takes it."""
    sayable = text.replace("\0", " ").encode("utf-8", "replace").decode()
    said = (token for token in tokens(sayable) if token not in STOP_WORDS)
    return [word for token in said if (word := token.replace("’", "'").partition("'")[0])]
