"""Token estimates: near a real tokenizer's counts, and safe to add up and to cut by."""

import json
import statistics
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from app.core.messages.tokens import estimate_tokens, fitting

COUNTED = [json.loads(line) for line in (Path(__file__).parent / "token_counts.jsonl").read_text("utf-8").splitlines()]
"""Texts that nothing was learnt from, with what a tokenizer (o200k) makes of them."""

texts = st.text(st.one_of(st.characters(), st.sampled_from("aetjx AZ09 \n\t.,(-=_é中あ한яغक😀")), max_size=80)


def _error(example: dict[str, object]) -> float:
    return abs(estimate_tokens(str(example["text"])) / int(str(example["tokens"])) - 1)


def test_estimates_are_near_the_counts_of_a_tokenizer() -> None:
    errors = sorted(map(_error, COUNTED))
    assert statistics.median(errors) < 0.1
    assert errors[round(len(errors) * 0.95) - 1] < 0.25
    assert errors[-1] < 0.4


def test_nothing_is_no_token_and_anything_is_one() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == estimate_tokens(" ") == 1


@given(texts, texts)
def test_a_longer_text_counts_no_less_and_two_together_no_more_than_each(one: str, other: str) -> None:
    together = estimate_tokens(one + other)
    assert max(estimate_tokens(one), 0) <= together <= estimate_tokens(one) + estimate_tokens(other)


@given(st.text(st.characters(max_codepoint=127), max_size=200))
def test_no_ascii_character_counts_more_than_a_token(text: str) -> None:
    assert estimate_tokens(text) <= len(text)


@given(texts.map(lambda text: text * 3), st.integers(0, 60), st.integers(1, 3))
def test_what_fits_is_a_beginning_that_counts_no_more(text: str, limit: int, times: int) -> None:
    kept = fitting(text * times, limit)
    assert estimate_tokens(text[:0] + (text * times)[:kept]) <= limit
    assert kept == len(text * times) or estimate_tokens((text * times)[: kept + 1]) > limit


def test_what_fits_of_a_long_text_is_found_in_pieces() -> None:
    text = "The sea went on and on, 记录。" * 5_000
    whole = estimate_tokens(text)
    kept = fitting(text, whole // 2)
    assert 0.99 * whole // 2 <= estimate_tokens(text[:kept]) <= whole // 2
    assert fitting(text, whole + 100) == len(text)


def test_a_lone_surrogate_counts() -> None:
    assert estimate_tokens("\ud83d") >= 1
