import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.text.similarity import shares, words_in
from app.text.words import STOP_WORDS, token_set, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Flights, at 9:30!", ["the", "flight", "at", "9", "30"]),
        ("Ana's cities don’t stress", ["ana", "city", "don't", "stress"]),
        ("user_id after-turn v2.1 PaymentService", ["user", "id", "after", "turn", "v2", "1", "paymentservice"]),
        ("修复登录", ["修复", "复登", "登录"]),
        ("猫", ["猫"]),
        ("Q3的budget是多少", ["q3", "的", "budget", "是多", "多少"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("고양이", ["고양", "양이"]),
        ("Größe, naïve cafe\u0301", ["größe", "naïve", "café"]),
        ("ＦＵＬＬ１２", ["full12"]),
        ("Привет, мир", ["привет", "мир"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ไทย", ["ไท", "ทย"]),
        ("👍 ... ---", []),
    ],
)
def test_words_of_a_text(text: str, expected: list[str]):
    assert tokens(text) == expected


def test_stop_words_say_nothing_unless_they_are_all_there_is():
    assert token_set("what is the budget") == {"budget"}
    assert token_set("我的预算是多少") >= {"预算"}
    assert token_set("who are you") == {"who", "are", "you"}
    assert token_set("") == frozenset()


def overlap(query: str, text: str) -> float:
    wanted = token_set(query)
    return shares(wanted, [words_in(text, wanted)])[0]


def test_overlap_is_the_share_of_the_query_found():
    query = "Ana's flights to Lisbon"
    assert overlap(query, "The flight of Ana leaves Lisbon at nine") == 1.0
    assert 0 < overlap(query, "Ana likes tea") < 0.5
    assert overlap("护照哪天到期", "他的护照在五月到期") > 0.25
    assert overlap(query, "") == overlap("", "anything") == 0.0


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_overlap_is_a_share_of_words(query: str, text: str):
    wanted = token_set(query)
    assert 0.0 <= overlap(query, text) <= 1.0 + 1e-9
    assert all(token and not token.isspace() for token in tokens(text))
    assert not wanted & STOP_WORDS or wanted <= STOP_WORDS
