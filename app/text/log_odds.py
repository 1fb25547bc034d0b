"""Probabilities as log-odds, where pieces of evidence add up: ``log(p / (1 - p))``."""

import math

_EDGE = 1e-6
_FURTHEST = 30.0


def log_odds(probability: float) -> float:
    """The log-odds of ``probability``; 0 and 1 count as one in a million less extreme."""
    inside = min(1 - _EDGE, max(_EDGE, probability))
    return math.log(inside / (1 - inside))


def logistic(log_odds: float) -> float:
    """The probability of these log-odds, between 0 and 1."""
    return 1 / (1 + math.exp(-max(-_FURTHEST, min(_FURTHEST, log_odds))))
