"""Notes on what is archived are made once; a digest from kept notes is the digest."""

import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.core.history import note_cache as module
from app.core.history.digest import digest
from app.core.history.note_cache import NoteCache
from app.core.history.notes import notes_on

ARCHIVE = [
    message
    for number in range(50)
    for message in (
        CapturedMessage(
            "user", (TextPart(f"Please mend test {number} in src/test_{number}.py."),), "t", f"t{number}.0"
        ),
        CapturedMessage(
            "assistant",
            (
                TextPart(f"We decided to use retry {number}. The root cause was a timeout."),
                ToolPart("c", "exec", {"command": f"make {number}"}, f"Error {number}: no rule", number % 2 == 0),
            ),
            "t",
            f"t{number}.1",
        ),
    )
]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[CapturedMessage]:
    """Every message that a note is made on."""
    seen: list[CapturedMessage] = []
    monkeypatch.setattr(module, "notes_on", lambda message: (seen.append(message), notes_on(message))[1])
    return seen


@pytest.mark.parametrize("tokens", [50, 500, 50_000])
def test_a_digest_from_notes_is_the_digest(tokens: int) -> None:
    note_cache = NoteCache()
    for _ in range(2):
        assert digest(ARCHIVE, tokens, notes=note_cache.notes_on) == digest(ARCHIVE, tokens)


def test_an_archive_is_read_once(made: list[CapturedMessage]) -> None:
    note_cache = NoteCache()
    digest(ARCHIVE, 500, notes=note_cache.notes_on)
    assert len(made) == len(ARCHIVE)
    newer = CapturedMessage("user", (TextPart("And the next test?"),), "t", "t99.0")
    digest([*ARCHIVE, newer], 800, notes=note_cache.notes_on)
    assert made[len(ARCHIVE) :] == [newer]


def test_what_was_read_before_time_ran_out_is_not_read_again(made: list[CapturedMessage]) -> None:
    note_cache = NoteCache()

    def late(message: CapturedMessage) -> object:
        if message is ARCHIVE[60]:
            raise TimeoutError
        return note_cache.notes_on(message)

    with pytest.raises(TimeoutError):
        digest(ARCHIVE, 500, notes=late)  # type: ignore[arg-type]
    assert digest(ARCHIVE, 500, notes=note_cache.notes_on) == digest(ARCHIVE, 500)
    assert len(made) == len(ARCHIVE)


@pytest.mark.parametrize(
    "other",
    [
        CapturedMessage("assistant", (TextPart("We decided it."),), "t"),
        CapturedMessage("user", (TextPart("We decided it!"),), "t"),
        CapturedMessage("user", (TextPart("We decided"), TextPart(" it.")), "t"),
        CapturedMessage("user", (ToolPart("c", "exec", {"a": "x"}, None),), "t"),
        CapturedMessage("user", (ToolPart("c", "exec", {"a": "x"}, "None"),), "t"),
        CapturedMessage("user", (ToolPart("c", "exec", {"a": "x"}, "None", True),), "t"),
    ],
)
def test_no_two_messages_share_notes_that_could_differ(other: CapturedMessage) -> None:
    note_cache = NoteCache()
    for message in (CapturedMessage("user", (TextPart("We decided it."),), "t"), other):
        assert note_cache.notes_on(message) == notes_on(message)


def test_how_a_long_output_ends_counts() -> None:
    note_cache = NoteCache()
    for end in ("", "\n(Command exited with code 2)"):
        part = ToolPart("c", "exec", {"command": "make"}, "ok " * 2_000 + end)
        message = CapturedMessage("assistant", (part,), "t")
        assert note_cache.notes_on(message) == notes_on(message)


def test_notes_are_bounded() -> None:
    note_cache = NoteCache(max_chars=5_000)
    for message in ARCHIVE:
        note_cache.notes_on(message)
    assert 0 < note_cache.chars <= 5_000
    large = CapturedMessage("user", tuple(TextPart(f"We decided step {n}.") for n in range(1_000)), "t")
    assert note_cache.notes_on(large) == notes_on(large)
    assert note_cache.chars <= 5_000


def test_input_that_nests_without_end_is_read_all_the_same() -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    message = CapturedMessage("user", (TextPart("hello there"), ToolPart("c", "exec", {"a": deep}, None)), "t")
    assert NoteCache().notes_on(message) == notes_on(message)
