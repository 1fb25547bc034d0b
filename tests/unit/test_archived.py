"""Searching and reading archived messages."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.history.archived import EXCERPT_CHARS, Archived, find, page, written


def message(text: str, *tools: ToolPart) -> CapturedMessage:
    return CapturedMessage("user", (TextPart(text), *tools), "2026-03-04T10:00:00+00:00")


def archive(*texts: str) -> list[Archived]:
    return [Archived("archive_001", number, message(text)) for number, text in enumerate(texts)]


def numbers(messages: list[Archived], query: str) -> list[int]:
    return [found.message.number for found in find(messages, query, 8)]


def test_the_rarer_word_counts_for_more() -> None:
    talk = archive(*["the plan for the release"] * 9, "the plan has a walrus in it")
    assert numbers(talk, "plan walrus")[0] == 9


def test_word_for_word_comes_first_and_the_newer_of_two_alike() -> None:
    assert numbers(archive("ship then make", "make ship", "nothing"), "make ship")[0] == 1
    assert numbers(archive("walrus", "walrus"), "walrus") == [1, 0]


def test_words_meet_whatever_their_ending_and_writing() -> None:
    assert numbers(archive("two batteries", "other"), "battery") == [0]
    assert numbers(archive("ＭＡＫＥ ship", "other"), "make") == [0]
    assert numbers(archive("服务器在杭州机房", "别的"), "杭州") == [0]
    assert numbers(archive("a += 1", "b -= 1"), "+=") == [0]
    assert numbers(archive("to be or not to be"), "to be") == [0]
    assert numbers(archive("anything"), "   ") == []


def test_tool_calls_are_found_by_input_and_output() -> None:
    call = ToolPart("c1", "run", {"cmd": "make ship"}, "built 17 files", is_error=False)
    talk = [Archived("archive_001", 0, message("look", call))]
    assert numbers(talk, "17 files") == [0]
    assert numbers(talk, "make ship") == [0]
    assert written(message("look", call)) == 'look\nrun({"cmd": "make ship"}): built 17 files'
    assert written(message("x", ToolPart("c", "run", {}, "boom", is_error=True))).endswith("failed: boom")
    assert written(message("x", ToolPart("c", "run", "raw", None))).endswith("run(raw): no result")


def test_an_excerpt_shows_where_the_words_stand() -> None:
    text = "start " + "filler " * 500 + "walrus bucket " + "filler " * 500
    [found] = find(archive(text), "bucket of the walrus", 8)
    assert "walrus bucket" in found.excerpt
    assert len(found.excerpt) <= EXCERPT_CHARS + 8


@given(st.lists(st.text(max_size=300), max_size=6), st.text(max_size=80))
def test_any_text_can_be_searched_for_any_query(texts: list[str], query: str) -> None:
    for found in find(archive(*texts), query, 3):
        assert found.score > 0
        assert "\n" not in found.excerpt


@given(
    st.lists(st.text(max_size=2_000), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(1_000, 4_000),
)
def test_pages_show_every_message_once_within_their_bounds(texts: list[str], limit: int, room: int) -> None:
    messages = [message(text) for text in texts]
    offset: int | None = 0
    heads: list[str] = []
    while offset is not None:
        shown = page(messages, offset, limit, room)
        assert 1 <= shown.shown <= limit
        lines = shown.text.split("\n")
        assert len(shown.text) <= room + 1_000
        heads += [line for line in lines if line.startswith("[")]
        assert all(line.startswith(("[", "  ")) or not line for line in lines)
        offset = shown.following
    assert heads == [f"[{number}] user, 2026-03-04T10:00:00+00:00" for number in range(len(texts))]
