"""The words that the index knows a document by, and those of a query that are looked up."""

from collections.abc import Iterable

from app.embedded.index.documents import Document
from app.text.dates import moment_of
from app.text.index_words import terms

MAX_QUERY_TERMS = 48
"""The longest words of a query that are looked up."""


def query_terms(query: str) -> list[str]:
    """The different words of a query that say something, in order."""
    distinct = list(dict.fromkeys(terms(query)))
    if len(distinct) > MAX_QUERY_TERMS:
        longest = set(sorted(distinct, key=len, reverse=True)[:MAX_QUERY_TERMS])
        distinct = [term for term in distinct if term in longest][:MAX_QUERY_TERMS]
    return distinct


def document_terms(document: Document) -> list[str]:
    """The words of a document; a turn is also found by its date."""
    found = terms(document.text)
    if document.speaker:
        said_at = moment_of(document.at)
        found += said_at.strftime("%B %Y %d").lower().split() if said_at else []
    return found


def any_of(words: Iterable[str]) -> str:
    """An FTS5 expression for what holds one of the words."""
    return " OR ".join(f'"{word}"' for word in words)
