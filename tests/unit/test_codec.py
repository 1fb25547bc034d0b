"""What the store writes as text comes back as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.store import codec
from app.store.codec import dump_messages, dump_strings, load_messages, load_strings

texts = st.text() | st.sampled_from(["]", ",", '"', "\\", "[{"])
parts = st.builds(TextPart, texts) | st.builds(
    ToolPart, texts, texts, st.dictionaries(texts, texts | st.lists(st.integers())), st.none() | texts, st.booleans()
)
messages = st.lists(
    st.builds(
        CapturedMessage,
        st.sampled_from(["user", "assistant"]),
        st.lists(parts, max_size=3).map(tuple),
        st.just("2026-01-01T00:00:00.000Z"),
        texts,
        st.none() | texts,
    ),
    max_size=5,
).map(tuple)


@given(messages)
def test_messages_come_back(told: tuple[CapturedMessage, ...]) -> None:
    assert load_messages(dump_messages(told)) == told


def test_no_payload_is_no_messages() -> None:
    assert load_messages(None) == load_messages("") == ()


def test_no_call_decodes_more_than_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """One call of the decoder can not be interrupted, and a turn may have tens of megabytes."""
    message = CapturedMessage("user", (TextPart("x"),), "2026-01-01T00:00:00.000Z")
    text = dump_messages([message] * 50)

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("all at once")

    monkeypatch.setattr(codec.json, "loads", refused)
    assert len(load_messages(text)) == 50


@given(st.lists(texts | st.lists(st.sampled_from(['"', ",", "\\"]), max_size=6).map("".join)), st.integers(1, 20))
def test_strings_come_back_however_they_are_parsed_in_pieces(told: list[str], piece: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(codec, "PIECE_CHARS", piece)
        assert load_strings(dump_strings(told)) == tuple(told)


def test_no_call_decodes_more_than_a_piece_of_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [f"@{number:024x}" for number in range(10_000)]
    parsed: list[int] = []
    loads = codec.json.loads
    monkeypatch.setattr(codec.json, "loads", lambda text: parsed.append(len(text)) or loads(text))
    monkeypatch.setattr(codec, "PIECE_CHARS", 1_000)
    assert load_strings(dump_strings(told)) == tuple(told)
    assert max(parsed) < 1_100
