"""How much of a memory stands in a prompt: the three levels that OpenViking has, too."""

from enum import StrEnum


class Detail(StrEnum):
    """From the least to the most."""

    ABSTRACT = "abstract"
    """L0: the sentence or two that answer."""
    OVERVIEW = "overview"
    """L1: the passage that was found; of a long one the sentences that answer."""
    FULL = "full"
    """L2: all that was said or written, where there is room for it; else the passage."""
