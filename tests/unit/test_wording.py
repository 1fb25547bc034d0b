"""Words in order, in whatever form they are written, and the places where they stand."""

import json
import unicodedata

import pytest

from app.text.wording import has_run, runs, wording

TEXT = "Jürgen wohnt in der Königstraße 5, 안녕 が 我住在柏林."


@pytest.mark.parametrize(
    "form",
    [
        TEXT,
        TEXT.upper(),
        unicodedata.normalize("NFD", TEXT),
        json.dumps(TEXT)[1:-1],
        json.dumps(f'"{TEXT}\n')[1:-1],
        TEXT.replace("wohnt", "**wohnt**").replace("Königs", "Kö\u200bnigs").replace("in der", "in\u00a0der"),
    ],
)
def test_the_same_words_are_found_where_they_stand(form: str) -> None:
    around = f"Er sagt: {form} So ist es."
    [(start, end)] = runs(wording(TEXT).words, wording(around))
    assert around[start:end].casefold().endswith(("林", "\\u6797"))
    assert wording(around[start:end]).words == wording(TEXT).words


def test_words_within_others_are_no_run() -> None:
    assert not has_run(wording("like tea").words, wording("dislike team").words)
    assert not has_run((), wording("tea").words)
    assert list(runs(("a", "b"), wording("a b a b"))) == [(0, 3), (4, 7)]


def test_an_escaped_pair_is_one_character() -> None:
    assert wording(r"\ud83d\ude00 \"tea\"\n\u4f60").words == ("tea", "你")
