"""Token counts without a tokenizer: the host's model is unknown, and tokenizers load from the network."""


def estimate_tokens(text: str) -> int:
    """About how many tokens ``text`` is: four ASCII characters are one, any other character is one. Zero only if empty.

    OpenViking counts four characters of English to a token too, so thresholds mean the same on both sides.
    """
    if text.isascii():
        return -(-len(text) // 4)
    wide = len(text) - len(text.encode("ascii", "ignore"))
    return -(-(len(text) - wide) // 4) + wide


MESSAGE_OVERHEAD = 4
"""Tokens that role and separators of a message cost."""

IMAGE_TOKENS = 1200
"""What an image costs in the middle of the field; its bytes say nothing about it."""
