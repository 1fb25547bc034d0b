"""The building blocks in app/text: scripts, sentences, code, dates, order, log-odds."""

import unicodedata
from datetime import UTC, datetime
from itertools import count

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from app.core.recall.transcript import is_transcript
from app.text import scripts
from app.text.dates import date_in_front, day_of, moment_of, names_a_day, weekday_in_front
from app.text.log_odds import log_odds, logistic
from app.text.markdown import lines, own_lines, with_code_marked
from app.text.mmr import varied
from app.text.sentences import clauses, sentences, without


@pytest.mark.parametrize(
    ("ranges", "script"),
    [
        (scripts.HAN, r"\p{Han}"),
        (scripts.KANA, r"[\p{Hiragana}\p{Katakana}]"),
        (scripts.HANGUL, r"\p{Hangul}"),
        (scripts.CJK, r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}]"),
        (scripts.UNSPACED, r"[\p{Thai}\p{Lao}\p{Khmer}]"),
    ],
)
def test_scripts_are_those_of_unicode(ranges: str, script: str):
    """Every letter of the script is in the ranges; historic letters beyond the first plane may be missing."""
    known, letters = regex.compile(f"[{ranges}]"), regex.compile(script)
    every = [chr(code) for code in (*range(0x16F00), *range(0x20000, 0x33480))]
    missing = [c for c in every if unicodedata.category(c)[0] == "L" and letters.match(c) and not known.match(c)]
    assert missing == []


@pytest.mark.parametrize(
    ("ranges", "script"),
    [
        (scripts.HAN, r"[\p{Han}\p{Common}]"),
        (scripts.KANA, r"[\p{Hiragana}\p{Katakana}\p{Common}]"),
        (scripts.HANGUL, r"[\p{Hangul}\p{Common}]"),
        (scripts.MARKS, r"[\p{M}\p{L}\p{N}\p{P}\p{S}]"),
    ],
)
def test_scripts_hold_no_other(ranges: str, script: str):
    known, letters = regex.compile(f"[{ranges}]"), regex.compile(script)
    every = map(chr, (*range(0xD800), *range(0xE000, 0x33480)))
    assert [c for c in every if unicodedata.category(c) != "Cn" and known.match(c) and not letters.match(c)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two? Three", ["One.", "Two?", "Three"]),
        ("Python 3.11 is in v1.2.txt. Good", ["Python 3.11 is in v1.2.txt.", "Good"]),
        ("好的。走吧！真的？！", ["好的。", "走吧！", "真的？！"]),
        ("他说：“走吧。”然后走了。", ["他说：“走吧。”", "然后走了。"]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ('"Why?" she asked.', ['"Why?" she asked.']),
        ("a\n\n b \n", ["a", "b"]),
        ("Dr. Okoye and Mrs. Lin left. Use tea, e.g. Assam.", ["Dr. Okoye and Mrs. Lin left.", "Use tea, e.g. Assam."]),
        ("It took 12 ms. Then", ["It took 12 ms.", "Then"]),
        ("....x", ["....x"]),
        ("", []),
    ],
)
def test_sentences_end_where_they_end(text: str, expected: list[str]):
    assert list(sentences(text)) == expected


@given(st.text(alphabet='ab .!?\n。"', max_size=60), st.sets(st.integers(0, 20)))
def test_each_sentence_is_taken_out_where_it_stands(text: str, gone: set[int]):
    numbers = count()
    left = without(text, lambda _sentence: next(numbers) in gone)
    kept = [sentence for number, sentence in enumerate(sentences(text)) if number not in gone]
    assert "".join(left.split()) == "".join("".join(kept).split())
    assert without(text, lambda _sentence: False) == text


@given(st.text(alphabet='aB .!?。！？\n;；"”’)', max_size=60))
def test_sentences_and_clauses_lose_nothing(text: str):
    for cut in (sentences, clauses):
        assert "".join("".join(cut(text)).split()) == "".join(text.split())


def test_clauses_are_cut_at_semicolons():
    assert list(clauses("fix it; then test；完成了。a;b")) == ["fix it;", "then test；", "完成了。", "a;b"]


def test_code_and_quotations_are_nobodys_own_words():
    text = "a\n```py\n~~~\nb\n```\n> c\n````\n```\nd\n````\ne"
    assert list(own_lines(text)) == ["a", "e"]
    assert [line for line, code in lines(text) if not code] == ["a", "> c", "e"]
    assert "\n".join(line for line, _ in lines(text)) == text


def test_a_fence_has_no_backtick_behind_it():
    """As in CommonMark: a line that begins with code in three backticks opens no block that swallows the rest."""
    assert list(own_lines("```x``` is code\nmine")) == ["```x``` is code", "mine"]


def test_code_is_marked_however_it_is_fenced():
    assert with_code_marked("do ```a``` and\n~~~\nb\n~~~\nend", "`") == "do ` and\n`\nend"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-04T10:00:00Z", datetime(2026, 3, 4, 10, tzinfo=UTC)),
        ("2026-03-04T10:00:00", datetime(2026, 3, 4, 10, tzinfo=UTC)),
        ("2026-03-04T10:00:00+02:00", datetime(2026, 3, 4, 8, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_moments(text: str, moment: datetime | None):
    assert moment_of(text) == moment


def test_days():
    assert day_of("2026-03-04T23:30:00-05:00") == "2026-03-04"
    assert day_of("?") == "1970-01-01"
    assert date_in_front("the 3rd of May, ok") == "the 3rd of May"
    assert date_in_front("3月4日交") == "3月4日"
    assert date_in_front("next week") == ""
    assert weekday_in_front("next Friday at 5") == "next Friday"
    assert names_a_day("we meet on Monday")
    assert names_a_day("下周开会")
    assert not names_a_day("we meet often")


def test_the_next_one_is_good_and_says_something_new():
    words = [{"a", "b", "c"}, {"a", "b", "c"}, {"d"}]
    assert varied([0.9, 0.8, 0.7], words, 0.5) == [0, 2, 1]
    assert varied([0.9, 0.8, 0.7], words, 1.0) == [0, 1, 2]
    assert varied([0.9, 0.8, 0.7], [{"a", "b", "c", "d"}, {"a"}, {"e"}], 0.5, alike=0.5) == [0, 1, 2]
    assert varied([], [], 0.5) == []


@given(st.floats(0.001, 0.999))
def test_log_odds_are_those_of_a_probability(probability: float):
    assert logistic(log_odds(probability)) == pytest.approx(probability)


def test_certainty_stays_within_its_range():
    assert 0 < logistic(-1000) < logistic(1000) < 1
    assert log_odds(1.0) == pytest.approx(-log_odds(0.0))


def test_japanese_talk_weighs_as_much_as_chinese():
    """Kana said only a third as much as Chinese characters, so that short talk in Japanese was no conversation."""
    assert is_transcript("ケン: はい！\nユイ: そうね。\nケン: うん、行く！\n")


@pytest.mark.parametrize(
    ("text", "alphabet"),
    [
        ("", ""),
        ("12:30 🙂", ""),
        ("Lisbon", "latin"),
        ("Ngày mai tôi đến Łódź", "latin"),
        ("我搬到 Lisbon 了", "cjk"),
        ("東京に引っ越した", "cjk"),
        ("이사했어", "cjk"),
        ("переехал в Лиссабон", "other"),
        ("ฉันย้ายแล้ว", "other"),
    ],
)
def test_the_alphabet_of_a_text_is_that_of_most_letters(text: str, alphabet: str) -> None:
    assert scripts.alphabet(text) == alphabet
