"""How much texts are about a query, by its words alone: those that no index has yet."""

from app.text.words import token_set

_LEAST, _MOST = 0.1, 0.95


def relevance(query: str, text: str) -> float:
    """Between 0 and 0.95: the share of the query's words that the text has; 0 where it has none."""
    asked = token_set(query)
    found = asked & token_set(text)
    return min(_MOST, _LEAST + (1 - _LEAST) * len(found) / len(asked)) if found else 0.0
