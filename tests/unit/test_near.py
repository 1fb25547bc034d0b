"""Words that differ by a slip."""

import pytest

from app.text.near import is_near
from app.text.words import names_something


@pytest.mark.parametrize("pair", ["mongod mongodb", "mogodb mongodb", "monogdb mongodb", "kuberntes kubernetes"])
def test_slips_are_near(pair: str) -> None:
    assert is_near(*pair.split())


@pytest.mark.parametrize("pair", ["mango mongodb", "sister mister", "berlin dublin", "cat dog", "word worst"])
def test_other_words_are_not(pair: str) -> None:
    assert not is_near(*pair.split())


@pytest.mark.parametrize("text", ["k8s?", "GHA?", "S3?", "x86"])
def test_a_short_name_is_a_query(text: str) -> None:
    assert names_something(text)


@pytest.mark.parametrize("text", ["hm?", "and?", "ok", "42", "Hi!", ""])
def test_a_short_word_is_none(text: str) -> None:
    assert not names_something(text)
