import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.recall.relevance.excerpt import ELLIPSIS, EXCERPT_CHARS, LONG_FROM, excerpt

FILLER = [f"Sentence number {n} is about nothing much." for n in range(60)]
ANSWER = "The landlord fixed the balcony door in March."


def long_text(*parts: str, at: int = 30) -> str:
    return " ".join([*FILLER[:at], *parts, *FILLER[at:]])


def test_the_sentences_that_answer_stand_with_date_speaker_and_ellipsis() -> None:
    text = f"2026-03-02 user: {long_text(ANSWER, 'It took him two hours.')}"
    assert excerpt(text, "Who fixed the balcony door?") == (
        f"2026-03-02 user: {ELLIPSIS} {ANSWER} It took him two hours. {ELLIPSIS}"
    )


def test_the_beginning_needs_no_ellipsis_before_it() -> None:
    shown = excerpt(long_text(ANSWER, at=0), "Who fixed the balcony door?")
    assert shown.startswith(ANSWER)


def test_chinese_sentences_are_whole_too() -> None:
    text = "。".join(f"第{n}句话没有什么内容" for n in range(200)) + "。房东三月修好了阳台门。再见。"
    assert "房东三月修好了阳台门。" in excerpt(text, "谁修好了阳台门？")


@pytest.mark.parametrize("text", [ANSWER, "x" * LONG_FROM, long_text("Something else.")])
def test_a_short_text_and_one_that_shares_nothing_stay_whole(text: str) -> None:
    assert excerpt(text, "zebra crossing") == text


@given(st.lists(st.sampled_from([ANSWER, *FILLER, "Half a sentence", "\n", "balcony?"]), min_size=30, max_size=90))
def test_no_sentence_is_cut(parts: list[str]) -> None:
    text = "\n".join(parts)
    shown = excerpt(text, "balcony door")
    if shown != text:
        assert len(shown) <= EXCERPT_CHARS + 2 * len(parts) + 10
        assert all(" ".join(piece.split()) in " ".join(text.split()) for piece in shown.split(ELLIPSIS))
