from hypothesis import given
from hypothesis import strategies as st

from app.core.gate.vocabulary import (
    Hit,
    after_phrases,
    after_words,
    by_first,
    by_first_word,
    each,
    hits,
    merged,
    phrase_at,
    phrase_hits,
    phrase_scanner,
    phrases,
    word_at,
    word_scanner,
    words,
)

FRUIT = by_first("苹果 苹果汁 梨")
MANNERS = by_first_word("would you, would you mind, please, can we")


def test_the_longest_word_counts() -> None:
    assert word_at(FRUIT, "喝苹果汁", 1) == "苹果汁"
    assert word_at(FRUIT, "喝苹果汁", 0) == word_at(FRUIT, "", 0) == ""


def test_hits_tell_each_place_within_bounds() -> None:
    assert list(hits(FRUIT, "梨和苹果")) == [Hit(0, 1, "梨"), Hit(2, 4, "苹果")]
    assert list(hits(FRUIT, "梨和苹果", 1, 2)) == []


def test_an_index_of_many_keeps_the_longest_first() -> None:
    both = merged(by_first("苹果"), by_first("苹果汁 桃"))
    assert word_at(both, "苹果汁", 0) == "苹果汁" and word_at(both, "桃", 0) == "桃"


def test_a_phrase_ends_with_a_word() -> None:
    assert phrase_at(MANNERS, "would you mind it") == "would you mind"
    assert phrase_at(MANNERS, "would your aunt") == ""
    assert [hit.words for hit in phrase_hits(MANNERS, "please, can we go?")] == ["please", "can we"]


def test_what_stands_in_front_is_skipped() -> None:
    assert after_words(FRUIT, "梨 苹果好吃") == 4
    assert after_words(FRUIT, "梨苹果好吃", by_first("苹果")) == 1
    assert after_phrases(MANNERS, "please, would you go") == len("please, would you ")


def test_each_head_goes_with_each_tail() -> None:
    assert each("i, we", "need, want to") == "i need, i want to, we need, we want to"


def test_a_scan_tells_of_each_list_where_it_stands_first() -> None:
    fruit, drink = words("梨 苹果", r"果\w"), words("苹果汁", unless=("没",))
    found = word_scanner(fruit, drink)("果汁没苹果汁，苹果汁")
    assert found == {fruit: Hit(0, 2, "果汁"), drink: Hit(7, 10, "苹果汁")}


def test_a_scan_of_phrases_reads_whole_words() -> None:
    joke, failure = phrases("pun, puns"), phrases("time out", r"\b50\d\b", unless=("no ",))
    scan = phrase_scanner(joke, failure)
    assert scan("punishing 503s") == {}
    assert scan("no time out, a time out, a 503") == {failure: Hit(15, 23, "time out")}


@given(st.text(alphabet="苹果汁梨好 ", max_size=60))
def test_hits_are_words_of_the_list(text: str) -> None:
    for hit in hits(FRUIT, text):
        assert text[hit.start : hit.end] == hit.words in {"苹果", "苹果汁", "梨"}
