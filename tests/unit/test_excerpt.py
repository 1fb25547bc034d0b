import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.recall.detail import Detail
from app.recall.relevance.excerpt import ABSTRACT_CHARS, ELLIPSIS, EXCERPT_CHARS, LONG_FROM, excerpt

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


class TestDetail:
    def test_an_abstract_is_the_sentence_that_answers(self) -> None:
        text = f"2026-03-02 user: {long_text(ANSWER, 'It took him two hours.')}"
        shown = excerpt(text, "Who fixed the balcony door?", Detail.ABSTRACT)
        assert shown.startswith(f"2026-03-02 user: {ELLIPSIS} {ANSWER} ") and shown.endswith(ELLIPSIS)
        assert len(shown) <= ABSTRACT_CHARS + len("2026-03-02 user: ") + 3 * len(ELLIPSIS) + 2

    def test_of_several_turns_the_abstract_is_of_the_one_that_answers(self) -> None:
        told = "I thought about it for long. The landlord fixed the balcony door. He was friendly all the time. " * 2
        text = f"2026-03-02 user: {FILLER[0] * 3}\nassistant: {told}\n2026-03-04 user: {FILLER[1] * 3}"
        shown = excerpt(text, "Who fixed the balcony door?", Detail.ABSTRACT)
        assert shown.startswith("2026-03-02 assistant: ") and "fixed the balcony door." in shown
        assert FILLER[0] not in shown and FILLER[1] not in shown and shown.endswith(ELLIPSIS)

    def test_an_abstract_of_what_shares_nothing_is_its_beginning(self) -> None:
        shown = excerpt(long_text(ANSWER), "zebra crossing", Detail.ABSTRACT)
        assert shown.startswith(FILLER[0]) and shown.endswith(ELLIPSIS) and len(shown) <= ABSTRACT_CHARS + 2

    def test_a_sentence_stays_whole_however_long_it_is(self) -> None:
        sentence = f"The balcony door {'was repaired and ' * 20}painted."
        assert sentence in excerpt(f"Hello there. {sentence} Goodbye.", "balcony door?", Detail.ABSTRACT)

    def test_a_chinese_abstract(self) -> None:
        text = "。".join(f"第{n}句话没有什么内容" for n in range(40)) + "。房东三月修好了阳台门。再见。"
        shown = excerpt(text, "谁修好了阳台门？", Detail.ABSTRACT)
        assert "房东三月修好了阳台门。" in shown and len(shown) <= ABSTRACT_CHARS + 6

    @pytest.mark.parametrize("text", ["", ANSWER, "x" * 5_000, "\n".join(["user: "] * 200), "2026-01-01 user: \n" * 99])
    def test_any_text_has_an_abstract_that_is_no_longer(self, text: str) -> None:
        assert len(excerpt(text, "balcony door?", Detail.ABSTRACT)) <= len(text) + 2

    def test_full_leaves_nothing_out(self) -> None:
        assert excerpt(long_text(ANSWER), "Who fixed the balcony door?", Detail.FULL) == long_text(ANSWER)
