"""What a statement that somebody stores on purpose says about itself: by the rules that learn from turns."""

from app.core.memories.memory import Reading, Sensitivity
from app.embedded.extraction.extract import sensitivity_of
from app.embedded.extraction.rules import statement_in

MAX_READ_CHARS = 400
"""A longer text is no statement that the rules know."""


def read_statement(text: str) -> Reading:
    """Its category (``notes`` where no rule knows it) and how private it is."""
    stated = statement_in(text, "1970-01-01") if len(text) <= MAX_READ_CHARS else None
    category = stated[0].file.partition("/")[0].removesuffix(".md") if stated else "notes"
    return Reading(category, Sensitivity(sensitivity_of(text)))
