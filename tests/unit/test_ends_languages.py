"""When something is over by its own words, in each language that is known, and what only sounds like it.

``ends_examples.jsonl``: what was said on Wednesday, 25 November 2026, and the day that it is over with; null where it
holds.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.text.end_words import LANGUAGES
from app.text.end_words.language import Language
from app.text.end_words.patterns import patterns_of
from app.text.ends import ends_at

SAID = datetime(2026, 11, 25, 9, tzinfo=UTC)
EXAMPLES = [
    json.loads(line) for line in Path(__file__).with_name("ends_examples.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["text"])
def test_it_is_over_at_the_end_of_the_day_that_it_names_and_else_holds(example: dict[str, str | None]) -> None:
    end = ends_at(str(example["text"]), SAID)
    assert (end and end.isoformat()) == (example["over"] and f"{example['over']}T23:59:59+00:00")


def test_no_phrase_of_one_language_ends_what_is_past_in_another() -> None:
    """ "Esta semana" is Spanish and Portuguese."""
    assert ends_at("Esta semana mudei de emprego e estou contente", SAID) is None
    assert ends_at("Esta semana cambié de trabajo y estoy contento", SAID) is None


def test_accents_and_apostrophes_may_be_written_in_either_way() -> None:
    assert ends_at("Le bureau est ferme\u0301 jusqu’a\u0300 vendredi", SAID) == ends_at(
        "The office is closed till Friday", SAID
    )


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.until[0])
def test_each_table_is_whole(language: Language) -> None:
    words = patterns_of(language)
    assert sorted(set(words.weekdays.values())) == list(range(7))
    assert sorted(set(words.months.values())) == list(range(1, 13))
    for pattern in (words.goes_on, words.past, words.state):
        assert not pattern.search("") and not pattern.groups, "it would match anything, or hide a group's name"


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.until[0])
def test_the_beginning_of_any_text_is_read_and_no_more(language: Language) -> None:
    """Patterns without bounds take minutes here."""
    pieces = (
        language.until[0],
        language.remind[0],
        language.this_week[0],
        language.weekdays[0].split("|")[0],
        "3",
        "ge",
    )
    for piece in pieces:
        for other in (*pieces, "a" * 20, "é", " ", ". "):
            ends_at(f"{piece}{other}" * 50_000, SAID)
            ends_at(f"{piece} {other} " * 50_000, SAID)


@pytest.mark.parametrize("year", [1, 9998, 9999])
@pytest.mark.parametrize("text", ["valid until 31 December 9999", "open until the end of the month", "bis 31.12.2099"])
def test_a_stamp_at_the_end_of_time_stops_nothing(text: str, year: int) -> None:
    end = ends_at(text, datetime(year, 12, 31, 23, tzinfo=UTC))
    assert end is None or end.year < 9999
