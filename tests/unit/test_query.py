import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.injection.fence import put_before, wrap
from app.core.recall import query as module
from app.core.recall.query import MAX_CHARS, MAX_EARLIER_CHARS, MAX_FOLLOWED, Query, cut_text
from app.text.scripts import weight
from tests.messages import typed


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def build_query(messages: list[dict[str, Any]], prompt: str | None = None, turns: int = 1) -> Query:
    return module.build_query(typed(messages), prompt, turns)


HISTORY = [
    user("first"),
    {"role": "assistant", "content": "one"},
    user("second"),
    {"role": "assistant", "content": "two"},
]


def test_the_latest_user_message_is_the_query():
    assert build_query([*HISTORY, user("third")]).text == "third"
    assert build_query([*HISTORY, user("third")], prompt="decorated third").text == "third"


def test_a_prompt_stands_for_the_message_that_is_not_there_yet():
    assert build_query(HISTORY, prompt="third").text == "third"
    assert build_query([], prompt="third").text == "third"
    assert build_query([user("[OpenClaw heartbeat poll]")], prompt="third").text == "third"


def test_without_a_prompt_the_last_thing_a_user_said_counts():
    assert build_query(HISTORY).text == "second"
    assert build_query(HISTORY, prompt="[OpenClaw heartbeat poll]").text == "second"
    assert build_query([]).text == "" and build_query([{"role": "assistant", "content": "x"}]).text == ""


def test_the_query_is_what_the_person_wrote():
    decorated = put_before(wrap(["## Long-term Memories\n- x"]), "[Sat 2026-11-21 20:33 UTC] where is\nmy key? ")
    assert build_query([user(decorated)]).text == "where is\nmy key?"
    parts = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "what is this?"}]}
    assert build_query([parts]).text == "what is this?"


def test_results_of_tools_are_no_question():
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "42"}]}
    assert build_query([user("add them"), result]).text == "add them"


def test_earlier_questions_follow_the_latest():
    assert build_query([*HISTORY, user("third")], turns=2).text == "third\nsecond"
    assert build_query([*HISTORY, user("third")], turns=9).text == "third\nsecond\nfirst"
    assert build_query(HISTORY, prompt="third", turns=2).text == "third\nsecond"
    assert build_query([user("again"), user("again")], turns=2).text == "again"
    assert build_query([*HISTORY, user("third")], turns=2).latest == "third"


def follows(text: str) -> bool:
    return text.startswith("and ")


def asked(*texts: str, turns: int = 1) -> Query:
    return module.build_query(typed([user(text) for text in texts]), None, turns, follows)


def test_a_follow_up_takes_the_question_that_it_follows_and_nothing_before_it():
    query = asked("where is Ada?", "who is Bob?", "and Eve?")
    assert (query.text, query.latest) == ("and Eve?\nwho is Bob?", "and Eve?")
    assert (query.turns, query.subject) == ((0, 1), "who is Bob?")


def test_follow_ups_are_followed_back_to_the_question_that_stands_alone():
    query = asked("old topic", "who is Bob?", "and Eve?", "thanks!", "and Mallory?")
    assert query.text == "and Mallory?\nand Eve?\nwho is Bob?"
    assert (query.turns, query.subject) == ((0, 2, 3), "who is Bob?")


def test_a_follow_up_looks_back_five_messages_at_most():
    query = asked("who is Bob?", *(f"and number {n}?" for n in range(MAX_FOLLOWED)))
    assert query.turns == tuple(range(MAX_FOLLOWED))
    assert "Bob" not in query.text


def test_a_question_of_its_own_keeps_its_own_words():
    query = asked("who is Bob?", "where do I live?")
    assert (query.text, query.turns, query.subject) == ("where do I live?", (0,), "")
    assert asked("thanks", "and Eve?").subject == "", "there is nothing that it could follow"


def test_the_setting_counts_for_follow_ups_too():
    assert asked("a", "b", "who is Bob?", "and Eve?", turns=3).text == "and Eve?\nwho is Bob?\nb"
    assert asked("a", "b", "where do I live?", turns=2).text == "where do I live?\nb"


def test_the_latest_message_takes_what_it_needs():
    query = build_query([user("early"), user("x" * (MAX_CHARS + 1))], turns=2)
    assert query.text == "x" * MAX_CHARS and query.cut
    query = build_query([user("e" * 5000), user("late")], turns=2)
    assert query.text == "late\n" + "e" * MAX_EARLIER_CHARS and query.cut
    assert not build_query([user("x" * MAX_CHARS)]).cut


@pytest.mark.parametrize("cluster", ["e\u0301", "👨\u200d👩\u200d👧", "👍🏽", "🇩🇪", "❤\ufe0f", "नि"])
def test_a_cut_does_not_split_what_a_reader_sees_as_one(cluster: str):
    text = cluster * 40
    for limit in range(1, 120):
        assert len(cut_text(text, limit)) % len(cluster) == 0


@settings(deadline=None)
@given(st.text(max_size=80), st.integers(-3, 90))
def test_a_cut_is_a_beginning_within_the_limit(text: str, limit: int):
    cut = cut_text(text, limit)
    assert text.startswith(cut) and len(cut) <= max(limit, 0)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=3000)), max_size=8),
    st.integers(1, 6),
)
def test_any_history_gives_a_query_within_the_limit(messages: list[tuple[str, str]], turns: int):
    query = build_query([{"role": role, "content": text} for role, text in messages], turns=turns)
    assert len(query.text) <= MAX_CHARS
    assert query.text.startswith(query.latest)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("fix it", 6),
        ("  fix it\n", 6),
        ("修复登录接口报错", 24),
        ("修 bug", 7),
        ("ありがとう", 15),
        ("고마워", 9),
        ("größe", 5),
    ],
)
def test_weight_counts_a_chinese_character_as_three(text: str, expected: int):
    assert weight(text) == expected
    assert unicodedata.is_normalized("NFC", text)
