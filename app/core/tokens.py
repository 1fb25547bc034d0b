"""Token counts without a tokenizer: the host's model is unknown, and tokenizers load from the network."""


def estimate_tokens(text: str) -> int:
    """About how many tokens ``text`` is: four ASCII characters are one, any other character is one. Zero only if empty.

    OpenViking counts four characters of English to a token too, so thresholds mean the same on both sides.
    """
    wide = len(text) - len(text.encode("ascii", "ignore"))
    return -(-(len(text) - wide) // 4) + wide
