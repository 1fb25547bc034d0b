"""Rankings by words, alone and beside a ranking by meaning."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.memories.relevance import fused, shared


def test_a_rare_word_counts_more_than_one_that_all_texts_have() -> None:
    texts = [
        "The valve is opened by hand.",
        "The hatch stays shut; see ZT-37.",
        "The valve and the pump.",
        "The valve.",
    ]
    by_words = shared("When is the valve of ZT-37 seen to?", texts)
    assert max(range(4), key=by_words.__getitem__) == 1 and all(0 < one < 1 for one in by_words)
    assert shared("Was ist das?", texts) == [0.0] * 4 and shared("", texts) == [0.0] * 4


def test_what_both_rankings_have_in_front_comes_first() -> None:
    assert fused([0.0, 0.0, 0.9, 0.0]) == [2, 0, 1, 3]
    assert fused([0.0, 0.0, 0.0]) == [0, 1, 2]


@given(st.lists(st.floats(0, 1), max_size=40))
def test_every_place_comes_once(scores: list[float]) -> None:
    assert sorted(fused(scores)) == list(range(len(scores)))
