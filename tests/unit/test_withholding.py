"""What is left of a text without the sentences that are forgotten or hold no more."""

import pytest

from app.core.memories.forget_selection import Forgetting, Redactor, Statement
from app.core.memories.withholding import Withholding
from app.embedded.index import superseded_rows

AT = "2026-03-01T09:00:00Z"
SAID = "I live in Rome."
BESIDE = "The old letters that my aunt Bianca kept for so many years in the attic all began with: I live in Rome."
"""A longer sentence that ends in the same words, and says something else."""


def by_forgetting(text: str) -> str:
    return Redactor(Forgetting(AT, (Statement("m_1", "viking://1", "profile", ("Where I live: Rome.", SAID)),))).text(
        text
    )


def by_withholding(text: str) -> str:
    withholding = Withholding(b"secret")
    for words in withholding.hashed(SAID):
        withholding.add(words, 1_800_000_000.0)
    return withholding.left_of(text, AT)


def by_superseding(text: str) -> str:
    return superseded_rows.left_of(text, [SAID])


def test_the_sentence_itself_goes_and_not_its_words_in_another() -> None:
    assert by_withholding(f"{BESIDE} {SAID} It rains.") == f"{BESIDE}  It rains."


@pytest.mark.parametrize("left_of", [by_forgetting, by_withholding, by_superseding])
def test_what_stands_beside_it_stays_as_it_is(left_of) -> None:
    assert left_of(f"Hello there.\n\n{SAID} It rains.") == "Hello there.\n\n It rains."
    assert left_of("It rains in the hills.") == "It rains in the hills."
