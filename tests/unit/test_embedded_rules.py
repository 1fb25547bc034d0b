"""What the rules remember from a statement, and what they leave alone."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capture.captured_message import CapturedMessage, TextPart, ToolPart
from app.embedded.extraction.experience_rules import experiences_in
from app.embedded.extraction.extract import memories_in
from app.embedded.index.chunks import MAX_CHARS, WHOLE_CHARS, pieces
from app.embedded.storage.record_lines import read_records, write_records
from app.embedded.storage.record_memories import memory_of
from app.embedded.storage.record_versions import HYSTERESIS, merge
from app.embedded.storage.records import Record, Source, holds_until


def said(text: str, role: str = "user") -> CapturedMessage:
    return CapturedMessage(
        "assistant" if role == "assistant" else "user", (TextPart(text),), "2026-03-04T09:00:00+00:00", "t_a.0"
    )


@pytest.mark.parametrize(
    ("text", "kind", "file"),
    [
        ("I prefer tabs over spaces.", "preference", "preferences/spaces-or-tabs.md"),
        ("I really love hiking in the Alps.", "preference", "preferences/hiking.md"),
        ("My favourite colour is teal.", "preference", "preferences/favorite-colour.md"),
        ("I always use zsh on servers.", "preference", "preferences/"),
        ("My name is Mara.", "profile", "profile.md"),
        ("I live in Turin now.", "profile", "profile.md"),
        ("I'm working at a small bakery.", "profile", "profile.md"),
        ("I'm a veterinary nurse.", "profile", "profile.md"),
        ("My sister's name is Ines.", "profile", "profile.md"),
        ("I'm allergic to walnuts.", "profile", "profile.md"),
        ("Kestrel is our deployment tool.", "fact", "entities/kestrel.md"),
        ("The Kestrel service runs on port 9000.", "fact", "entities/kestrel-service.md"),
        ("Tomas works on the parser.", "fact", "entities/tomas.md"),
        ("We decided to use SQLite for the cache.", "decision", "events/2026/03/04/"),
        ("I have a dentist appointment on March 12.", "event", "events/2026/03/04/"),
        ("Please remember that the spare key is under the fern.", "fact", "entities/notes.md"),
        ("我喜欢喝乌龙茶。", "preference", "preferences/"),
        ("我更喜欢深色主题。", "preference", "preferences/主题.md"),
        ("我讨厌香菜。", "preference", "preferences/"),
        ("我叫陈安。", "profile", "profile.md"),
        ("我住在成都。", "profile", "profile.md"),
        ("我在一家医院工作。", "profile", "profile.md"),
        ("我的生日是五月三日。", "profile", "profile.md"),
        ("我们决定改用消息队列。", "decision", "events/2026/03/04/"),
        ("明天我要去看牙医。", "event", "events/2026/03/04/"),
        ("请记住：备用钥匙在花盆下面。", "fact", "entities/notes.md"),
        ("订单系统部署在二号机房。", "fact", "entities/订单系统.md"),
    ],
)
def test_a_statement_is_remembered(text: str, kind: str, file: str) -> None:
    found = list(memories_in([said(text)]))
    assert [(memory.record.type, memory.file.startswith(file)) for memory in found] == [(kind, True)], found
    record = found[0].record
    assert record.value in text
    assert record.source == Source("chat_turn", "t_a.0", "2026-03-04T09:00:00+00:00")


@pytest.mark.parametrize(
    "text",
    [
        "What do I prefer, tabs or spaces?",
        "我喜欢什么？",
        "If I prefer tabs, the linter complains",
        "```\nMy name is Mara.\n```",
        "> I live in Turin now.",
        "Tim: I love basketball.",
        "I'm a bit tired.",
        "Thanks, that looks good.",
        "好的，谢谢。",
        "Run the tests again",
        "",
    ],
)
def test_what_is_no_statement_of_the_user_is_left_alone(text: str) -> None:
    assert list(memories_in([said(text)])) == []


def test_code_ends_only_at_a_fence_of_its_own_kind() -> None:
    """A ``~~~`` inside a block ended it, so that what the block quotes was taken for a statement."""
    assert list(memories_in([said("```\n~~~\nMy name is Mara.\n```\nok")])) == []


def test_what_the_assistant_says_is_no_memory() -> None:
    assert list(memories_in([said("I prefer tabs over spaces.", "assistant")])) == []


def test_sensitivity_follows_the_content() -> None:
    levels = [
        next(iter(memories_in([said(text)]))).record.sensitivity
        for text in ("I prefer tabs.", "My email is mara@example.org", "Remember that my salary is confidential.")
    ]
    assert levels == ["low", "medium", "high"]


@given(st.lists(st.text(max_size=200), max_size=5))
def test_any_text_goes_through_the_rules(texts: list[str]) -> None:
    messages = [said(text) for text in texts]
    for memory in memories_in(messages):
        assert ".." not in memory.file
        assert not memory.file.startswith("/")
        assert "/" not in memory.record.value or memory.record.value
    list(experiences_in(messages))


def record(value: str, *, confidence: float = 0.9, ref: str = "t_1.0", day: int = 1) -> Record:
    observed = f"2026-03-{day:02}T09:00:00+00:00"
    return Record("preference", "preference.theme", value, confidence, Source("chat_turn", ref, observed))


def test_a_later_statement_supersedes_and_keeps_history() -> None:
    (merged,) = merge([record("dark")], record("light", ref="t_2.0", day=2))
    assert (merged.value, merged.version) == ("light", 2)
    assert [(old["value"], old["outcome"]) for old in merged.history] == [("dark", "superseded")]


def test_a_much_weaker_statement_is_only_noted() -> None:
    weak = record("light", confidence=0.9 - HYSTERESIS - 0.01, ref="t_2.0", day=2)
    (merged,) = merge([record("dark")], weak)
    assert (merged.value, merged.version) == ("dark", 1)
    assert [(old["value"], old["outcome"]) for old in merged.history] == [("light", "not_adopted")]


def test_saying_it_again_confirms() -> None:
    (merged,) = merge([record("dark")], record("Dark.", ref="t_2.0", day=2))
    assert merged.value == "dark"
    assert merged.confidence > 0.9
    assert merged.last_confirmed_at == "2026-03-02T09:00:00+00:00"


def test_what_no_longer_holds_gives_way_to_a_weaker_statement() -> None:
    weak = record("light", confidence=0.5, ref="t_2.0", day=20)
    assert merge([replace(record("dark"), ttl=30)], weak)[0].value == "dark"
    assert merge([replace(record("dark"), ttl=7)], weak)[0].value == "light"


@pytest.mark.parametrize(
    ("ttl", "confirmed", "until"),
    [
        (None, "2026-03-05T09:00:00+00:00", ""),
        (7, "2026-03-05T09:00:00+02:00", "2026-03-12T07:00:00+00:00"),
        (0.5, "2026-03-05T09:00:00", "2026-03-05T21:00:00+00:00"),
        (7, "", "2026-03-08T09:00:00+00:00"),
        (7, "some day", ""),
        ("7", "2026-03-05T09:00:00+00:00", ""),
        (10**12, "2026-03-05T09:00:00+00:00", ""),
        (float("nan"), "2026-03-05T09:00:00+00:00", ""),
    ],
)
def test_a_record_holds_for_its_days_after_it_was_confirmed(ttl: Any, confirmed: str, until: str) -> None:
    end = datetime.fromisoformat(until) if until else None
    assert holds_until(replace(record("dark"), ttl=ttl, last_confirmed_at=confirmed)) == end


def test_extracting_the_same_message_twice_changes_nothing() -> None:
    once = merge([record("dark")], record("light", ref="t_2.0", day=2))
    assert merge(once, record("light", ref="t_2.0", day=2)) == once
    assert merge(once, record("dark")) == once


def test_an_older_statement_that_comes_late_does_not_win() -> None:
    (merged,) = merge([record("light", day=5)], record("dark", ref="t_0.0", day=1))
    assert merged.value == "light"


VALUES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=60).filter(
    lambda text: not text.startswith(("#", "-", "<"))
)


@given(st.lists(VALUES, min_size=1, max_size=5, unique=True))
def test_records_come_back_as_they_were_written(values: list[str]) -> None:
    records = [
        Record("fact", f"key.{number}", value, 0.8, Source("chat_turn", f"t.{number}", "2026-03-01T09:00:00+00:00"))
        for number, value in enumerate(values)
    ]
    body, read = read_records(write_records("Things", records))
    assert read == records
    assert read_records(write_records("Things", read, body))[1] == records


def test_a_change_of_before_that_says_nothing_is_no_source() -> None:
    """Earlier versions of the sidecar noted one for whoever pinned a memory; a forgetting has to see who said it."""
    said_in, pinned, retold = (
        Source("chat_turn", "t_a.0", "2026-03-01T09:00:00.000Z", "s1"),
        Source("api", "", "2026-03-02T09:00:00.000Z"),
        Source("api", "", "2026-03-03T09:00:00.000Z"),
    )
    old = {"value": "I prefer tea", "outcome": "updated", "until": pinned.observed_at}
    known = replace(record("I prefer tea"), source=pinned, also=(said_in,), history=(old,))
    assert [source.turn_id for source in memory_of(known, "viking://x", "preferences", None).sources] == ["t_a"]
    changed = replace(known, also=(said_in, pinned), source=retold, history=(old, {**old, "outcome": "changed"}))
    kinds = [source.kind for source in memory_of(changed, "viking://x", "preferences", None).sources]
    assert kinds == ["turn", "api"], "who changes the text says it"


def test_a_person_edits_a_record_and_adds_a_line() -> None:
    text = write_records("Theme", [record("I prefer the dark theme")])
    body, (edited,) = read_records(text.replace("- I prefer the dark theme", "- I prefer no theme at all"))
    assert (edited.value, edited.confidence, edited.source.kind) == ("I prefer no theme at all", 1.0, "edit")
    with_note = text.replace("# Theme\n", "# Theme\n\nAsk before changing this.\n")
    body, records = read_records(with_note)
    assert "Ask before changing this." in write_records("Theme", records, body)


@given(st.text(st.sampled_from("ab #\n`。中 "), max_size=6000))
def test_pieces_are_short_and_hold_everything_once(text: str) -> None:
    found = pieces(text)
    assert all(0 < len(piece) <= WHOLE_CHARS for piece in found)
    assert "".join("".join(piece.split()) for piece in found) == "".join(text.split())


def test_pieces_end_where_sentences_do_and_keep_a_heading_with_its_text() -> None:
    sentence = "The quick brown fox jumps over the lazy dog near the river bank today. "
    text = f"{sentence * 5}\n\n# Second\n\n{sentence * 4}\n\n# Third\n\n{sentence * 4}"
    found = pieces(text)
    assert all(len(piece) <= MAX_CHARS and piece.endswith("today.") for piece in found)
    assert [piece for piece in found if piece.startswith("# Second\n\nThe")] and not any(
        p.endswith("Third") for p in found
    )


def test_an_error_that_the_user_says_is_gone_becomes_an_experience() -> None:
    messages = [
        said("The build fails: Error: lockfile out of date"),
        said("The cause is a stale lockfile. Run `npm install` and commit it.", "assistant"),
        said("great, it works now"),
    ]
    (experience,) = experiences_in(messages)
    for heading in ("## Situation", "## Approach", "## Reflect"):
        assert heading in experience.text
    assert "stale lockfile" in experience.text


def ran(output: str, *, failed: bool = False, **given: str) -> CapturedMessage:
    return CapturedMessage(
        "assistant", (ToolPart("c", "exec", given, output, failed),), "2026-03-04T09:00:00+00:00", "t_a.1"
    )


def test_a_call_that_worked_when_it_was_tried_again_is_to_be_tried_again() -> None:
    refused = ran("Error: 503 Service Unavailable", failed=True, url="http://x/report")
    (experience,) = experiences_in([said("Download the report."), refused, ran("report", url="http://x/report")])
    assert "try it once more" in experience.text and "Avoid repeating" not in experience.text
    (changed,) = experiences_in([said("Download the report."), refused, ran("report", url="http://x/report?v=2")])
    assert "Avoid repeating `exec(url=http://x/report)` as it was." in changed.text


@pytest.mark.parametrize(
    ("task", "done", "review", "approval"),
    [
        (
            "Write the release notes for version 2.",
            "Here they are: ...",
            "This is wrong: breaking changes belong first.",
            "Looks good now.",
        ),
        (
            "Implement the CSV parser.",
            "I wrote parser.py with eval.",
            "Review: don't use eval, use the csv module instead.",
            "Perfect, thanks.",
        ),
        ("写一份发布说明。", "写好了:……", "不对，破坏性变更应该放在最前面。", "很好，谢谢。"),
    ],
)
def test_a_review_and_the_work_that_it_approved_become_an_experience(
    task: str, done: str, review: str, approval: str
) -> None:
    answered = [said(task), said(done, "assistant"), said(review), said("I changed it.", "assistant")]
    (experience,) = experiences_in([*answered, said(approval)])
    assert review in experience.text and "I changed it." in experience.text and task.rstrip("。.") in experience.text
    assert list(experiences_in([*answered, said("And what is the time?")])) == [], "nobody approved it"
    assert list(experiences_in([said(review), *answered[3:], said(approval)])) == [], "nothing was done before"


def test_an_error_without_a_fix_is_no_experience() -> None:
    failed = ToolPart("1", "bash", {"cmd": "make"}, "Error: no rule", is_error=True)
    message = CapturedMessage("assistant", (failed,), "2026-03-04T09:00:00+00:00", "t_a.1")
    assert list(experiences_in([said("build it"), message])) == []
